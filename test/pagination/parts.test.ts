import { UnexpectedResponseError } from 'postreel';
import { describe, expect, it, vi } from 'vitest';
import { cursorPage, of, wholeList, route, type Route } from '../../src/core/route.js';
import { PagedList } from '../../src/core/list.js';
import type { PageQuery, RawPage } from '../../src/core/list.js';
import { listFacts } from '../../src/pagination/walk.js';

const contacts = route('GET /contacts', { returns: cursorPage<number>() });

/** A list over pages that are given, and the queries it asked for. */
function over(pages: readonly Partial<RawPage>[], query: object = {}, row: Route = contacts) {
  const queries: PageQuery[] = [];
  const list = new PagedList<number>(row, query, (asked) => {
    const page = pages[queries.length] ?? {};
    queries.push(asked);
    return Promise.resolve({ items: [], ...page });
  });
  return { list, queries };
}

describe('the total', () => {
  it.each<[string, Partial<RawPage>, object, number | undefined]>([
    ['is what the first page says', { items: [1], total: 9 }, {}, 9],
    ['is 0 for an empty list', { total: 0 }, {}, 0],
    ['is 0 for an empty first page by number', { total: 0 }, { page: 1 }, 0],
    ['is unknown where 0 is false: there are items', { items: [1], total: 0 }, {}, undefined],
    ['is unknown where 0 is false: more follow', { total: 0, cursor: 'b' }, {}, undefined],
    ['is unknown in the middle of a list', { total: 0 }, { cursor: 'a' }, undefined],
    ['is unknown on a later page', { total: 0 }, { page: 2 }, undefined],
    ['is unknown where nothing is said', { items: [1] }, {}, undefined],
  ])('%s', async (_, page, query, total) => {
    expect((await over([page], query).list).total).toBe(total);
  });

  it('is kept from the first page', async () => {
    const { list } = over([
      { items: [1], total: 2, cursor: 'b' },
      { items: [2], total: 0 },
    ]);
    const second = await (await list).nextPage();
    expect(second?.total).toBe(2);
    expect(second?.hasMore).toBe(false);
    expect(second?.cursor).toBeUndefined();
    await expect(second?.nextPage()).resolves.toBeUndefined();
  });
});

describe('pages', () => {
  it('come one by one, in the largest size unless told otherwise', async () => {
    const pages = [{ items: [1], cursor: 'b' }, { items: [2], cursor: 'c' }, { items: [3] }];
    const { list, queries } = over(pages);
    const seen: number[][] = [];
    for await (const { items } of list.pages()) {
      seen.push([...items]);
    }
    expect(seen).toEqual([[1], [2], [3]]);
    expect(queries).toEqual([
      { limit: 100 },
      { limit: 100, cursor: 'b' },
      { limit: 100, cursor: 'c' },
    ]);
  });

  it('have no size where the document knows none', async () => {
    const { list, queries } = over([{ items: [1] }], {}, route('GET /x', { returns: wholeList() }));
    await expect(list.toArray()).resolves.toEqual([1]);
    await expect(list.first()).resolves.toBeUndefined(); // asked anew
    expect(queries).toEqual([{}, {}]);
  });

  it('are asked for in the size that is needed', async () => {
    const { list, queries } = over([{ items: [1, 2, 3] }]);
    await expect(list.toArray({ max: 2 })).resolves.toEqual([1, 2]);
    await list.first();
    await expect(list.toArray({ max: 0 })).resolves.toEqual([]);
    expect(queries).toEqual([{ limit: 2 }, { limit: 1 }]);
  });

  it('beyond what is needed are not fetched ahead', async () => {
    const pages = [
      { items: [1, 2], cursor: 'b' },
      { items: [3, 4], cursor: 'c' },
    ];
    for (const [max, asked] of [
      [2, 1],
      [3, 2],
      [4, 2],
    ] as const) {
      const { list, queries } = over(pages);
      await list.toArray({ max });
      expect(queries).toHaveLength(asked);
    }
  });
});

