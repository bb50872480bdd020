import type { ListOptions, MessagingClient, RequestOptions } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { listService, type ListSpelling } from '../support/list-service.js';
import fc, { runs } from '../support/property.js';
import { turns } from '../support/settled.js';

afterEach(() => void vi.unstubAllGlobals());

const validation = { requests: 'off', responses: 'off' } as const;
const documented: ListSpelling = {
  style: 'cursor',
  itemsUnder: 'data',
  lastPage: 'hasMore-false',
  total: 'first-page',
  enveloped: false,
};
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);

function contactsOf(count: number, spelling = documented) {
  const service = listService(count, spelling);
  const { contacts } = messagingOver(service.fetch, { validation });
  return { ...service, contacts };
}

/** Contacts whose pages a function makes from a cursor, and the cursors that were asked for. */
function pagesBy(pageAt: (cursor: number) => unknown, options?: ListOptions) {
  const asked: number[] = [];
  const { fetch } = answering(({ url }) => {
    const cursor = Number(new URL(url).searchParams.get('cursor') ?? 0);
    asked.push(cursor);
    return pageAt(cursor);
  });
  const client = messagingOver(fetch, { validation, retries: 0 });
  return { client, asked, list: (query = {}) => client.contacts.list(query, options) };
}

/** Ten pages of two. */
const tenPages = (options?: ListOptions) =>
  pagesBy(
    (page) => ({
      data: [{ id: `${2 * page}` }, { id: `${2 * page + 1}` }],
      ...(page < 9 ? { cursor: String(page + 1), hasMore: true } : { hasMore: false }),
    }),
    options,
  );
const twenty = Array.from({ length: 20 }, (_, index) => `${index}`);

describe('a list', () => {
  it('sends nothing before the first await or step, and one request for any number of awaits', async () => {
    const { contacts, requests } = contactsOf(5);
    const list = contacts.list();
    await turns();
    expect(requests).toEqual([]);
    expect(await list).toBe(await list);
    expect(requests).toHaveLength(1);
  });

  it("is one page of the service's default size when awaited", async () => {
    const { contacts, requests } = contactsOf(50);
    const page = await contacts.list();
    expect(page.items).toHaveLength(20);
    expect(page).toMatchObject({ total: 50, hasMore: true, cursor: '20' });
    expect(requests[0]?.searchParams.has('limit')).toBe(false);
  });

  it('is every item in pages of 100 when iterated, unless a limit is given', async () => {
    const { contacts, requests, items } = contactsOf(10);
    const list = contacts.list();
    expect(await list.toArray()).toEqual(items);
    expect(await list.toArray()).toEqual(items); // each iteration starts anew
    expect(await contacts.list({ limit: 5 }).toArray()).toEqual(items);
    const limits = requests.map((url) => url.searchParams.get('limit'));
    expect(limits).toEqual(['100', '100', '5', '5']);
  });

  it('continues from a page that an async function returned', async () => {
    const { contacts, items } = contactsOf(30);
    const page = await (async () => contacts.list())();
    const ids: string[] = [];
    for await (const { id } of page) {
      ids.push(id);
    }
    expect(ids).toEqual(idsOf(items));
    const second = await page.nextPage();
    expect([second?.items.length, second?.hasMore, second?.cursor]).toEqual([10, false, undefined]);
    expect(await second?.nextPage()).toBeUndefined();
  });

  it('comes page by page with pages()', async () => {
    const { contacts, requests } = contactsOf(250);
    const sizes: number[] = [];
    for await (const { items, total } of contacts.list().pages()) {
      sizes.push(items.length);
      expect(total).toBe(250);
    }
    expect([sizes, requests.length]).toEqual([[100, 100, 50], 3]);
  });

  it('stops at `max` without an error and without another request', async () => {
    const { contacts, requests } = contactsOf(500);
    expect(await contacts.list().toArray({ max: 150 })).toHaveLength(150);
    expect(requests).toHaveLength(2);
    expect(await contacts.list().toArray({ max: 0 })).toEqual([]);
    expect(requests).toHaveLength(2);
    await contacts.list().toArray({ max: 7 });
    expect(requests.at(-1)?.searchParams.get('limit')).toBe('7');
  });

  it('has a first item, or none', async () => {
    expect(await contactsOf(3).contacts.list().first()).toEqual({ id: 'item_0' });
    expect(await contactsOf(0).contacts.list().first()).toBeUndefined();
  });

  it('answers overlapping calls of next() in order, and sends nothing after its end', async () => {
    const { contacts, items, requests } = contactsOf(250);
    const iterator = contacts.list({ limit: 50 })[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 251 }, () => iterator.next()));
    const values = results.map((result) => (result.done ? undefined : result.value.id));
    expect(values).toEqual([...idsOf(items), undefined]);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(requests).toHaveLength(5);
  });

  it('needs no setImmediate, which browsers do not have', async () => {
    vi.resetModules();
    vi.stubGlobal('setImmediate', undefined);
    const { MessagingClient } = await import('postreel');
    const { fetch, items } = listService(250, documented);
    const options = {
      apiKey: 'sk_1',
      baseUrl: 'https://messaging.test',
      rateLimit: false,
    } as const;
    const { contacts } = new MessagingClient({ ...options, fetch, validation });
    expect(idsOf(await contacts.list().toArray())).toEqual(idsOf(items));
  });

  it('that a loop leaves early stays closed', async () => {
    const { contacts, requests } = contactsOf(1_000);
    for await (const { id } of contacts.list()) {
      if (id === 'item_10') {
        break;
      }
    }
    await turns();
    expect(requests.length).toBeLessThanOrEqual(2); // the one ahead had left
    const iterator = contacts.list()[Symbol.asyncIterator]();
    await iterator.return?.();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});

