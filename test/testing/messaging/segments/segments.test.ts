import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText } from '../../../support/testing/messaging-call.js';

const condition = { field: 'data.plan', operator: 'equals', value: 'pro' };
const dynamic = { name: 'Pros', type: 'DYNAMIC', condition };
const fixed = { name: 'Friends', type: 'STATIC' };

const create = async (fake: FakeMessaging, body: object) =>
  (await ok(fake, 'POST /segments', { body })).id;

/** Nine contacts, three of each plan. */
function withContacts(): FakeMessaging {
  const fake = createFakeMessaging();
  fake.seed({ contacts: 9 });
  return fake;
}

describe('messaging, Segments', () => {
  it('POST answers the segment with its memberCount', async () => {
    const created = await ok(withContacts(), 'POST /segments', { body: dynamic });
    expect(created).toMatchObject({
      ...dynamic,
      id: someText,
      trackMembership: false,
      memberCount: 3,
    });
    expect(created).not.toHaveProperty('members');
  });

  it.each([
    ['type', { ...fixed, type: undefined }],
    ['type', { ...fixed, type: 'OTHER' }],
    ['condition', { ...dynamic, condition: undefined }],
    ['condition', { ...dynamic, condition: 'all' }],
    ['condition', { ...fixed, condition }],
  ])('POST refuses a bad %s: %j', async (field, body) => {
    expect(badFields(await call(createFakeMessaging(), 'POST /segments', { body }))).toEqual([
      field,
    ]);
  });

  it('GET lists all of them, not paginated', async () => {
    const fake = createFakeMessaging();
    fake.seed({ segments: 150 });
    const list = await ok(fake, 'GET /segments?limit=10');
    expect(list).toHaveLength(150);
  });

  it('PATCH updates name, description, condition and trackMembership, not the type', async () => {
    const fake = withContacts();
    const id = await create(fake, dynamic);
    const change = {
      name: 'Free',
      description: 'Pays nothing',
      condition: { ...condition, value: 'free' },
      trackMembership: true,
    };
    const body = { ...change, type: 'STATIC' };
    expect(await ok(fake, `PATCH /segments/${id}`, { body })).toMatchObject({
      ...change,
      type: 'DYNAMIC',
    });
  });

  it('PATCH refuses a condition on a STATIC segment', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake, fixed);
    const answer = await call(fake, `PATCH /segments/${id}`, { body: { condition } });
    expect(badFields(answer)).toEqual(['condition']);
  });

  it('DELETE answers 409 while an active campaign uses it', async () => {
    const fake = withContacts();
    const id = await create(fake, dynamic);
    const [campaign] = fake.seed({ campaigns: 1 }).campaigns;
    Object.assign(campaign ?? {}, { audienceType: 'SEGMENT', segmentId: id, status: 'SCHEDULED' });
    expect((await call(fake, `DELETE /segments/${id}`)).status).toBe(409);
    await ok(fake, `POST /campaigns/${campaign?.id ?? ''}/cancel`);
    await ok(fake, `DELETE /segments/${id}`);
    expect((await call(fake, `GET /segments/${id}`)).status).toBe(404);
  });

  it('memberCount is cached until refresh, which fires no events', async () => {
    const fake = withContacts();
    const id = await create(fake, { ...dynamic, trackMembership: true });
    fake.seed({ contacts: 3 });
    expect(await ok(fake, `GET /segments/${id}`)).toMatchObject({ memberCount: 3 });
    expect(await ok(fake, `POST /segments/${id}/refresh`)).toEqual({ memberCount: 4 });
    expect(await ok(fake, `GET /segments/${id}`)).toMatchObject({ memberCount: 4 });
    expect(fake.project.events).toEqual([]);
    expect(fake.project.segments.get(id)?.members.size).toBe(0);
  });

  it('compute fires entry and exit events for a tracked dynamic segment', async () => {
    const fake = withContacts();
    const id = await create(fake, { ...dynamic, trackMembership: true });
    const names = () => fake.project.events.splice(0).map(({ name }) => name.split('.').at(-1));
    await ok(fake, `POST /segments/${id}/compute`);
    expect(names()).toEqual(['entry', 'entry', 'entry']);
    await ok(fake, `POST /segments/${id}/compute`);
    expect(names()).toEqual([]);
    const body = { email: 'contact-3@example.com', data: { plan: 'free' } };
    await ok(fake, 'POST /contacts', { body });
    expect(await ok(fake, `POST /segments/${id}/compute`)).toMatchObject({
      memberCount: 2,
      exited: 1,
    });
    expect(names()).toEqual(['exit']);
  });

  it.each([dynamic, fixed])(
    'compute refuses what is not tracked or not dynamic: %j',
    async (body) => {
      const fake = createFakeMessaging();
      const id = await create(fake, body);
      expect((await call(fake, `POST /segments/${id}/compute`)).status).toBe(400);
    },
  );
});

