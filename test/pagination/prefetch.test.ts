import { describe, expect, it } from 'vitest';
import type { RequestOptions } from 'postreel';
import { routes } from '../../src/messaging/contacts/routes.js';
import { PagedList } from '../../src/core/list.js';
import type { PageQuery } from '../../src/pagination/start.js';
import { answering, messagingOver } from '../support/clients.js';

/** Ten pages of two; the cursors that were asked for, in order. */
function tenPages(prefetch?: number, failing: number[] = []) {
  const asked: number[] = [];
  const list = new PagedList<number>(
    routes.list,
    {},
    (query) => {
      const page = Number(query['cursor'] ?? 0);
      asked.push(page);
      if (failing[0] === page) {
        failing.shift();
        return Promise.reject(new Error(`page ${page} is lost`));
      }
      const next = page < 9 ? { cursor: String(page + 1), hasMore: true } : { hasMore: false };
      return Promise.resolve({ items: [2 * page, 2 * page + 1], ...next });
    },
    { prefetch },
  );
  return { list, asked };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const all = Array.from({ length: 20 }, (_, index) => index);

describe('`prefetch` of a list', () => {
  it.each([
    [undefined, 1],
    [0, 0],
    [1, 1],
    [2, 2],
    [5, 5],
  ])('of %s requests %i pages ahead of each item', async (prefetch, ahead) => {
    const { list, asked } = tenPages(prefetch);
    const seen: number[] = [];
    for await (const item of list) {
      await settled();
      seen.push(item);
      const page = Math.floor(item / 2);
      expect(asked.length).toBe(Math.min(page + 1 + ahead, 10));
    }
    expect(seen).toEqual(all);
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it.each([
    [undefined, 0],
    [0, 0],
    [3, 3],
  ])('of %s requests %i pages ahead of pages()', async (prefetch, ahead) => {
    const { list, asked } = tenPages(prefetch);
    const seen: number[] = [];
    for await (const page of list.pages()) {
      await settled();
      expect(asked.length).toBe(Math.min(seen.length / 2 + 1 + ahead, 10));
      seen.push(...page.items);
    }
    expect(seen).toEqual(all);
  });

  it('also holds for the pages after one that was awaited', async () => {
    const { list, asked } = tenPages(3);
    for await (const item of await list) {
      await settled();
      expect(asked.length).toBe(4);
      expect(item).toBe(0);
      break;
    }
  });

  it('stops with the loop', async () => {
    let arrive: (page: object) => void = () => undefined;
    const second = new Promise<object>((resolve) => {
      arrive = resolve;
    });
    const asked: number[] = [];
    const fetch = (query: PageQuery) => {
      const page = Number(query['cursor'] ?? 0);
      asked.push(page);
      const answer = { items: [page], cursor: String(page + 1), hasMore: true };
      return page === 1 ? second : Promise.resolve(answer);
    };
    const items = new PagedList<number>(routes.list, {}, fetch, { prefetch: 5 })[
      Symbol.asyncIterator
    ]();
    await items.next();
    await items.return?.();
    arrive({ items: [1], cursor: '2', hasMore: true });
    await settled();
    expect(asked).toEqual([0, 1]);
  });

  it('requests no page beyond `max`', async () => {
    const { list, asked } = tenPages(5);
    expect(await list.toArray({ max: 5 })).toEqual([0, 1, 2, 3, 4]);
    await settled();
    expect(asked).toEqual([0, 1, 2]);
  });

  it('reports a page that failed when its turn comes, and asks for it again', async () => {
    const { list, asked } = tenPages(3, [2]);
    const items = list[Symbol.asyncIterator]();
    const seen: number[] = [];
    for (let index = 0; index < 4; index++) {
      seen.push((await items.next()).value as number);
      await settled();
    }
    await expect(items.next()).rejects.toThrow('page 2 is lost');
    for (let next = await items.next(); !next.done; next = await items.next()) {
      seen.push(next.value);
    }
    expect(seen).toEqual(all);
    expect(asked.filter((page) => page === 2)).toHaveLength(2);
  });
});

describe('`prefetch` of a call', () => {
  const { fetch, requests } = answering(() => ({ data: [], hasMore: false }));
  const client = messagingOver(fetch);

  it.each([-1, 1.5, 101, Number.POSITIVE_INFINITY, NaN, '2'])(
    'is refused before the network when it is %s',
    async (prefetch) => {
      const options = { prefetch: prefetch as number };
      const list = client.contacts.list({}, options);
      await expect(list.toArray()).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      await expect(Promise.resolve(list)).rejects.toThrow('`prefetch` must be a whole number');
      expect(requests).toHaveLength(0);
    },
  );

  it('is refused where there are no pages', async () => {
    const options = { prefetch: 2 } as RequestOptions;
    await expect(client.contacts.get('con_1', options)).rejects.toThrow('only lists have pages');
    expect(requests).toHaveLength(0);
  });
});