const spelling: fc.Arbitrary<ListSpelling> = fc.record({
  style: fc.constantFrom('cursor', 'page', 'array', 'cursor-and-totals'),
  itemsUnder: fc.constantFrom('data', 'own-name', 'only-array'),
  lastPage: fc.constantFrom('hasMore-false', 'cursor-null', 'cursor-absent', 'cursor-empty'),
  total: fc.constantFrom('first-page', 'always', 'never'),
  enveloped: fc.boolean(),
});

describe('in every form of a list', () => {
  it('each of 10 000 items comes exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(spelling, async (how) => {
        const { contacts, items } = contactsOf(10_000, how);
        expect(idsOf(await contacts.list().toArray())).toEqual(idsOf(items));
      }),
      { numRuns: runs(10) },
    );
  });

  it('each item comes exactly once, whatever the size of list and page', async () => {
    const sizes = [fc.integer({ min: 0, max: 250 }), fc.integer({ min: 1, max: 100 })] as const;
    await fc.assert(
      fc.asyncProperty(spelling, ...sizes, async (how, count, limit) => {
        const { contacts, items } = contactsOf(count, how);
        expect(idsOf(await contacts.list({ limit }).toArray())).toEqual(idsOf(items));
      }),
      { numRuns: runs(60) },
    );
  });

  it('a list is resumed by its cursor without losing or repeating an item', async () => {
    const numbers = [fc.integer({ min: 1, max: 60 }), fc.nat(60)] as const;
    await fc.assert(
      fc.asyncProperty(spelling, ...numbers, async (how, count, stop) => {
        const { contacts, items } = contactsOf(count, how);
        const iterator = contacts.list({ limit: 7 })[Symbol.asyncIterator]();
        const seen: string[] = [];
        for (let index = 0; index < stop; index++) {
          const next = await iterator.next();
          if (!next.done) {
            seen.push(next.value.id);
          }
        }
        const { cursor } = iterator;
        if (cursor === undefined && seen.length === count) {
          return;
        }
        const rest = idsOf(await contacts.list({ cursor, limit: 7 }).toArray());
        const start = count - rest.length;
        // Nothing is lost, and what comes again belongs to the page that was begun.
        expect(start).toBeLessThanOrEqual(seen.length);
        if (how.style !== 'array') {
          expect(seen.length - start).toBeLessThan(7);
        }
        expect([...seen.slice(0, start), ...rest]).toEqual(idsOf(items));
      }),
    );
  });

  it('the total is that of the first page, never the 0 of a later page', async () => {
    await fc.assert(
      fc.asyncProperty(spelling, fc.integer({ min: 0, max: 60 }), async (how, count) => {
        const isTold = count > 0 && how.style !== 'array' && how.total !== 'never';
        for await (const page of contactsOf(count, how).contacts.list({ limit: 7 }).pages()) {
          expect(isTold ? [count] : [undefined, count]).toContain(page.total);
        }
      }),
    );
  });
});

describe('a list in a response', () => {
  const read = (body: unknown, what: 'contacts' | 'templates' | 'segments' = 'contacts') => {
    const client = messagingOver(answering(() => Response.json(body)).fetch, { validation });
    return (client[what].list() as ReturnType<MessagingClient['contacts']['list']>).toArray();
  };

  it.each([
    [[{ id: 'a' }]],
    [{ data: [{ id: 'a' }] }],
    [{ success: true, data: [{ id: 'a' }] }],
    [{ success: true, data: { data: [{ id: 'a' }] } }],
    [{ templates: [{ id: 'a' }], tags: [] }],
    [{ items: [{ id: 'a' }] }],
    [{ data: [{ id: 'a' }], page: 1, total: 1 }],
  ])('may have the form %j', async (body) => {
    expect(await read(body, 'templates')).toEqual([{ id: 'a' }]);
  });

  it.each([[{ message: 'hello' }], [{ a: [], b: [] }], ['text'], [7], [false]])(
    'may not have the form %j',
    async (body) => {
      await expect(read(body)).rejects.toMatchObject({
        name: 'UnexpectedResponseError',
        outcome: 'rejected',
      });
    },
  );
});