describe('messaging, Segments: members', () => {
  it('lists by page, with total, page and pageSize', async () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 300 });
    const id = await create(fake, dynamic);
    const answer = await ok(fake, `GET /segments/${id}/contacts?page=3&pageSize=40`);
    expect(answer).toMatchObject({ total: 100, page: 3, pageSize: 40 });
    expect(answer.contacts).toHaveLength(20);
  });

  it('Limits: pageSize is at most 100', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake, dynamic);
    expect((await call(fake, `GET /segments/${id}/contacts?pageSize=100`)).status).toBe(200);
    expect((await call(fake, `GET /segments/${id}/contacts?pageSize=101`)).status).toBe(400);
  });

  it('is live for dynamic segments', async () => {
    const fake = withContacts();
    const id = await create(fake, dynamic);
    fake.seed({ contacts: 3 });
    expect(await ok(fake, `GET /segments/${id}/contacts`)).toMatchObject({ total: 4 });
  });

  it('adds known contacts and tells which emails have none', async () => {
    const fake = withContacts();
    const id = await create(fake, fixed);
    const emails = ['contact-1@example.com', 'new@example.com'];
    const answer = await ok(fake, `POST /segments/${id}/members`, { body: { emails } });
    expect(answer).toEqual({ added: 1, created: 0, missing: ['new@example.com'], memberCount: 1 });
  });

  it('createMissing creates contacts, subscribed as asked', async () => {
    const fake = withContacts();
    const id = await create(fake, fixed);
    const emails = ['contact-1@example.com', 'new@example.com'];
    const body = { emails, createMissing: true, subscribed: false };
    await ok(fake, `POST /segments/${id}/members`, { body });
    const { contacts } = await ok(fake, `GET /segments/${id}/contacts`);
    expect(contacts.map(({ subscribed }) => subscribed)).toEqual([true, false]);
  });

  it('DELETE with a body of emails removes members, not contacts', async () => {
    const fake = withContacts();
    const id = await create(fake, fixed);
    const emails = ['contact-1@example.com', 'contact-2@example.com'];
    await ok(fake, `POST /segments/${id}/members`, { body: { emails } });
    const body = { emails: [...emails.slice(0, 1), 'nobody@example.com'] };
    const answer = await ok(fake, `DELETE /segments/${id}/members`, { body });
    expect(answer).toEqual({ removed: 1, memberCount: 1 });
    expect(fake.project.contacts.size).toBe(9);
  });

  it.each(['POST', 'DELETE'])('%s is for static segments only', async (method) => {
    const fake = createFakeMessaging();
    const id = await create(fake, dynamic);
    const answer = await call(fake, `${method} /segments/${id}/members`, { body: { emails: [] } });
    expect(answer.status).toBe(400);
  });

  it('POST refuses emails that are none', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake, fixed);
    for (const emails of [undefined, 'ann@example.com', ['ann']]) {
      const answer = await call(fake, `POST /segments/${id}/members`, { body: { emails } });
      expect(badFields(answer)).toEqual(['emails']);
    }
  });
});