describe('an iterator', () => {
  it('knows where to go on, between pages and within one', async () => {
    const pages = [{ items: [1, 2], cursor: 'b' }, { items: [3], cursor: 'c' }, { items: [4] }];
    const iterator = over(pages, { cursor: 'a' }).list[Symbol.asyncIterator]();
    const cursors = [iterator.cursor];
    while (!(await iterator.next()).done) {
      cursors.push(iterator.cursor);
    }
    // Within a page it is the page's own: its items would come again, none would be lost.
    expect(cursors).toEqual(['a', 'a', 'b', 'c', undefined]);
  });

  it('that is ended stays ended', async () => {
    const { list, queries } = over([{ items: [1, 2], cursor: 'b' }]);
    const iterator = list[Symbol.asyncIterator]();
    await iterator.next();
    await expect(iterator.return?.()).resolves.toEqual({ done: true, value: undefined });
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
    expect(queries).toHaveLength(2); // the one ahead had left
  });

  it('that has come to its end asks no more', async () => {
    const { list, queries } = over([{ items: [1] }]);
    const iterator = list[Symbol.asyncIterator]();
    const results = [await iterator.next(), await iterator.next(), await iterator.next()];
    expect(results).toEqual([
      { done: false, value: 1 },
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    expect(queries).toHaveLength(1);
  });

  it('answers calls that overlap in order, each item once', async () => {
    const pages = [{ items: [1, 2], cursor: 'b' }, { items: [], cursor: 'c' }, { items: [3] }];
    const { list } = over(pages);
    const iterator = list[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 5 }, () => iterator.next()));
    expect(results.map((one) => (one.done ? undefined : one.value))).toEqual([
      ...[1, 2, 3, undefined, undefined],
    ]);
    expect(results.map(({ done }) => done)).toEqual([false, false, false, true, true]);
  });

  it('goes on after a page that failed', async () => {
    const answers: (() => Promise<object>)[] = [
      () => Promise.reject(new Error('lost')),
      () => Promise.resolve({ items: [1] }),
    ];
    const list = new PagedList<number>(contacts, {}, () => (answers.shift() ?? fail)());
    const iterator = list[Symbol.asyncIterator]();
    await expect(iterator.next()).rejects.toThrow('lost');
    await expect(iterator.next()).resolves.toEqual({ done: false, value: 1 });
  });

  it('needs no setImmediate, as in a browser', async () => {
    vi.resetModules();
    vi.stubGlobal('setImmediate', undefined);
    try {
      const { PagedList: BrowserList } = await import('../../src/core/list.js');
      const pages = [{ items: [1], cursor: 'b' }, { items: [2] }];
      const list = new BrowserList<number>(contacts, {}, () => Promise.resolve(pages.shift()));
      await expect(list.toArray()).resolves.toEqual([1, 2]);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe('a circle', () => {
  const rejected = async (pages: readonly Partial<RawPage>[], what: string) => {
    const error: unknown = await over(pages)
      .list.toArray()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({
      code: 'PAGINATION_LOOP',
      method: 'GET',
      path: '/contacts',
      outcome: 'rejected',
      message: `GET /contacts sent the same ${what} twice, so the list would never end. Its items so far are complete up to there.`,
    });
  };
  const page = (items: number[], number?: number) => ({
    items,
    hasMore: true,
    ...(number !== undefined && { page: number }),
  });

  it('of cursors', async () => {
    await rejected([{ cursor: 'a' }, { cursor: 'b' }, { cursor: 'a' }, {}], 'cursor');
  });

  it('of equal pages', () => rejected([page([1, 2]), page([1, 2])], 'page'));
  it('of one page number', () => rejected([page([1], 1), page([2], 1)], 'page'));

  it.each<[string, Partial<RawPage>[], number[]]>([
    ['equal items behind cursors', [{ items: [1], cursor: 'b' }, { items: [1] }], [1, 1]],
    ['other items', [page([1]), page([2]), { items: [] }], [1, 2]],
    ['fewer items', [page([1, 1]), page([1]), { items: [] }], [1, 1, 1]],
    ['empty pages', [{ cursor: 'b' }, { cursor: 'c' }, { items: [3] }], [3]],
    ['another page number', [page([1], 1), { items: [2], page: 2 }], [1, 2]],
  ])('is not what %s make', async (_, pages, items) => {
    await expect(over(pages).list.toArray()).resolves.toEqual(items);
  });

  it('is not what asking for a page again makes', async () => {
    const { list } = over([{ items: [1], cursor: 'b' }, { items: [2] }, { items: [2] }]);
    const first = await list;
    const [one, again] = [await first.nextPage(), await first.nextPage()];
    expect(again?.items).toEqual(one?.items);
  });
});

function fail(): never {
  throw new Error('It asked too often.');
}

it('a row that answers no list is none', () => {
  const one = route('GET /config', { returns: of<object>() });
  expect(() => listFacts(one)).toThrow(new TypeError('/config is not a list'));
});
