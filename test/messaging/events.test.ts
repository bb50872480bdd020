import type { TrackRequest, WarningEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const tracked = { contact: 'con_1', event: 'evt_1', timestamp: '2026-11-21T09:30:00.000Z' };
const event = { email: 'ann@example.com', event: 'order.paid' };
const offline = messagingOver(unreachable);

/** The two methods that track; the second takes a secret key only. */
const trackers = [
  ['track', '/v1/track', (messaging, body) => messaging.track(body)],
  ['events.track', '/events/track', (messaging, body) => messaging.events.track(body)],
] satisfies [string, string, (messaging: typeof offline, body: TrackRequest) => unknown][];

describe.each(trackers)('%s', (_, path, track) => {
  it.each([
    ['what is no email address', { ...event, email: 'ann' }, 'email', 'must be an email address'],
    ['an event without a name', { ...event, event: '' }, 'event', 'must not be empty'],
    [
      'a subscription that is no boolean',
      { ...event, subscribed: 1 },
      'subscribed',
      'must be a boolean; got 1',
    ],
  ])('rejects %s before a request', async (_, body, field, message) => {
    const call = track(offline, body as TrackRequest); // wrong on purpose
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field, message }],
    });
  });

  it('returns the ids of the contact and the event', async () => {
    const { fetch, requests } = answering(() => ({ success: true, data: tracked }));
    const messaging = messagingOver(fetch, { validation: { responses: 'throw' } });
    const body = { ...event, data: { total: 42, coupon: null } };
    await expect(track(messaging, body)).resolves.toEqual(tracked);
    expect(new URL(requests[0]?.url ?? '').pathname).toBe(path);
    await expect(requests[0]?.json()).resolves.toEqual(body);
  });

  it('warns about an empty string, which the service ignores', async () => {
    const { fetch } = answering();
    const messaging = messagingOver(fetch);
    const warnings: WarningEvent[] = [];
    messaging.on('warning', (warning) => warnings.push(warning));
    await track(messaging, { ...event, data: { plan: '' } });
    expect(warnings).toMatchObject([{ method: 'POST', path }]);
    expect(warnings[0]?.message).toContain('`data.plan` is an empty string');
  });

  it('sends an event without `email`, which the document does not require, and warns', async () => {
    const { fetch, requests } = answering(() => tracked);
    const messaging = messagingOver(fetch);
    const warnings: WarningEvent[] = [];
    messaging.on('warning', (warning) => warnings.push(warning));
    await track(messaging, { event: 'order.paid' });
    await expect(requests[0]?.json()).resolves.toEqual({ event: 'order.paid' });
    expect(warnings.map(({ message }) => message)).toEqual([
      '`email` is missing. The service may reject the event.',
    ]);
  });

  it.each([
    [{ email: 'ann@example.com' }, 'is required'],
    [
      { email: 'ann@example.com', name: 'order.paid' },
      'is required; `name` is not a field. Did you mean `event`?',
    ],
    [
      { email: 'ann@example.com', evnt: 'order.paid' },
      'is required; `evnt` is not a field. Did you mean `event`?',
    ],
  ])('rejects a call without `event`: %j', async (body, message) => {
    await expect(track(offline, body as never)).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: 'event', message }],
    });
  });

  it('never tracks an event twice', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 503 }));
    await expect(track(messagingOver(fetch), event)).rejects.toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });
});

describe('keys of tracking', () => {
  it('tracks with a public key', async () => {
    const { fetch, requests } = answering(() => ({ success: true, data: tracked }));
    await messagingOver(fetch, { apiKey: 'pk_test' }).track(event);
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer pk_test');
  });

  it("rejects a public key at the dashboard's endpoint", async () => {
    const messaging = messagingOver(unreachable, { apiKey: 'pk_test' });
    await expect(messaging.events.track(event)).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'SECRET_KEY_NEEDED',
      outcome: 'not-sent',
    });
  });
});

describe('events', () => {
  it('lists the events of a contact, in any spelling of a list', async () => {
    const { fetch, requests } = answering(() => ({ events: [{ name: 'order.paid' }] }));
    const { events } = messagingOver(fetch);
    await expect(events.listForContact('con_1').toArray()).resolves.toEqual([
      { name: 'order.paid' },
    ]);
    expect(new URL(requests[0]?.url ?? '').pathname).toBe('/events/contact/con_1');
  });

  it('sends dates as ISO 8601, and unknown fields unchanged', async () => {
    const { fetch, requests } = answering();
    const startDate = new Date('2026-11-01T00:00:00Z');
    await messagingOver(fetch).events.list({ limit: 5, startDate, name: 'order.paid' });
    expect(Object.fromEntries(new URL(requests[0]?.url ?? '').searchParams)).toEqual({
      limit: '5',
      startDate: '2026-11-01T00:00:00.000Z',
      name: 'order.paid',
    });
  });

  it.each([
    ['a date that is none', { startDate: new Date('never') }, 'startDate'],
    ['a date that is none', { endDate: new Date(Number.NaN) }, 'endDate'],
    ['more than 100 a page', { limit: 101 }, 'limit'],
  ])('rejects %s', async (_, query, field) => {
    await expect(offline.events.list(query).first()).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field }],
    });
  });

  it('sends a name of any form as one segment of the path', async () => {
    const { fetch, requests } = answering(() => ({ usage: [] }));
    const { events } = messagingOver(fetch);
    await events.usage('order/paid now');
    await events.delete('order/paid now');
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/events/order%2Fpaid%20now/usage',
      '/events/order%2Fpaid%20now',
    ]);
  });

  it('rejects the deletion of an empty name, which would reach the list', async () => {
    await expect(offline.events.delete('')).rejects.toMatchObject({
      name: 'InvalidRequestError',
      fieldErrors: [{ field: 'eventName', message: 'must not be empty' }],
    });
  });
});

function unreachable(): never {
  throw new Error('must not reach the network');
}
