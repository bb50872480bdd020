import { describe, expect, it } from 'vitest';
import { cursorPage, numberedPage, route, type Route } from '../../src/contract/route.js';
import { LaterList } from '../../src/pagination/later-list.js';
import { PagedList } from '../../src/pagination/paginated.js';

const byCursor = route('GET /things', { returns: cursorPage<number>() });
const byNumber = route('GET /numbered', { returns: numberedPage<number>('limit') });
const pages = [
  { items: [1, 2], cursor: 'two', hasMore: true },
  { items: [3], hasMore: false },
];

/** A list whose part arrives after some tries that fail. */
function later({
  row = byCursor,
  query = {},
  failures = 0,
}: { row?: Route; query?: object; failures?: number } = {}) {
  const asked: object[] = [];
  const fetch = (pageQuery: object) => {
    asked.push(pageQuery);
    return Promise.resolve(pages['cursor' in pageQuery ? 1 : 0]);
  };
  let tries = 0;
  const open = async () => {
    await Promise.resolve();
    if (++tries <= failures) {
      throw new Error('gone');
    }
    return { list: new PagedList<number>(row, query, fetch) };
  };
  return { list: new LaterList<number>(row, query, open), asked };
}

describe('a list whose part is not loaded yet', () => {
  it('asks for nothing before it is read', async () => {
    const { asked } = later();
    await Promise.resolve();
    expect(asked).toEqual([]);
  });

  it('is one page when awaited, the same one each time', async () => {
    const { list, asked } = later();
    const [one, other] = await Promise.all([list, list]);
    expect(one.items).toEqual([1, 2]);
    expect(other).toBe(one);
    expect(asked).toHaveLength(1);
  });

  it('reads in every way that a loaded one does', async () => {
    const { list } = later();
    const items: number[] = [];
    for await (const item of list) {
      items.push(item);
    }
    const sizes: number[] = [];
    for await (const page of list.pages()) {
      sizes.push(page.items.length);
    }
    expect(items).toEqual([1, 2, 3]);
    expect(sizes).toEqual([2, 1]);
    await expect(list.toArray({ max: 2 })).resolves.toEqual([1, 2]);
    await expect(list.first()).resolves.toBe(1);
  });

  it('answers overlapping calls in order', async () => {
    const items = later().list[Symbol.asyncIterator]();
    const early = [items.next(), items.next()];
    await Promise.resolve();
    const results = await Promise.all([...early, items.next(), items.next()]);
    expect(results.map(({ value }) => value as number | undefined)).toEqual([1, 2, 3, undefined]);
  });

  it.each([
    [byCursor, { cursor: 'here' }],
    [byCursor, {}],
    [byNumber, { page: 3 }],
    [byNumber, { cursor: 'page:4/20' }],
  ] as const)('says where it starts as a loaded one does: %o %o', (row, query) => {
    const loaded = new PagedList<number>(row, query, () => Promise.resolve(pages[1]));
    const { list } = later({ row, query });
    expect(list[Symbol.asyncIterator]().cursor).toBe(loaded[Symbol.asyncIterator]().cursor);
  });

  it('ends when it is left before its part has come', async () => {
    const { list, asked } = later();
    const items = list[Symbol.asyncIterator]();
    const next = items.next();
    await expect(items.return?.()).resolves.toEqual({ done: true, value: undefined });
    await expect(next).resolves.toEqual({ done: true, value: undefined });
    expect(asked).toEqual([]);
  });

  it('tries again after a part that did not come', async () => {
    const { list } = later({ failures: 2 });
    await expect(Promise.resolve(list)).rejects.toThrow('gone');
    const items = list[Symbol.asyncIterator]();
    await expect(items.next()).rejects.toThrow('gone');
    await expect(items.next()).resolves.toEqual({ done: false, value: 1 });
  });
});
