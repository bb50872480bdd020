import type { MismatchEvent } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';

const all = Array.from({ length: 250 }, (_, at) => ({
  id: `con_${at}`,
  email: `p${at}@example.com`,
  subscribed: true,
  data: null,
}));

/** A service that sends at most 50 items a page, and says in a way of its own that there are more. */
function capped(more: (next: number | undefined) => object) {
  const messaging = messagingOver((input, init) => {
    const { searchParams } = new URL(new Request(input, init).url);
    const start = Number(
      searchParams.get('cursor') ?? 50 * (Number(searchParams.get('page') ?? 1) - 1),
    );
    const next = start + 50 < all.length ? start + 50 : undefined;
    return Promise.resolve(
      Response.json({ contacts: all.slice(start, start + 50), ...more(next) }),
    );
  });
  const mismatches: MismatchEvent[] = [];
  messaging.on('mismatch', (event) => mismatches.push(event));
  return { messaging, mismatches };
}

describe('a list of 250 in pages of at most 50', () => {
  it.each<[string, (next: number | undefined) => object]>([
    ['pagination.nextCursor', (next) => ({ pagination: { nextCursor: next ?? null } })],
    ['meta.next_cursor', (next) => ({ meta: { next_cursor: next, total: 250 } })],
    ['links.next', (next) => ({ links: { next: next && `https://x.y/contacts?cursor=${next}` } })],
    [
      '_links.next.href',
      (next) => ({ _links: next && { next: { href: `/contacts?cursor=${next}` } } }),
    ],
    ['next', (next) => ({ next: next && `/contacts?limit=100&cursor=${next}` })],
    ['page numbers and a total', () => ({ page: undefined, total: 250, pageSize: 100 })],
    ['pageInfo', (next) => ({ pageInfo: { endCursor: next, hasNextPage: next !== undefined } })],
  ])('is read to its end by %s', async (_, more) => {
    const { messaging, mismatches } = capped(more);
    await expect(messaging.contacts.list().toArray()).resolves.toHaveLength(250);
    expect(mismatches).toEqual([]);
  });

  it('is an error where it says that there is more, but not how to get it', async () => {
    const { messaging } = capped(() => ({ links: { next: '/contacts/more/7f3a' } }));
    const page = await messaging.contacts.list();
    expect([page.items.length, page.hasMore]).toEqual([50, true]);
    const failure = { code: 'LIST_INCOMPLETE' };
    await expect(messaging.contacts.list().toArray()).rejects.toMatchObject(failure);
    const some = messaging.contacts.list({}, { incomplete: 'allow' });
    await expect(some.toArray()).resolves.toHaveLength(50);
  });

  it('tells where fewer items came than it said', async () => {
    const { messaging, mismatches } = capped(() => ({ total: 250 }));
    await expect(messaging.contacts.list().toArray()).resolves.toHaveLength(50);
    expect(mismatches).toMatchObject([
      {
        path: '/contacts',
        issues: [
          { field: 'total', message: expect.stringContaining('said 250, but 50') as string },
        ],
      },
    ]);
  });
});

it('tells where a list of numbered pages shifted while it was walked', async () => {
  const { secretKey: apiKey, baseUrl, fetch } = createFakeMessaging();
  const messaging = messagingOver(fetch, { apiKey, baseUrl });
  const template = { subject: 'Hi', body: 'Hi', type: 'MARKETING' } as const;
  for (let at = 0; at < 25; at++) {
    await messaging.templates.create({ ...template, name: `T${at}` });
  }
  const mismatches: MismatchEvent[] = [];
  messaging.on('mismatch', (event) => mismatches.push(event));
  let deleted = 0;
  for await (const { id } of messaging.templates.list({ limit: 10 })) {
    await messaging.templates.delete(id);
    deleted++;
  }
  expect(deleted).toBeLessThan(25);
  expect(mismatches).toHaveLength(1);
});

it('tells where rows of numbered pages moved, though as many came as were promised', async () => {
  const { secretKey: apiKey, baseUrl, fetch } = createFakeMessaging({ behavior: { rows: 'move' } });
  const messaging = messagingOver(fetch, { apiKey, baseUrl });
  const template = { subject: 'Hi', body: 'Hi', type: 'MARKETING' } as const;
  for (let at = 0; at < 25; at++) {
    await messaging.templates.create({ ...template, name: `T${at}` });
  }
  const mismatches: MismatchEvent[] = [];
  messaging.on('mismatch', (event) => mismatches.push(event));
  const items = await messaging.templates.list({ limit: 10 }).toArray();
  expect(items).toHaveLength(25);
  expect(new Set(items.map(({ id }) => id)).size).toBeLessThan(25);
  expect(mismatches).toMatchObject([{ path: '/templates', issues: [{ field: 'items' }] }]);
  // A page that is asked for again is the same one.
  const steady = createFakeMessaging();
  steady.seed({ templates: 25 });
  const again = messagingOver(steady.fetch, { apiKey: steady.secretKey, baseUrl: steady.baseUrl });
  again.on('mismatch', (event) => mismatches.push(event));
  const first = await again.templates.list({ limit: 10 });
  await first.nextPage();
  await first.nextPage();
  expect(mismatches).toHaveLength(1);
});

describe('a list by page numbers whose rows move while it is read', () => {
  /** Each page after the first begins so many rows earlier: new rows came in front. */
  function shifted(by: number) {
    const messaging = messagingOver((input, init) => {
      const { searchParams } = new URL(new Request(input, init).url);
      const page = Number(searchParams.get('page') ?? 1);
      const start = 50 * (page - 1) - (page > 1 ? by : 0);
      return Promise.resolve(
        Response.json({ data: all.slice(start, start + 50), page, pageSize: 50, total: 100 }),
      );
    });
    const told: string[] = [];
    messaging.on('mismatch', ({ issues }) =>
      told.push(...issues.filter(({ field }) => field === 'items').map(({ message }) => message)),
    );
    return { messaging, told };
  }

  it('is told once', async () => {
    const { messaging, told } = shifted(3);
    await messaging.templates.list().toArray();
    expect(told).toEqual([
      'moved while the list was read: some came twice, and others may be missing',
    ]);
  });

  it('is not told where none has moved', async () => {
    const { messaging, told } = shifted(0);
    await expect(messaging.templates.list().toArray()).resolves.toHaveLength(100);
    expect(told).toEqual([]);
  });
});
