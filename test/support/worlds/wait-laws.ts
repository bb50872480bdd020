import type { JobStarted } from 'postreel';
import { expect } from 'vitest';
import type { Law, MessagingScene } from './law.js';

/** A wait ends when the job has ended, whatever the service calls that. */
export const waitLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'an import is awaited to its end',
    async holds(scene) {
      const { fake, messaging } = scene;
      const { jobId } = await messaging.contacts.import({
        data: 'email\nann@example.com\nbob@example.com\n',
      });
      await passing(scene, (signal) =>
        messaging.contacts.waitForImport(jobId, { interval: 20, signal }),
      );
      expect([...fake.project.contacts.values()].map(({ email }) => email)).toEqual([
        'ann@example.com',
        'bob@example.com',
      ]);
    },
  },
  {
    name: 'an import that fails rejects',
    async holds(scene) {
      // Nothing of ours uploads a file without a column of addresses.
      const body = new FormData();
      body.append('file', new Blob(['name\nAnn\n'], { type: 'text/csv' }), 'names.csv');
      const { jobId } = await scene.messaging.request<JobStarted>('POST', '/contacts/import', {
        body,
      });
      const wait = passing(scene, (signal) =>
        scene.messaging.contacts.waitForImport(jobId, { interval: 20, signal }),
      );
      await expect(wait).rejects.toMatchObject({ name: 'JobFailedError' });
    },
  },
  {
    name: 'a bulk job is awaited to its end, and changes who it names',
    async holds(scene) {
      const { fake, messaging } = scene;
      const { id } = await messaging.contacts.create({ email: 'ann@example.com' });
      await messaging.contacts.create({ email: 'bob@example.com' });
      const { jobId } = await messaging.contacts.bulkUnsubscribe({ contactIds: [id] });
      await passing(scene, (signal) =>
        messaging.contacts.waitForBulkJob(jobId, { interval: 20, signal }),
      );
      const states = [...fake.project.contacts.values()].map(({ subscribed }) => subscribed);
      expect(states).toEqual([false, true]);
    },
  },
];

/** Lets the fake's time go by for as long as something is awaited; a wait without end is given up. */
export async function passing<T>(
  { fake }: MessagingScene,
  start: (signal: AbortSignal) => PromiseLike<T>,
): Promise<T> {
  const controller = new AbortController();
  const run = { isOver: false };
  const result = Promise.resolve(start(controller.signal)).finally(() => {
    run.isOver = true;
  });
  result.catch(() => undefined);
  for (let step = 0; step < 200 && !run.isOver; step++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await fake.advance('1s');
  }
  controller.abort(new Error('The wait has no end.'));
  return result;
}
