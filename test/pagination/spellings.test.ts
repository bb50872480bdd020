import { expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { listService, type ListSpelling } from '../support/transport/list-service.js';
import fc, { runs } from '../support/property.js';

const spelling: fc.Arbitrary<ListSpelling> = fc.record({
  style: fc.constantFrom('cursor', 'page', 'array', 'cursor-and-totals'),
  itemsUnder: fc.constantFrom('data', 'own-name', 'only-array'),
  lastPage: fc.constantFrom('hasMore-false', 'cursor-null', 'cursor-absent', 'cursor-empty'),
  total: fc.constantFrom('first-page', 'always', 'never'),
  enveloped: fc.boolean(),
});

function list(count: number, how: ListSpelling, query = {}) {
  const service = listService(count, how);
  const messaging = messagingOver(service.fetch, { validation: { responses: 'off' } });
  return { ...service, contacts: messaging.contacts.list(query) };
}

it('yields each of 10 000 items exactly once in every spelling of a list', async () => {
  await fc.assert(
    fc.asyncProperty(spelling, async (how) => {
      const { contacts, items } = list(10_000, how);
      const seen: string[] = [];
      for await (const { id } of contacts) {
        seen.push(id);
      }
      expect(seen).toEqual(items.map(({ id }) => id));
    }),
    { numRuns: runs(10) },
  );
});

it('yields each item exactly once whatever the size of list and page', async () => {
  await fc.assert(
    fc.asyncProperty(
      spelling,
      fc.integer({ min: 0, max: 250 }),
      fc.integer({ min: 1, max: 100 }),
      async (how, count, limit) => {
        const { contacts, items } = list(count, how, { limit });
        expect((await contacts.toArray()).map(({ id }) => id)).toEqual(items.map(({ id }) => id));
      },
    ),
    { numRuns: runs(60) },
  );
});

it('goes on from any page to the end', async () => {
  await fc.assert(
    fc.asyncProperty(spelling, fc.integer({ min: 1, max: 90 }), async (how, count) => {
      const { contacts, items } = list(count, how, { limit: 7 });
      const page = await contacts;
      const seen: string[] = [];
      for await (const { id } of page) {
        seen.push(id);
      }
      expect(seen).toEqual(items.map(({ id }) => id));
    }),
  );
});

it('resumes between two pages without losing or repeating an item', async () => {
  await fc.assert(
    fc.asyncProperty(
      spelling,
      fc.integer({ min: 1, max: 60 }),
      fc.nat(60),
      async (how, count, stop) => {
        const { fetch, items } = listService(count, how);
        const { contacts } = messagingOver(fetch, { validation: { responses: 'off' } });
        const iterator = contacts.list({ limit: 7 })[Symbol.asyncIterator]();
        const seen: string[] = [];
        for (let index = 0; index < stop; index++) {
          const next = await iterator.next();
          if (next.done) {
            break;
          }
          seen.push(next.value.id);
        }
        const { cursor } = iterator;
        if (cursor === undefined && seen.length === count) {
          return;
        }
        const rest = await contacts.list({ cursor, limit: 7 }).toArray();
        const start = count - rest.length;
        // Nothing is lost, and what comes again belongs to the page that was begun.
        expect(start).toBeLessThanOrEqual(seen.length);
        if (how.style !== 'array') {
          expect(seen.length - start).toBeLessThan(7);
        }
        expect([...seen.slice(0, start), ...rest.map(({ id }) => id)]).toEqual(
          items.map(({ id }) => id),
        );
      },
    ),
  );
});

it('keeps the total of the first page and never reports a false 0', async () => {
  await fc.assert(
    fc.asyncProperty(spelling, fc.integer({ min: 0, max: 60 }), async (how, count) => {
      const { contacts } = list(count, how, { limit: 7 });
      for await (const page of contacts.pages()) {
        expect([undefined, count]).toContain(page.total);
        if (count === 0) {
          continue;
        }
        if (how.style !== 'array' && how.total !== 'never') {
          expect(page.total).toBe(count);
        }
      }
    }),
  );
});
