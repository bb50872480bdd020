import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { call, ok } from '../../../support/testing/messaging-call.js';

const add = (fake: FakeMessaging, email: string, data: object) =>
  ok(fake, 'POST /contacts', { body: { email, data } });

const send = (fake: FakeMessaging, body: string, data: object) =>
  ok(fake, 'POST /v1/send', {
    body: { to: 'ann@example.com', from: 'shop@example.com', subject: 'Hi', body, data },
  });

async function typesOf(fake: FakeMessaging): Promise<Record<string, string>> {
  const { fields } = await ok(fake, 'GET /contacts/fields');
  return Object.fromEntries(fields.map(({ field, type }) => [field, type]));
}

describe('messaging, Custom fields', () => {
  it('1: writes are patches, other keys keep their values', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { plan: 'pro', city: 'Rome' });
    const { data } = await add(fake, 'ann@example.com', { plan: 'free' });
    expect(data).toEqual({ plan: 'free', city: 'Rome' });
  });

  it('2: strings, numbers and booleans are stored', async () => {
    const values = { plan: 'pro', seats: 3, trial: false };
    expect((await add(createFakeMessaging(), 'ann@example.com', values)).data).toEqual(values);
  });

  it('2: null deletes the key', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { plan: 'pro', city: 'Rome' });
    expect((await add(fake, 'ann@example.com', { plan: null })).data).toEqual({ city: 'Rome' });
  });

  it('2: an empty string is ignored, the value stays', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { plan: 'pro' });
    expect((await add(fake, 'ann@example.com', { plan: '', x: '' })).data).toEqual({ plan: 'pro' });
  });

  it('2: { value, persistent: false } is used for this send only', async () => {
    const fake = createFakeMessaging();
    await send(fake, '{{code}}', { code: { value: 'X1', persistent: false }, plan: 'pro' });
    await send(fake, '{{code}}{{plan}}', {});
    expect(fake.outbox.map(({ body }) => body)).toEqual(['X1', 'pro']);
    expect([...fake.project.contacts.values()][0]?.data).toEqual({ plan: 'pro' });
  });

  it.each([
    ['number', 3],
    ['number', 3.5],
    ['boolean', false],
    ['date', '2026-05-01'],
    ['date', '2026-05-01T10:20:30Z'],
    ['date', '2026-05-01T10:20:30.123Z'],
    ['string', '2026-05-01T10:20'],
    ['string', '3'],
    ['string', 'pro'],
  ])('3: infers %s from %j', async (type, value) => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { key: value });
    expect((await typesOf(fake))['data.key']).toBe(type);
  });

  it('3: the first non-null value fixes the type, later values are stored as sent', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { key: null });
    await add(fake, 'ann@example.com', { key: 3 });
    const { data } = await add(fake, 'ann@example.com', { key: 'three' });
    expect([(await typesOf(fake))['data.key'], data.key]).toEqual(['number', 'three']);
  });

  it('5: reserved keys are dropped without an error', async () => {
    const reserved = {
      id: '1',
      svc_id: '1',
      svc_email: 'x@example.com',
      email: 'x@example.com',
      unsubscribeUrl: 'u',
      subscribeUrl: 'u',
      manageUrl: 'u',
    };
    const contact = await add(createFakeMessaging(), 'ann@example.com', { ...reserved, plan: 'a' });
    expect(contact.data).toEqual({ plan: 'a' });
    expect(contact.email).toBe('ann@example.com');
  });

  it('5: `subscribed` in data changes no core field', async () => {
    const contact = await add(createFakeMessaging(), 'ann@example.com', { subscribed: false });
    expect(contact.subscribed).toBe(true);
  });

  it('6: locale is stored like any other key', async () => {
    const { data } = await add(createFakeMessaging(), 'ann@example.com', { locale: 'de' });
    expect(data).toEqual({ locale: 'de' });
  });

  it.each([
    ['{{plan}}', 'pro'],
    ['{{ plan }}', 'pro'],
    ['{{name ?? "friend"}}', 'friend'],
    ['{{plan ?? "free"}}', 'pro'],
    ['{{gone ?? "default"}}', 'default'],
    ['{{profile.tier}}', 'gold'],
    ['{{profile.rank ?? "none"}}', 'none'],
    ['{{missing}}', ''],
    ['{{seats}}', '0'],
    ['{{email}}', 'ann@example.com'],
  ])('7: %s renders as "%s"', async (template, text) => {
    const fake = createFakeMessaging();
    await send(fake, template, { plan: 'pro', seats: 0, gone: null, profile: { tier: 'gold' } });
    expect(fake.outbox[0]?.body).toBe(text);
  });

  it('9: the inventory tells type, isCustom and coverage', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { plan: 'pro' });
    await add(fake, 'bob@example.com', {});
    const { fields } = await ok(fake, 'GET /contacts/fields');
    expect(fields).toContainEqual({ field: 'email', type: 'string', isCustom: false, coverage: 1 });
    expect(fields).toContainEqual({
      field: 'data.plan',
      type: 'string',
      isCustom: true,
      coverage: 0.5,
    });
  });

  it('10: values are the distinct ones seen', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { plan: 'pro' });
    await add(fake, 'bob@example.com', { plan: 'free' });
    await add(fake, 'cat@example.com', { plan: 'pro' });
    const { values } = await ok(fake, 'GET /contacts/fields/data.plan/values');
    expect(values).toEqual(['pro', 'free']);
  });

  it('10: usage lists segments, campaigns and workflows that refer to the field', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { plan: 'pro', other: 1 });
    const condition = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const segment = { type: 'DYNAMIC', name: 'Pros', condition };
    const { id } = await ok(fake, 'POST /segments', { body: segment });
    expect(await ok(fake, 'GET /contacts/fields/data.plan/usage')).toMatchObject({
      segments: [{ id, name: 'Pros' }],
      campaigns: [],
      workflows: [],
    });
    expect((await ok(fake, 'GET /contacts/fields/data.other/usage')).segments).toEqual([]);
  });

  it('10: DELETE removes the field from every contact, and what refers to it stays', async () => {
    const fake = createFakeMessaging();
    await add(fake, 'ann@example.com', { plan: 'pro', city: 'Rome' });
    const condition = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const segment = { type: 'DYNAMIC', name: 'Pros', condition };
    const { id } = await ok(fake, 'POST /segments', { body: segment });
    await ok(fake, 'DELETE /contacts/fields/data.plan');
    expect([...fake.project.contacts.values()][0]?.data).toEqual({ city: 'Rome' });
    expect((await ok(fake, `GET /segments/${id}`)).condition).toEqual(condition);
    expect((await ok(fake, `GET /segments/${id}/contacts`)).total).toBe(0);
  });

  it('10: a standard field cannot be deleted', async () => {
    expect((await call(createFakeMessaging(), 'DELETE /contacts/fields/email')).status).toBe(400);
  });

  it('an unknown field is a 404', async () => {
    const { status } = await call(createFakeMessaging(), 'GET /contacts/fields/data.x/values');
    expect(status).toBe(404);
  });
});
