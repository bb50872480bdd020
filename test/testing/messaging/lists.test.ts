import { describe, expect, it } from 'vitest';
import {
  createFakeMessaging,
  type FakeMessaging,
  type FakeMessagingOptions,
} from 'postreel/testing';
import { call, ok, someText } from '../../support/testing/messaging-call.js';

async function withContacts(count: number, options: FakeMessagingOptions = {}) {
  const fake = createFakeMessaging({ rateLimit: { limit: Infinity }, ...options });
  for (let number = 1; number <= count; number += 1) {
    await ok(fake, 'POST /contacts', { body: { email: `c${number}@example.com` } });
  }
  return fake;
}

async function emailsOf(fake: FakeMessaging, path: string) {
  const { data } = await ok(fake, `GET ${path}`);
  return data.map(({ email }) => email);
}

describe('messaging, General conventions', () => {
  it('public endpoints answer { success: true, data }', async () => {
    const body = { email: 'ann@example.com' };
    const answer = await ok(createFakeMessaging(), 'POST /v1/verify', { body });
    expect(Object.keys(answer)).toEqual(['success', 'data']);
    expect(answer.success).toBe(true);
  });

  it('dashboard endpoints answer the resource itself', async () => {
    const fake = await withContacts(1);
    const [id] = fake.project.contacts.keys();
    const contact = await ok(fake, `GET /contacts/${id}`);
    expect(contact).toMatchObject({ id, email: 'c1@example.com', subscribed: true, data: {} });
    expect(Object.keys(contact)).toHaveLength(6);
  });

  it('cursor lists answer { data, cursor, hasMore, total }', async () => {
    const page = await ok(await withContacts(2), 'GET /contacts');
    expect(page).toEqual({
      data: [expect.anything(), expect.anything()],
      cursor: someText,
      hasMore: false,
      total: 2,
    });
  });

  it('bodies are JSON: another type is a 400', async () => {
    const fake = createFakeMessaging();
    const response = await fake.fetch(`${fake.baseUrl}/contacts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fake.secretKey}`, 'content-type': 'text/plain' },
      body: '{"email":"ann@example.com"}',
    });
    expect(response.status).toBe(400);
  });
});

describe('messaging, Limits: lists', () => {
  it('a page has 20 items by default', async () => {
    expect((await ok(await withContacts(21), 'GET /contacts')).data).toHaveLength(20);
  });

  it('a page has at most 100 items', async () => {
    const fake = await withContacts(101);
    expect((await ok(fake, 'GET /contacts?limit=100')).data).toHaveLength(100);
    expect((await call(fake, 'GET /contacts?limit=101')).status).toBe(400);
  });

  it.each(['0', '-1', '1.5', 'ten', ''])('a limit of "%s" is refused with 400', async (limit) => {
    const { status, body } = await call(createFakeMessaging(), `GET /contacts?limit=${limit}`);
    expect([status, body.error.errors[0]?.field]).toEqual([400, 'limit']);
  });

  it('total is told on the first page only, later pages return 0', async () => {
    const fake = await withContacts(3);
    const first = await ok(fake, 'GET /contacts?limit=2');
    const second = await ok(fake, `GET /contacts?limit=2&cursor=${first.cursor}`);
    expect([first.total, second.total]).toEqual([3, 0]);
  });

  it('the cursor leads to the next page until hasMore is false', async () => {
    const fake = await withContacts(3);
    const first = await ok(fake, 'GET /contacts?limit=2');
    const second = await ok(fake, `GET /contacts?limit=2&cursor=${first.cursor}`);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
    expect(second.data.map(({ email }) => email)).toEqual(['c3@example.com']);
  });

  it('a cursor goes on where it stood when its contact was deleted', async () => {
    const fake = await withContacts(3);
    const { data, cursor } = await ok(fake, 'GET /contacts?limit=2');
    await ok(fake, `DELETE /contacts/${data[1]?.id}`);
    expect(await emailsOf(fake, `/contacts?cursor=${cursor}`)).toEqual(['c3@example.com']);
  });

  it('a cursor of another service is refused with 400', async () => {
    const { status } = await call(createFakeMessaging(), 'GET /contacts?cursor=nonsense');
    expect(status).toBe(400);
  });
});

describe('the shapes that the document leaves open', () => {
  it('listStyle array: the bare items', async () => {
    const answer = await ok(await withContacts(21, { listStyle: 'array' }), 'GET /contacts');
    expect(answer).toHaveLength(21);
  });

  it('listStyle named: the items under the name of the resource', async () => {
    const answer = await ok(await withContacts(1, { listStyle: 'named' }), 'GET /contacts');
    expect(Object.keys(answer)).toEqual(['contacts', 'cursor', 'hasMore', 'total']);
  });

  it('listStyle page: numbered pages with totals', async () => {
    const fake = await withContacts(3, { listStyle: 'page' });
    const { contacts, ...totals } = await ok(fake, 'GET /contacts?page=2&pageSize=2');
    expect(contacts).toHaveLength(1);
    expect(totals).toEqual({ total: 3, page: 2, pageSize: 2, totalPages: 2 });
  });

  it.each([
    ['cursor-null', { cursor: null }],
    ['cursor-empty', { cursor: '' }],
    ['cursor-absent', {}],
  ] as const)('lastPage %s ends a list without hasMore', async (lastPage, ending) => {
    const fake = await withContacts(2, { lastPage });
    const first = await ok(fake, 'GET /contacts?limit=1');
    expect(Object.keys(first)).toEqual(['data', 'cursor', 'total']);
    const { data, total, ...end } = await ok(fake, `GET /contacts?limit=1&cursor=${first.cursor}`);
    expect([data.length, total, end]).toEqual([1, 0, ending]);
  });

  it('envelopes always: resources are enveloped too, and the public ones only once', async () => {
    const fake = createFakeMessaging({ envelopes: 'always' });
    expect(await ok(fake, 'GET /contacts')).toMatchObject({ success: true, data: { data: [] } });
    const verified = await ok(fake, 'POST /v1/verify', { body: { email: 'ann@example.com' } });
    expect(verified.data.valid).toBe(true);
  });

  it('envelopes never: the public endpoints answer bare', async () => {
    const fake = createFakeMessaging({ envelopes: 'never' });
    const answer = await ok(fake, 'POST /v1/verify', { body: { email: 'ann@example.com' } });
    expect(answer.valid).toBe(true);
  });
});
