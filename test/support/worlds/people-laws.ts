import { memoryJournal } from 'postreel';
import { expect } from 'vitest';
import { pullTypes } from '../../../src/cli/commands/pull-types.js';
import type { Law, MessagingScene } from './law.js';

const message = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };

/** Contacts of any number and by email, and an email to many. */
export const peopleLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'an email to many reaches each once, over two runs with a lost answer',
    async holds({ fake, messaging }) {
      const people = ['ann@example.com', 'bob@example.com', 'ANN@example.com', 'cid@example.com'];
      const mailing = messaging.with({ journal: memoryJournal() });
      const settings = { once: 'news', concurrency: 1 };
      fake.fail('POST /v1/send', { loseAnswer: true, after: 1 });
      const first = await mailing.sendEach(people, message, settings);
      expect(first).toMatchObject({
        sent: 2,
        earlier: 1,
        failed: [],
        unknown: [{ row: 'bob@example.com', index: 1 }],
      });
      const second = await mailing.sendEach(people, message, settings);
      expect(second).toMatchObject({ sent: 0, earlier: 3, unknown: [{ row: 'bob@example.com' }] });
      expect(fake.outbox.map(({ to }) => to.toLowerCase())).toEqual([
        'ann@example.com',
        'bob@example.com',
        'cid@example.com',
      ]);
    },
  },
  {
    name: 'people are found and unsubscribed by email, and nobody is created by that',
    async holds({ fake, messaging }) {
      const { contacts } = messaging;
      await contacts.create({ email: 'joann@example.com' });
      const { id } = await contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });
      expect((await contacts.findByEmail('Ann@example.com'))?.id).toBe(id);
      await contacts.unsubscribe('ann@example.com');
      await expect(contacts.subscribe('nobody@example.com')).rejects.toMatchObject({
        code: 'CONTACT_NOT_FOUND',
      });
      const stored = [...fake.project.contacts.values()];
      expect(stored.map(({ subscribed }) => subscribed)).toEqual([true, false]);
    },
  },
  {
    name: 'the types of a project name its fields and events',
    async holds({ messaging }) {
      const data = { plan: 'pro', seats: 5 };
      await messaging.track({ email: 'ann@example.com', event: 'signed_up', data });
      const text = await pullTypes(messaging);
      expect(text).toContain('seats: number;');
      expect(text).toContain('"signed_up"');
    },
  },
];
