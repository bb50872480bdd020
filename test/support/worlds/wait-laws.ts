import type { JobStarted } from 'postreel';
import { expect } from 'vitest';
import type { Law, MessagingScene } from './law.js';

/** A wait ends when the job has ended, whatever the service calls that. */
export const waitLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'an import is awaited to its end',
    async holds({ fake, messaging }) {
      const { jobId } = await messaging.contacts.import({
        data: 'email\nann@example.com\nbob@example.com\n',
      });
      await messaging.contacts.waitForImport(jobId);
      expect([...fake.project.contacts.values()].map(({ email }) => email)).toEqual([
        'ann@example.com',
        'bob@example.com',
      ]);
    },
  },
  {
    name: 'an import that fails rejects',
    async holds({ messaging }) {
      // Nothing of ours uploads a file without a column of addresses.
      const body = new FormData();
      body.append('file', new Blob(['name\nAnn\n'], { type: 'text/csv' }), 'names.csv');
      const { jobId } = await messaging.request<JobStarted>('POST', '/contacts/import', { body });
      const wait = messaging.contacts.waitForImport(jobId);
      await expect(wait).rejects.toMatchObject({ name: 'JobFailedError' });
    },
  },
  {
    name: 'a bulk job is awaited to its end, and changes who it names',
    async holds({ fake, messaging }) {
      const { id } = await messaging.contacts.create({ email: 'ann@example.com' });
      await messaging.contacts.create({ email: 'bob@example.com' });
      const { jobId } = await messaging.contacts.bulkUnsubscribe({ contactIds: [id] });
      await messaging.contacts.waitForBulkJob(jobId);
      const states = [...fake.project.contacts.values()].map(({ subscribed }) => subscribed);
      expect(states).toEqual([false, true]);
    },
  },
];
