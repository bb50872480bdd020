import { expect } from 'vitest';
import type { Law, MessagingScene } from './law.js';

async function first<T>(items: AsyncIterable<T>): Promise<T> {
  for await (const item of items) {
    return item;
  }
  throw new Error('the list is empty');
}

const emailsOf = (items: readonly { email?: unknown }[]) => items.map(({ email }) => email);

/** Order, and nothing lost or repeated, whatever the shape of the list. */
export const listLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'every contact is listed once, in order, with small pages',
    async holds({ fake, messaging }) {
      fake.seed({ contacts: 25 });
      const expected = emailsOf([...fake.project.contacts.values()]);
      const items = await messaging.contacts.list({ limit: 10 }).toArray();
      expect(emailsOf(items)).toEqual(expected);
    },
  },
  {
    name: 'templates are listed once each',
    async holds({ fake, messaging }) {
      fake.seed({ templates: 25 });
      const items = await messaging.templates.list({ limit: 10 }).toArray();
      expect(new Set(items.map(({ id }) => id)).size).toBe(25);
    },
  },
  {
    name: 'pages lead from one to the next, and the last one says so',
    async holds({ fake, messaging }) {
      fake.seed({ contacts: 25 });
      const seen: unknown[] = [];
      let page = await messaging.contacts.list({ limit: 10 });
      for (;;) {
        seen.push(...emailsOf(page.items));
        expect(page.total === undefined || page.total === 25).toBe(true);
        const next = await page.nextPage();
        if (!next) {
          break;
        }
        page = next;
      }
      expect(page.hasMore).toBe(false);
      expect(seen).toEqual(emailsOf([...fake.project.contacts.values()]));
    },
  },
  {
    name: 'a list goes on where its cursor stands',
    async holds({ fake, messaging }) {
      fake.seed({ contacts: 25 });
      const first = await messaging.contacts.list({ limit: 10 });
      if (first.cursor === undefined) {
        expect(first.items).toHaveLength(25);
        return;
      }
      const rest = await messaging.contacts.list({ limit: 10, cursor: first.cursor }).toArray();
      expect(emailsOf([...first.items, ...rest])).toEqual(
        emailsOf([...fake.project.contacts.values()]),
      );
    },
  },
  {
    name: 'lists without a shape of their own are read whole',
    async holds({ fake, messaging }) {
      fake.seed({
        contacts: 3,
        templates: 25,
        campaigns: 25,
        segments: 3,
        events: 25,
        workflows: 2,
      });
      const { project } = fake;
      expect(await messaging.templates.list({ limit: 10 }).toArray()).toHaveLength(25);
      expect(await messaging.campaigns.list({ limit: 10 }).toArray()).toHaveLength(25);
      expect(await messaging.segments.list().toArray()).toHaveLength(project.segments.size);
      const workflows = await messaging.workflows.list({ limit: 1 }).toArray();
      expect(workflows).toHaveLength(project.workflows.size);
      const events = await messaging.events.list({ limit: 10 }).toArray();
      expect(new Set(events.map(({ id }) => id)).size).toBe(project.events.length);
      const domains = await messaging.domains.list(project.id).toArray();
      expect(domains).toHaveLength(project.domains.size);
    },
  },
  {
    name: 'answers with what the document shows pass the strict check',
    async holds({ fake, messaging }) {
      const seeded = fake.seed({ contacts: 2, templates: 1, campaigns: 1, segments: 1, events: 1 });
      const strict = messaging.with({ validation: { responses: 'throw' } });
      const idOf = async (list: AsyncIterable<{ id: string }>) => (await first(list)).id;
      const contact = await strict.contacts.get(await idOf(strict.contacts.list()));
      expect(contact.email).toBe(seeded.contacts[0]?.email);
      await strict.templates.get(await idOf(strict.templates.list()));
      await strict.campaigns.get(await idOf(strict.campaigns.list()));
      await strict.segments.get(await idOf(strict.segments.list()));
      await strict.events.list().toArray();
      await strict.activity.list().toArray();
      await strict.contacts.fields.list();
      const { id } = await strict.workflows.create({ name: 'Welcome' });
      await strict.workflows.steps.create(id, { type: 'EXIT' });
      await strict.workflows.get(id);
    },
  },
  {
    name: 'an empty list is empty',
    async holds({ messaging }) {
      expect(await messaging.contacts.list().toArray()).toEqual([]);
      expect(await messaging.templates.list().toArray()).toEqual([]);
      expect(await messaging.segments.list().toArray()).toEqual([]);
    },
  },
];
