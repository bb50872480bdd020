import { expect } from 'vitest';
import '../../../src/messaging/contacts/import.js'; // loads from the disk, which knows nothing of the fake's time
import type { Law, MessagingScene } from './law.js';

const content = { subject: 'Hi', body: '<p>Hi</p>', from: 'shop@example.com' };
const pro = { field: 'data.plan', operator: 'equals', value: 'pro' } as const;

/** Contacts of any number, campaigns from the draft to the end, and guards. */
export const manyLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'contacts of any number are imported, changed and deleted, and the result says so',
    async holds({ fake, messaging }) {
      const { contacts } = messaging;
      const rows = ['ann', 'bob', 'cid'].map((name) => ({ email: `${name}@example.com` }));
      const imported = await contacts.importAll(rows, { newContacts: 'subscribed' });
      expect(imported).toMatchObject({ done: 3, failed: [], unknown: [] });
      await fake.advance('1m');
      const stored = [...fake.project.contacts.values()];
      expect(stored.map(({ email }) => email)).toEqual(rows.map(({ email }) => email));
      const ids = stored.map(({ id }) => id);
      const changed = await contacts.unsubscribeAll(ids);
      expect(changed).toMatchObject({ done: 3, failed: [], unknown: [] });
      await fake.advance('1m');
      expect(stored.map(({ subscribed }) => subscribed)).toEqual([false, false, false]);
    },
  },
  {
    name: 'an import with a part that fails names exactly the rows that are not in',
    async holds({ fake, messaging }) {
      const note = 'x'.repeat(200_000);
      const rows = Array.from({ length: 7 }, (_, at) => ({ email: `p${at}@example.com`, note }));
      fake.fail('POST /contacts/import', { status: 400, after: 1 });
      const { failed, unknown, done } = await messaging.contacts.importAll(rows, {
        newContacts: 'subscribed',
      });
      const missing = failed.map(({ row }) => row.email);
      expect(done + unknown.length + missing.length).toBe(7);
      await fake.advance('1m');
      const stored = new Set([...fake.project.contacts.values()].map(({ email }) => email));
      expect(rows.map(({ email }) => email).filter((email) => !stored.has(email))).toEqual(missing);
    },
  },
  {
    name: 'addresses of any number are checked in order',
    async holds({ messaging }) {
      const emails = ['ann@example.com', 'bob@example.com', 'cid@example.com'];
      const checked: string[] = [];
      for await (const { email, error } of messaging.verifyAll(emails)) {
        expect(error).toBeUndefined();
        checked.push(email);
      }
      expect(checked).toEqual(emails);
    },
  },
  {
    name: 'a campaign is edited without a loss, previewed, scheduled, and awaited until it is sent',
    async holds({ fake, messaging }) {
      const { campaigns } = messaging;
      await messaging.contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });
      const body = { ...content, name: 'Spring', description: 'Of March', replyTo: 'me@b.c' };
      const { id } = await campaigns.create({
        ...body,
        audienceType: 'FILTERED',
        audienceFilter: pro,
      });
      await campaigns.replace(id, { ...(await campaigns.get(id)), subject: 'Hi {{plan}}' });
      const [stored] = fake.project.campaigns.values();
      expect(stored).toMatchObject({ description: 'Of March', subject: 'Hi {{plan}}' });
      expect((await campaigns.preview(id, { plan: 'pro' })).subject).toBe('Hi pro');
      await expect(campaigns.schedule(id, new Date(0))).rejects.toMatchObject({
        outcome: 'not-sent',
      });
      await campaigns.schedule(id, new Date(fake.clock.now() + 5_000));
      expect(fake.outbox).toEqual([]);
      await campaigns.waitUntilSent(id);
      expect(fake.outbox.map(({ to }) => to)).toEqual(['ann@example.com']);
    },
  },
];
