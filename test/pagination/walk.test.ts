import { afterEach, describe, expect, it, vi } from 'vitest';
import { PagedList } from '../../src/core/list.js';
import type { PageQuery, RawPage } from '../../src/core/list.js';
import { routes } from '../../src/messaging/contacts/routes.js';

afterEach(() => void vi.restoreAllMocks());

/** A list over pages that a function makes from a cursor. */
function listOf(pageAt: (cursor: number) => RawPage, prefetch?: number) {
  const asked: number[] = [];
  const fetch = (query: PageQuery) => {
    const cursor = Number(query['cursor'] ?? 0);
    asked.push(cursor);
    return Promise.resolve(pageAt(cursor));
  };
  const list = new PagedList<unknown>(routes.list, {}, fetch, { prefetch });
  return { list, asked };
}

describe('a walk through a list', () => {
  it('ends at a page without items and without a cursor, whatever `hasMore` says', async () => {
    const { list, asked } = listOf(() => ({ items: [], hasMore: true }));
    expect(await list.toArray()).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('goes on after an empty page that has a cursor', async () => {
    const { list } = listOf((cursor) =>
      cursor < 3 ? { items: [], cursor: String(cursor + 1) } : { items: ['last'] },
    );
    expect(await list.toArray()).toEqual(['last']);
  });

  it('ends with an error when only empty pages come', async () => {
    const { list, asked } = listOf((cursor) => ({ items: [], cursor: String(cursor + 1) }));
    await expect(list.toArray()).rejects.toMatchObject({ code: 'PAGINATION_LOOP' });
    expect(asked.length).toBeLessThanOrEqual(110);
  });

  it.each([1, 7, 2_500])('notices a circle of %i pages', async (length) => {
    const { list, asked } = listOf((cursor) => ({
      items: [cursor],
      cursor: String((cursor + 1) % length),
    }));
    await expect(list.toArray()).rejects.toMatchObject({ code: 'PAGINATION_LOOP' });
    expect(asked.length).toBeLessThanOrEqual(3 * length + 2);
  });

  it('keeps about a thousand cursors of ten thousand pages, a million contacts', async () => {
    let size = 0;
    let largest = 0;
    const items = Array.from({ length: 100 }, (_, index) => index);
    const { list } = listOf((cursor) =>
      cursor < 9_999 ? { items, cursor: String(cursor + 1) } : { items },
    );
    const set = vi.spyOn(Map.prototype, 'set');
    const forget = vi.spyOn(Map.prototype, 'delete');
    let count = 0;
    for await (const page of list.pages()) {
      count += page.items.length;
      size += set.mock.calls.length - forget.mock.calls.length;
      largest = Math.max(largest, size);
      set.mockClear();
      forget.mockClear();
    }
    expect(count).toBe(1_000_000);
    expect(largest).toBeLessThan(1_100);
  });

  it('asks for one page ahead and no more', async () => {
    const { list, asked } = listOf((cursor) => ({ items: [cursor], cursor: String(cursor + 1) }));
    const ahead: number[] = [];
    for await (const item of list) {
      ahead.push(asked.length - 1 - (item as number));
      if (item === 20) {
        break;
      }
    }
    expect(new Set(ahead)).toEqual(new Set([1]));
  });
});
