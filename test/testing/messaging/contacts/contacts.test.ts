import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import {
  badFields,
  call,
  ok,
  someText,
  textLike,
} from '../../../support/testing/messaging-call.js';

const add = (fake: FakeMessaging, email: string, rest: object = {}) =>
  ok(fake, 'POST /contacts', { body: { email, ...rest } });

describe('messaging, POST /contacts', () => {
  it('creates a contact and says so in _meta', async () => {
    const contact = await add(createFakeMessaging(), 'ann@example.com', { data: { plan: 'pro' } });
    expect(contact).toEqual({
      id: someText,
      email: 'ann@example.com',
      subscribed: true,
      data: { plan: 'pro' },
      createdAt: textLike(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: someText,
      _meta: { isNew: true, isUpdate: false },
    });
  });

  it('updates the contact that has the email', async () => {
    const fake = createFakeMessaging();
    const first = await add(fake, 'ann@example.com', { data: { plan: 'pro' } });
    const second = await add(fake, 'Ann@Example.com', { data: { city: 'Rome' } });
    expect(second).toMatchObject({
      id: first.id,
      data: { plan: 'pro', city: 'Rome' },
      _meta: { isNew: false, isUpdate: true },
    });
    expect(fake.project.contacts.size).toBe(1);
  });

  it('answers an email in lower case, however it was written', async () => {
    const fake = createFakeMessaging();
    const { id, email } = await add(fake, 'Ann@Example.com');
    expect(email).toBe('ann@example.com');
    const body = { email: 'Bob@Example.com' };
    const changed = await ok(fake, `PATCH /contacts/${id}`, { body });
    expect(changed.email).toBe('bob@example.com');
    expect((await add(fake, 'bob@example.com')).id).toBe(id);
    expect((await add(fake, 'ann@example.com')).id).not.toBe(id);
  });

  it('keeps the state of an existing contact when `subscribed` is left out', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { subscribed: false });
    expect((await add(fake, 'ann@example.com')).subscribed).toBe(false);
  });

  it.each([
    ['email', {}],
    ['email', { email: 'ann' }],
    ['email', { email: 7 }],
    ['subscribed', { email: 'ann@example.com', subscribed: 'yes' }],
    ['data', { email: 'ann@example.com', data: [] }],
  ])('refuses a bad `%s` with 422: %j', async (field, body) => {
    expect(badFields(await call(createFakeMessaging(), 'POST /contacts', { body }))).toEqual([
      field,
    ]);
  });
});

describe('messaging, GET /contacts', () => {
  it('search is a case-insensitive substring match on email', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com');
    await add(fake, 'bob@example.com', { data: { friend: 'ann' } });
    const { data, total } = await ok(fake, 'GET /contacts?search=ANN');
    expect(data.map(({ email }) => email)).toEqual(['ann@example.com']);
    expect(total).toBe(1);
  });
});

describe('messaging, /contacts/{id}', () => {
  it('GET answers 404 for an unknown contact', async () => {
    const { status, body } = await call(createFakeMessaging(), 'GET /contacts/con_999999');
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('PATCH changes email, subscribed and data', async () => {
    const fake = createFakeMessaging();
    const { id } = await add(fake, 'ann@example.com', { data: { plan: 'pro' } });
    await fake.advance('1s');
    const body = { email: 'anna@example.com', subscribed: false, data: { city: 'Rome' } };
    const changed = await ok(fake, `PATCH /contacts/${id}`, { body });
    expect(changed).toMatchObject({ ...body, data: { plan: 'pro', city: 'Rome' } });
    expect(changed.updatedAt > changed.createdAt).toBe(true);
    expect((await add(fake, 'anna@example.com')).id).toBe(id);
  });

  it('PATCH answers 409 if another contact already uses the email', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com');
    const { id } = await add(fake, 'bob@example.com');
    const body = { email: 'ann@example.com' };
    expect((await call(fake, `PATCH /contacts/${id}`, { body })).status).toBe(409);
    const own = await call(fake, `PATCH /contacts/${id}`, { body: { email: 'bob@example.com' } });
    expect(own.status).toBe(200);
  });

  it.each([
    [true, []],
    [false, ['contact.unsubscribed']],
  ])('PATCH to subscribed %s fires %j for a subscribed contact', async (subscribed, events) => {
    const fake = createFakeMessaging();
    const { id } = await add(fake, 'ann@example.com');
    await ok(fake, `PATCH /contacts/${id}`, { body: { subscribed } });
    expect(fake.project.events.map(({ name }) => name)).toEqual(events);
  });

  it('PATCH back to subscribed fires contact.subscribed', async () => {
    const fake = createFakeMessaging();
    const { id } = await add(fake, 'ann@example.com', { subscribed: false });
    await ok(fake, `PATCH /contacts/${id}`, { body: { subscribed: true } });
    expect(fake.project.events.map(({ name }) => name)).toEqual(['contact.subscribed']);
  });

  it('DELETE removes the contact', async () => {
    const fake = createFakeMessaging();
    const { id } = await add(fake, 'ann@example.com');
    expect((await call(fake, `DELETE /contacts/${id}`)).status).toBe(204);
    expect((await call(fake, `GET /contacts/${id}`)).status).toBe(404);
    expect((await add(fake, 'ann@example.com')).id).not.toBe(id);
  });
});

describe('messaging, POST /contacts/lookup', () => {
  it('tells which emails exist', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com');
    const body = { emails: ['ANN@example.com', 'bob@example.com'] };
    expect(await ok(fake, 'POST /contacts/lookup', { body })).toEqual({
      found: ['ANN@example.com'],
      notFound: ['bob@example.com'],
    });
  });

  it('messaging, Limits: takes at most 500 emails per call', async () => {
    const fake = createFakeMessaging();
    const emails = Array.from({ length: 501 }, (_, index) => `c${index}@example.com`);
    const most = { emails: emails.slice(1) };
    const { notFound } = await ok(fake, 'POST /contacts/lookup', { body: most });
    expect(notFound).toHaveLength(500);
    const answer = await call(fake, 'POST /contacts/lookup', { body: { emails } });
    expect(badFields(answer)).toEqual(['emails']);
  });
});
