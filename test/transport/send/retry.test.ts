import type { MessagingClient, RequestOptions, SendRequest } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scripted, step, type Step } from '../../support/script.js';

const mail: SendRequest = {
  from: 'shop@example.com',
  to: 'ann@example.com',
  subject: 'Hi',
  body: '<p>Hi</p>',
};

/** One call that may be repeated and one that may not. */
const calls = {
  repeatable: (client: MessagingClient, options?: RequestOptions) =>
    client.contacts.get('con_1', options),
  other: (client: MessagingClient, options?: RequestOptions) => client.send(mail, options),
};

const failures: Readonly<Record<string, Step>> = {
  'a connection that was refused': step.refused,
  'a connection that broke': step.lost,
  'a timeout': step.silence,
  'a 429': step.status(429, { 'retry-after': '1' }),
  'a 408': step.status(408),
  'a 500': step.status(500),
  'a 503': step.status(503),
  'a 400': step.status(400),
  'a 401': step.status(401),
  'a 403': step.status(403),
  'a 404': step.status(404),
  'a 409': step.status(409),
  'a 422': step.status(422),
  'a redirect': () => new Response(null, { status: 302, headers: { location: '/other' } }),
  'an answer that is no JSON': () => new Response('<html>'),
};
const neverHappened = ['a connection that was refused', 'a 429'];
const mayPass = [
  ...neverHappened,
  ...['a connection that broke', 'a timeout', 'a 408', 'a 500', 'a 503'],
];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe.each([
  { kind: 'repeatable', repeated: mayPass },
  { kind: 'other', repeated: neverHappened },
] as const)('a call of the $kind kind', ({ kind, repeated }) => {
  it.each(mayPass.filter((name) => repeated.includes(name)))(
    'is repeated after %s',
    async (name) => {
      const { client, requests, retries } = scripted([failures[name]!]);
      const call = calls[kind](client);
      await vi.advanceTimersByTimeAsync(35_000);
      await call;
      expect(requests).toHaveLength(2);
      expect(retries).toHaveLength(1);
    },
  );

  it.each(Object.keys(failures).filter((name) => !repeated.includes(name)))(
    'is not repeated after %s',
    async (name) => {
      const { client, requests, retries } = scripted([failures[name]!]);
      const failed = expect(calls[kind](client)).rejects.toThrow();
      await vi.advanceTimersByTimeAsync(35_000);
      await failed;
      expect(requests).toHaveLength(1);
      expect(retries).toEqual([]);
    },
  );

  it.each(mayPass)('is not repeated with retries: 0, after %s', async (name) => {
    for (const [ofClient, ofCall] of [
      [{ retries: 0 }, {}],
      [{}, { retries: 0 }],
    ]) {
      const { client, requests } = scripted([failures[name]!], ofClient);
      const failed = expect(calls[kind](client, ofCall)).rejects.toThrow();
      await vi.advanceTimersByTimeAsync(35_000);
      await failed;
      expect(requests).toHaveLength(1);
    }
  });
});

