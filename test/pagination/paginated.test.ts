import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { listService, type ListSpelling } from '../support/transport/list-service.js';

const documented: ListSpelling = {
  style: 'cursor',
  itemsUnder: 'data',
  lastPage: 'hasMore-false',
  total: 'first-page',
  enveloped: false,
};

function contactsOf(count: number, spelling = documented) {
  const service = listService(count, spelling);
  const { contacts } = messagingOver(service.fetch, { validation: { responses: 'off' } });
  return { ...service, contacts };
}

describe('a list', () => {
  it('sends nothing before the first await or step', async () => {
    const { contacts, requests } = contactsOf(5);
    const list = contacts.list();
    await Promise.resolve();
    expect(requests).toHaveLength(0);
    await list;
    expect(requests).toHaveLength(1);
  });

  it('leaves the page size to the service when awaited', async () => {
    const { contacts, requests } = contactsOf(50);
    const page = await contacts.list();
    expect(page.items).toHaveLength(20);
    expect(page).toMatchObject({ total: 50, hasMore: true, cursor: '20' });
    expect(requests[0]?.searchParams.has('limit')).toBe(false);
  });

  it('asks for pages of 100 when iterated, unless a limit is given', async () => {
    const { contacts, requests } = contactsOf(10);
    await contacts.list().toArray();
    await contacts.list({ limit: 3 }).toArray();
    expect(requests.map((url) => url.searchParams.get('limit'))).toEqual([
      '100',
      '3',
      '3',
      '3',
      '3',
    ]);
  });

  it('asks once however often it is awaited', async () => {
    const { contacts, requests } = contactsOf(5);
    const list = contacts.list();
    expect(await list).toBe(await list);
    expect(requests).toHaveLength(1);
  });

  it('starts anew with each iteration', async () => {
    const { contacts } = contactsOf(5);
    const list = contacts.list();
    expect(await list.toArray()).toHaveLength(5);
    expect(await list.toArray()).toHaveLength(5);
  });

  it('hands out its first page through an async function', async () => {
    const { contacts } = contactsOf(30);
    const page = await (async () => contacts.list())();
    expect(page.items).toHaveLength(20);
    const ids = [];
    for await (const { id } of page) {
      ids.push(id);
    }
    expect(ids).toHaveLength(30);
  });

  it('stops at max items without an error and without asking for more', async () => {
    const { contacts, requests } = contactsOf(500);
    expect(await contacts.list().toArray({ max: 150 })).toHaveLength(150);
    expect(requests).toHaveLength(2);
    expect(await contacts.list().toArray({ max: 0 })).toEqual([]);
    expect(requests).toHaveLength(2);
  });

  it('gives the first item, or nothing', async () => {
    expect(await contactsOf(3).contacts.list().first()).toEqual({ id: 'item_0' });
    expect(await contactsOf(0).contacts.list().first()).toBeUndefined();
  });

  it('keeps one page ahead and no more', async () => {
    const { contacts, requests } = contactsOf(500);
    const iterator = contacts.list()[Symbol.asyncIterator]();
    await iterator.next();
    expect(requests).toHaveLength(2);
    for (let index = 0; index < 99; index++) {
      await iterator.next();
    }
    expect(requests).toHaveLength(2);
    await iterator.next();
    expect(requests).toHaveLength(3);
  });

  it('stops asking when the consumer breaks off', async () => {
    const { contacts, requests } = contactsOf(1000);
    for await (const { id } of contacts.list()) {
      if (id === 'item_10') {
        break;
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  it('answers overlapping calls of next() in order', async () => {
    const { contacts } = contactsOf(250);
    const iterator = contacts.list({ limit: 50 })[Symbol.asyncIterator]();
    const results = await Promise.all(Array.from({ length: 251 }, () => iterator.next()));
    expect(
      results.slice(0, 250).map((result) => (result.done ? undefined : result.value.id)),
    ).toEqual(Array.from({ length: 250 }, (_, index) => `item_${index}`));
    expect(results[250]).toEqual({ done: true, value: undefined });
  });

  it('goes on after an empty page that has more', async () => {
    const pages = [
      { data: [{ id: 'a' }], cursor: '1', hasMore: true },
      { data: [], cursor: '2', hasMore: true },
      { data: [{ id: 'b' }], cursor: '', hasMore: false },
    ];
    const { fetch } = answering(
      ({ url }) => pages[Number(new URL(url).searchParams.get('cursor'))],
    );
    const items = await messagingOver(fetch, { validation: { responses: 'off' } })
      .contacts.list()
      .toArray();
    expect(items.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('reports a failure ahead only when its turn comes', async () => {
    const { fetch } = answering(({ url }) =>
      url.includes('cursor')
        ? new Response('', { status: 403 })
        : { data: [{ id: 'a' }, { id: 'b' }], cursor: 'x', hasMore: true },
    );
    const seen: string[] = [];
    const walk = async () => {
      for await (const { id } of messagingOver(fetch, {
        validation: { responses: 'off' },
      }).contacts.list()) {
        seen.push(id);
      }
    };
    await expect(walk()).rejects.toMatchObject({ name: 'PermissionError' });
    expect(seen).toEqual(['a', 'b']);
  });
});

describe('a list that goes in circles', () => {
  it('ends in an error when a cursor repeats', async () => {
    const { fetch, requests } = answering(() => ({
      data: [{ id: 'a' }],
      cursor: 'same',
      hasMore: true,
    }));
    const { contacts } = messagingOver(fetch, { validation: { responses: 'off' } });
    await expect(contacts.list().toArray()).rejects.toMatchObject({
      name: 'UnexpectedResponseError',
      code: 'PAGINATION_LOOP',
    });
    expect(requests.length).toBeLessThan(4);
  });

  it('ends in an error when the service keeps sending the same page', async () => {
    const { fetch } = answering(() => ({
      templates: [{ id: 'a' }],
      total: 50,
      page: 1,
      pageSize: 1,
      totalPages: 50,
    }));
    const { templates } = messagingOver(fetch, { validation: { responses: 'off' } });
    await expect(templates.list().toArray()).rejects.toMatchObject({ code: 'PAGINATION_LOOP' });
  });
});

describe('an answer without a list', () => {
  it.each([[{}], [{ success: true }], [true], [null]])(
    'reads %j as an empty list',
    async (body) => {
      const { fetch } = answering(() => Response.json(body));
      expect(await messagingOver(fetch).contacts.list().toArray()).toEqual([]);
    },
  );

  it.each([[{ message: 'hello' }], [{ a: [], b: [] }], ['text'], [7]])(
    'refuses %j',
    async (body) => {
      const { fetch } = answering(() => Response.json(body));
      await expect(messagingOver(fetch).contacts.list().toArray()).rejects.toMatchObject({
        name: 'UnexpectedResponseError',
      });
    },
  );
});