describe('the end of a list', () => {
  it.each<[string, object]>([
    ['`hasMore: false`, whatever the cursor', { cursor: '1', hasMore: false }],
    ['no cursor', {}],
    ['a cursor that is null', { cursor: null }],
    ['a cursor that is empty', { cursor: '' }],
    ['the last of its pages', { page: 1, totalPages: 1 }],
    ['as many items as its total', { page: 1, pageSize: 2, total: 2 }],
  ])('is %s', async (_, place) => {
    const { list, asked } = pagesBy(() => ({ data: [{ id: 'a' }, { id: 'b' }], ...place }));
    expect(await list().toArray()).toHaveLength(2);
    expect(asked).toHaveLength(1);
  });

  it('is not an empty page with a cursor, except after many of them', async () => {
    const some = pagesBy((at) =>
      at < 3 ? { data: [], cursor: `${at + 1}` } : { data: [{ id: 'a' }] },
    );
    expect(await some.list().toArray()).toEqual([{ id: 'a' }]);
    const endless = pagesBy((at) => ({ data: [], cursor: `${at + 1}` }));
    await expect(endless.list().toArray()).rejects.toMatchObject({ code: 'PAGINATION_LOOP' });
    expect(endless.asked.length).toBeLessThanOrEqual(110);
  });

  it('is an empty page without a cursor, whatever `hasMore` says', async () => {
    const { list, asked } = pagesBy(() => ({ data: [], hasMore: true }));
    expect(await list().toArray()).toEqual([]);
    expect(asked).toHaveLength(1);
  });
});

describe('a list that repeats itself', () => {
  it.each([1, 7, 2_500])(
    'of %i pages ends in an error, with its items before that',
    async (length) => {
      const { list, asked } = pagesBy((at) => ({
        data: [{ id: `${at}` }],
        cursor: `${(at + 1) % length}`,
      }));
      const seen: string[] = [];
      const walk = async () => {
        for await (const { id } of list()) {
          seen.push(id);
        }
      };
      await expect(walk()).rejects.toMatchObject({
        name: 'UnexpectedResponseError',
        code: 'PAGINATION_LOOP',
        message:
          'GET /contacts sent the same cursor twice, so the list would never end. The items before that page are complete.',
      });
      expect(new Set(seen).size).toBe(length);
      expect(asked.length).toBeLessThanOrEqual(length + 2);
    },
  );

  it('of one page number ends in an error', async () => {
    const page = { templates: [{ id: 'a' }], total: 50, page: 1, pageSize: 1, totalPages: 50 };
    const { client } = pagesBy(() => page);
    await expect(client.templates.list().toArray()).rejects.toThrow('sent the same page twice');
  });

  it('is not a list with equal items under other cursors, or with a page that is requested again', async () => {
    const { list } = pagesBy((at) => ({
      data: [{ id: 'a' }],
      ...(at < 2 ? { cursor: `${at + 1}` } : {}),
    }));
    expect(await list().toArray()).toHaveLength(3);
    const first = await list();
    const [one, again] = [await first.nextPage(), await first.nextPage()];
    expect(again?.items).toEqual(one?.items);
  });
});

describe('a list that changes while it is read', () => {
  it('emits one warning if it has fewer items than its total', async () => {
    const fake = createFakeMessaging();
    fake.seed({ templates: 25 });
    const { secretKey: apiKey, baseUrl } = fake;
    const messaging = messagingOver(fake.fetch, { apiKey, baseUrl });
    const warnings: unknown[] = [];
    messaging.on('warning', (event) => warnings.push(event));
    let deleted = 0;
    for await (const { id } of messaging.templates.list({ limit: 10 })) {
      await messaging.templates.delete(id);
      deleted++;
    }
    expect(deleted).toBeLessThan(25);
    const message = expect.stringMatching(
      new RegExp(`ended after ${deleted} of 25 items.*collect them first: .await list.toArray`),
    ) as string;
    expect(warnings).toMatchObject([{ path: '/templates', message }]);
  });

  it('emits a warning if its ids are streamed into `deleteAll()`, not if they are collected first', async () => {
    for (const isStreamed of [true, false]) {
      const fake = createFakeMessaging();
      const messaging = messagingOver(fake.fetch, fake.options);
      fake.seed({ contacts: 2_400 });
      const condition = { field: 'email', operator: 'contains', value: '@' } as const;
      const segment = await messaging.segments.create({ type: 'DYNAMIC', name: 'All', condition });
      const warnings: string[] = [];
      messaging.on('warning', ({ message }) => warnings.push(message));
      const list = () => messaging.segments.members.list(segment.id);
      const all = isStreamed ? list() : await list().toArray();
      async function* ids() {
        for await (const { id } of all) {
          yield id;
        }
      }
      const { total = 0 } = await list();
      const { done } = await messaging.contacts.deleteAll(ids());
      expect(warnings).toEqual(
        isStreamed ? [expect.stringMatching(`ended after ${done} of ${total} items`)] : [],
      );
      expect(done < total).toBe(isStreamed);
    }
  });
});

