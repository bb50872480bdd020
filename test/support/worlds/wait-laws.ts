import type { JobStarted } from 'postreel';
import { expect } from 'vitest';
import type { Law, MessagingScene } from './law.js';

/** A wait ends when the job has ended, whatever the service calls that. */
export const waitLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'an import is awaited to its end',
    async holds(scene) {
      const { fake, messaging } = scene;
      const started = await messaging.contacts.import({
        data: 'email\nann@example.com\nbob@example.com\n',
      });
      const jobId = jobIdOf(started);
      if (jobId === undefined) {
        return; // there is nothing to wait for
      }
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
    name: 'a bulk job is awaited to its end, and changes who it names',
    async holds(scene) {
      const { fake, messaging, world } = scene;
      const { id } = await messaging.contacts.create({ email: 'ann@example.com' });
      await messaging.contacts.create({ email: 'bob@example.com' });
      const body = world.requestNames === 'usual' ? { contactIds: [id] } : { ids: [id] };
      const jobId = jobIdOf(await messaging.contacts.bulkUnsubscribe(body)); // its own name
      if (jobId === undefined) {
        return;
      }
      await passing(scene, (signal) =>
        messaging.contacts.waitForBulkJob(jobId, { interval: 20, signal }),
      );
      const states = [...fake.project.contacts.values()].map(({ subscribed }) => subscribed);
      expect(states).toEqual([false, true]);
    },
  },
];

/** The document gives the name of a job for one of the calls; another name is the caller's to read. */
const jobIdOf = ({ jobId, id }: Partial<JobStarted>): string | undefined =>
  jobId ?? (id as string | undefined);

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
