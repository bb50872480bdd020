import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText } from '../../support/testing/messaging-call.js';

const track = (fake: FakeMessaging, email: string, event: string, data?: object) =>
  ok(fake, 'POST /v1/track', { body: { email, event, ...(data && { data }) } });

describe('messaging, POST /v1/track', () => {
  it('answers contact, event and timestamp in the envelope', async () => {
    const fake = createFakeMessaging();
    const answer = await track(fake, 'ann@example.com', 'signup');
    const [event] = fake.project.events;
    expect(answer).toEqual({
      success: true,
      data: {
        contact: event?.contactId,
        event: event?.id,
        timestamp: fake.clock.date().toISOString(),
      },
    });
  });

  it('creates or updates the contact, with the value rules of custom fields', async () => {
    const fake = createFakeMessaging();
    await track(fake, 'ann@example.com', 'signup', { plan: 'pro', city: 'Rome' });
    await track(fake, 'ann@example.com', 'order', {
      plan: null,
      city: '',
      id: 'x',
      total: { value: 5, persistent: false },
    });
    expect([...fake.project.contacts.values()]).toMatchObject([{ data: { city: 'Rome' } }]);
    expect(fake.project.events[1]?.data).toEqual({ total: 5 });
  });

  it.each([
    ['email', { event: 'signup' }],
    ['email', { email: 'ann', event: 'signup' }],
    ['event', { email: 'ann@example.com' }],
    ['event', { email: 'ann@example.com', event: '' }],
    ['data', { email: 'ann@example.com', event: 'signup', data: 'x' }],
  ])('refuses a bad %s with 422: %j', async (field, body) => {
    expect(badFields(await call(createFakeMessaging(), 'POST /v1/track', { body }))).toEqual([
      field,
    ]);
  });

  it('messaging, Events 1: starts the workflows that listen to the event', async () => {
    const fake = createFakeMessaging();
    const body = { name: 'Welcome', triggerConfig: { eventName: 'signup' } };
    const { id } = await ok(fake, 'POST /workflows', { body });
    await ok(fake, `PATCH /workflows/${id}`, { body: { enabled: true } });
    await track(fake, 'ann@example.com', 'other');
    await track(fake, 'ann@example.com', 'signup');
    expect(fake.project.workflows.get(id)?.executions.size).toBe(1);
  });
});

describe('messaging, Events', () => {
  it('POST /events/track is an alias that answers without the envelope', async () => {
    const fake = createFakeMessaging();
    const body = { email: 'ann@example.com', event: 'signup' };
    const answer = await ok(fake, 'POST /events/track', { body });
    expect(answer).toEqual({
      contact: someText,
      event: fake.project.events[0]?.id,
      timestamp: someText,
    });
  });

  it('GET /events lists the recent ones, newest first, by cursor', async () => {
    const fake = createFakeMessaging();
    for (const name of ['a', 'b', 'c']) {
      await track(fake, 'ann@example.com', name);
    }
    const { data, cursor, total } = await ok(fake, 'GET /events?limit=2');
    expect(data.map(({ name }) => name)).toEqual(['c', 'b']);
    expect(total).toBe(3);
    await track(fake, 'ann@example.com', 'd');
    const next = await ok(fake, `GET /events?cursor=${cursor}`);
    expect(next.data.map(({ name }) => name)).toEqual(['a']);
  });

  it('GET /events/stats counts', async () => {
    const fake = createFakeMessaging();
    await track(fake, 'ann@example.com', 'a');
    await track(fake, 'bob@example.com', 'a');
    await track(fake, 'bob@example.com', 'b');
    expect(await ok(fake, 'GET /events/stats')).toEqual({
      total: 3,
      uniqueContacts: 2,
      events: [
        { name: 'a', count: 2 },
        { name: 'b', count: 1 },
      ],
    });
  });

  it('GET /events/contact/{contactId} lists those of one contact', async () => {
    const fake = createFakeMessaging();
    await track(fake, 'ann@example.com', 'a');
    const { data: tracked } = await track(fake, 'bob@example.com', 'b');
    const { data } = await ok(fake, `GET /events/contact/${tracked.contact}`);
    expect(data.map(({ name }) => name)).toEqual(['b']);
    expect((await call(fake, 'GET /events/contact/con_999999')).status).toBe(404);
  });

  it('GET /events/names lists the distinct names', async () => {
    const fake = createFakeMessaging();
    for (const name of ['a', 'b', 'a']) {
      await track(fake, 'ann@example.com', name);
    }
    expect(await ok(fake, 'GET /events/names')).toEqual({ names: ['a', 'b'] });
  });

  it('GET /events/{eventName}/usage lists segments and workflows that refer to it', async () => {
    const fake = createFakeMessaging();
    const trigger = { name: 'Welcome', triggerConfig: { eventName: 'signup' } };
    const { id } = await ok(fake, 'POST /workflows', { body: trigger });
    const condition = { field: 'event.signup', operator: 'within', value: 7, unit: 'days' };
    const segment = { type: 'DYNAMIC', name: 'New', condition };
    const { id: segmentId } = await ok(fake, 'POST /segments', { body: segment });
    const usage = await ok(fake, 'GET /events/signup/usage');
    expect(usage.workflows).toEqual([{ id, name: 'Welcome' }]);
    expect(usage.segments).toEqual([{ id: segmentId, name: 'New' }]);
    expect((await ok(fake, 'GET /events/other/usage')).workflows).toEqual([]);
  });

  it('DELETE /events/{eventName} deletes every event of that name', async () => {
    const fake = createFakeMessaging();
    for (const name of ['a b', 'c', 'a b']) {
      await track(fake, 'ann@example.com', name);
    }
    expect(await ok(fake, 'DELETE /events/a%20b')).toEqual({ deleted: 2 });
    expect(fake.project.events.map(({ name }) => name)).toEqual(['c']);
  });
});