describe('a call', () => {
  it('is repeated twice at most, and rejects with the last failure', async () => {
    const { client, requests } = scripted([500, 502, 503].map((status) => step.status(status)));
    const failed = expect(client.contacts.get('con_1')).rejects.toMatchObject({ status: 503 });
    await vi.runAllTimersAsync();
    await failed;
    expect(requests).toHaveLength(3);
  });

  it('is repeated as often as the caller wants', async () => {
    const { client, requests } = scripted(Array.from({ length: 5 }, () => step.lost));
    const call = client.contacts.get('con_1', { retries: 5 });
    await vi.runAllTimersAsync();
    await call;
    expect(requests).toHaveLength(6);
  });

  it('does not use up its retries by waiting for the limit', async () => {
    const tooMany = step.status(429, { 'retry-after': '1' });
    const steps = [tooMany, tooMany, tooMany, step.lost, tooMany, step.lost];
    const { client, requests } = scripted(steps);
    const call = client.contacts.get('con_1');
    await vi.runAllTimersAsync();
    await call;
    expect(requests).toHaveLength(7);
  });

  it('does not wait for the limit for ever', async () => {
    const { client, requests } = scripted(
      Array.from({ length: 99 }, () => step.status(429, { 'retry-after': '60' })),
    );
    const failed = expect(client.contacts.get('con_1')).rejects.toMatchObject({ status: 429 });
    await vi.runAllTimersAsync();
    await failed;
    expect(requests).toHaveLength(9);
  });

  it.each([
    ['Retry-After: 0', { 'retry-after': '0' }],
    ['a reset that a fast clock has passed', { 'x-ratelimit-reset': '1000000001' }],
    ['nothing at all', {}],
  ])('that is refused for ever, with %s, makes at most ten requests', async (_, headers) => {
    const { client, requests } = scripted(
      Array.from({ length: 99 }, () => step.status(429, headers)),
    );
    const startedAt = Date.now();
    const failed = expect(client.contacts.get('con_1', { retries: 5 })).rejects.toMatchObject({
      status: 429,
    });
    await vi.runAllTimersAsync();
    await failed;
    expect(requests.length).toBeLessThanOrEqual(10);
    expect(Date.now() - startedAt).toBeLessThanOrEqual(10 * 60_000);
  });

  it('that is refused with "now" waits longer each time', async () => {
    const now = step.status(429, { 'retry-after': '0' });
    const { client, retries } = scripted([now, now, now, now]);
    const call = client.contacts.get('con_1');
    await vi.runAllTimersAsync();
    await call;
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([250, 500, 1_000, 2_000]);
  });

  it('counts the time in the queue of the rate limit as time that has passed', async () => {
    const { client, requests } = scripted(
      Array.from({ length: 99 }, () => step.status(429, { 'retry-after': '0' })),
      { rateLimit: { limit: 1, windowMs: 60_000 * 4 } },
    );
    const startedAt = Date.now();
    const failed = expect(client.contacts.get('con_1')).rejects.toMatchObject({ status: 429 });
    await vi.runAllTimersAsync();
    await failed;
    expect(requests.length).toBeLessThanOrEqual(10);
    // Ten windows are left after the first refusal, and the last attempt may wait for one more.
    expect(Date.now() - startedAt).toBeLessThanOrEqual(11 * 4 * 60_000);
  });

  it('that may happen twice is repeated after anything that may pass', async () => {
    for (const name of mayPass) {
      const { client, requests } = scripted([failures[name]!]);
      const call = client.send(mail, { retry: { unknownOutcome: true } });
      await vi.advanceTimersByTimeAsync(35_000);
      await call;
      expect(requests, name).toHaveLength(2);
    }
  });

  it('to several recipients is never repeated after an answer', async () => {
    const several = { ...mail, to: ['ann@example.com', 'bea@example.com'] };
    const { client, requests } = scripted([failures['a 429']!]);
    const failed = expect(client.send(several)).rejects.toMatchObject({
      status: 429,
      outcome: 'unknown',
    });
    await vi.advanceTimersByTimeAsync(35_000);
    await failed;
    expect(requests).toHaveLength(1);
  });

  it('to several recipients is repeated when it never left', async () => {
    const several = { ...mail, to: ['ann@example.com', 'bea@example.com'] };
    const { client, requests } = scripted([step.refused]);
    const call = client.send(several);
    await vi.advanceTimersByTimeAsync(35_000);
    await call;
    expect(requests).toHaveLength(2);
  });

  it('tells of each repeat', async () => {
    const { client, retries } = scripted([step.status(429, { 'retry-after': '7' }), step.lost]);
    const call = client.contacts.get('con_1');
    await vi.runAllTimersAsync();
    await call;
    expect(retries).toMatchObject([
      { method: 'GET', path: '/contacts/con_1', attempt: 1, delayMs: 7_000 },
      { method: 'GET', path: '/contacts/con_1', attempt: 2 },
    ]);
    expect(retries.map(({ error }) => error.name)).toEqual(['RateLimitError', 'ConnectionError']);
  });

  it('sends the same request each time', async () => {
    const { client, requests } = scripted([step.refused, step.status(429, { 'retry-after': '1' })]);
    const call = client.send(mail);
    await vi.runAllTimersAsync();
    await call;
    const bodies = await Promise.all(requests.map((request) => request.json() as unknown));
    expect(bodies).toEqual([mail, mail, mail]);
  });
});