it('a list whose pages are smaller than requested is read to its total', async () => {
  const ids = Array.from({ length: 25 }, (_, at) => ({ id: `${at}` }));
  const { fetch } = answering(({ url }) => {
    const page = Number(new URL(url).searchParams.get('page') ?? 1);
    return { templates: ids.slice(page * 10 - 10, page * 10), total: 25, page };
  });
  const { templates } = messagingOver(fetch, { validation });
  expect(await templates.list({ limit: 100 }).toArray()).toEqual(ids);
});

describe('`prefetch`', () => {
  it.each([
    [undefined, 1],
    [0, 0],
    [1, 1],
    [5, 5],
  ])('of %s requests %i pages ahead of each item', async (prefetch, ahead) => {
    const { list, asked } = tenPages({ prefetch });
    const seen: string[] = [];
    for await (const { id } of list()) {
      await turns();
      seen.push(id);
      expect(asked.length).toBe(Math.min(Math.floor(Number(id) / 2) + 1 + ahead, 10));
    }
    expect([seen, asked]).toEqual([twenty, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it.each([
    [undefined, 0],
    [3, 3],
  ])('of %s requests %i pages ahead of pages()', async (prefetch, ahead) => {
    const { list, asked } = tenPages({ prefetch });
    let pages = 0;
    for await (const { items } of list().pages()) {
      await turns();
      pages += items.length / 2;
      expect(asked.length).toBe(Math.min(pages + ahead, 10));
    }
    expect(pages).toBe(10);
  });

  it('requests no page beyond `max`, nor after the loop ended', async () => {
    const some = tenPages({ prefetch: 5 });
    expect(await some.list().toArray({ max: 5 })).toHaveLength(5);
    await turns();
    expect(some.asked).toEqual([0, 1, 2]);
    const left = tenPages({ prefetch: 5 });
    const iterator = left.list()[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.return?.();
    const { length } = left.asked;
    await turns();
    expect(left.asked.length).toBeLessThanOrEqual(length + 1); // the one under way
  });

  it('reports a failed page when the loop reaches it, and requests it again', async () => {
    const failing = [2];
    const { list, asked } = pagesBy(
      (page) => {
        if (failing[0] === page) {
          failing.shift();
          return new Response('', { status: 403 });
        }
        const data = [{ id: `${2 * page}` }, { id: `${2 * page + 1}` }];
        return { data, ...(page < 9 && { cursor: `${page + 1}` }) };
      },
      { prefetch: 3 },
    );
    const items = list()[Symbol.asyncIterator]();
    const seen: string[] = [];
    for (let index = 0; index < 4; index++) {
      seen.push(((await items.next()).value as { id: string }).id);
      await turns();
    }
    await expect(items.next()).rejects.toMatchObject({ name: 'PermissionError' });
    for (let next = await items.next(); !next.done; next = await items.next()) {
      seen.push(next.value.id);
    }
    expect(seen).toEqual(twenty);
    expect(asked.filter((page) => page === 2)).toHaveLength(2);
  });

  it.each([-1, 1.5, 101, Number.POSITIVE_INFINITY, NaN, '2'])(
    'of %s is refused before the network',
    async (prefetch) => {
      const { list, asked } = tenPages({ prefetch: prefetch as number });
      await expect(list().toArray()).rejects.toThrow('`prefetch` must be a whole number');
      await expect(Promise.resolve(list())).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      expect(asked).toEqual([]);
    },
  );

  it('is rejected for calls without pages', async () => {
    const { client, asked } = tenPages();
    const options = { prefetch: 2 } as RequestOptions;
    await expect(client.contacts.get('con_1', options)).rejects.toThrow('only lists have pages');
    expect(asked).toEqual([]);
  });
});
