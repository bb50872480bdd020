import type { RateLimitOptions } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { scripted, step } from '../../support/script.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** What a call ends with, on the test's time, and how long it took. */
async function ended(call: Promise<unknown>) {
  const startedAt = performance.now();
  const end = call.then(
    (value) => ({ value, error: undefined, ms: performance.now() - startedAt }),
    (error: unknown) => ({ value: undefined, error, ms: performance.now() - startedAt }),
  );
  await vi.runAllTimersAsync();
  return end;
}

describe('the waits of a call', () => {
  it('take ten minutes at most, whatever the service asks for', async () => {
    const busy = Array.from({ length: 20 }, () => step.status(429, { 'retry-after': '100' }));
    const { client, requests } = scripted(busy);
    const { error, ms } = await ended(client.contacts.get('con_1'));
    expect(error).toMatchObject({ status: 429 });
    expect(ms).toBe(500_000);
    expect(requests).toHaveLength(6);
  });

  it('are each two minutes long at most; a longer one is up to the caller', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const patient = scripted([step.status(503, { 'retry-after': '120' })]);
    expect(await ended(patient.client.contacts.get('con_1'))).toMatchObject({ ms: 120_500 });
    const { client, requests } = scripted([step.status(503, { 'retry-after': '121' })]);
    const { error, ms } = await ended(client.contacts.get('con_1'));
    expect(error).toMatchObject({ status: 503, retryAfterMs: 121_000 });
    expect(ms).toBe(0);
    expect(requests).toHaveLength(1);
  });

  it('that are left to the caller are none that a timer cannot wait', async () => {
    const rateLimit = { windowMs: 2 ** 33 };
    const { client } = scripted([step.status(429)], { rateLimit });
    const { error } = await ended(client.contacts.get('con_1', { deadline: 1_000 }));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 2 ** 31 - 1 });
  });

  it.each([
    [{ timeout: 1_000, deadline: 5_000 }, 'TIMEOUT', 1_000],
    [{ timeout: 5_000, deadline: 1_000 }, 'DEADLINE_EXCEEDED', 1_000],
  ])('for an answer end with the earlier one of %j', async (limits, code, limitMs) => {
    const { client } = scripted([step.silence]);
    const { error, ms } = await ended(client.contacts.get('con_1', { ...limits, retries: 0 }));
    expect(error).toMatchObject({ name: 'TimeoutError', code });
    expect(ms).toBe(limitMs);
  });
});

it('a call that changes something is unknown when its time was up', async () => {
  const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
  const { client, requests } = scripted([step.silence]);
  const { error } = await ended(client.send(mail, { timeout: 1_000 }));
  expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
  expect(requests).toHaveLength(1);
});

describe('the wait for the rate limit', () => {
  it.each([
    ['a deadline', undefined, 60_000],
    ['`maxQueueMs`', 60_000, undefined],
    ['the earlier one, a deadline', 7_200_000, 60_000],
    ['the earlier one, `maxQueueMs`', 60_000, 7_200_000],
  ])('is not begun when it is longer than %s', async (_, maxQueueMs, deadline) => {
    const { client, requests } = await full({ maxQueueMs });
    const { error, ms } = await ended(client.contacts.get('con_1', { deadline }));
    expect(error).toMatchObject({ outcome: 'not-sent', retryAfterMs: 3_600_000 });
    expect(ms).toBe(0);
    expect(requests).toHaveLength(1);
  });
});

describe('a slot of the rate limit that comes too late', () => {
  it('in the moment of an abort, is free for the next call', async () => {
    const { client, requests } = await full({ windowMs: 1_000 });
    const controller = new AbortController();
    const late = client.contacts.get('con_2', { signal: controller.signal });
    const rejected = expect(late).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(999);
    setTimeout(() => controller.abort('enough'), 1);
    vi.advanceTimersByTime(1); // both timers, and nothing between them
    await rejected;
    expect(client.rateLimit.state()?.used).toBe(0);
    await client.contacts.get('con_3');
    expect(requests.map(({ url }) => url.split('/').at(-1))).toEqual(['con_1', 'con_3']);
  });

  it('after the deadline, since the process stood still, is free for the next call', async () => {
    const { client, requests } = await full({ windowMs: 1_000 });
    const late = client.contacts.get('con_2', { deadline: 2_000 });
    const rejected = expect(late).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      outcome: 'not-sent',
    });
    await vi.advanceTimersByTimeAsync(999);
    const after = performance.now() + 3_000;
    setTimeout(() => vi.spyOn(performance, 'now').mockReturnValue(after), 1);
    vi.advanceTimersByTime(1); // both timers, and nothing between them
    await rejected;
    expect(client.rateLimit.state()?.used).toBe(0);
    await client.contacts.get('con_3');
    expect(requests.map(({ url }) => url.split('/').at(-1))).toEqual(['con_1', 'con_3']);
  });
});

describe('a repeat that finds nothing', () => {
  it.each(['get', 'update'] as const)(
    'after a lost answer is no success of contacts.%s()',
    async (method) => {
      const { client } = scripted([step.lost, step.status(404)]);
      const { contacts } = client;
      const call =
        method === 'get' ? contacts.get('con_1') : contacts.update('con_1', { subscribed: false });
      const { error } = await ended(call);
      expect(error).toMatchObject({ name: 'NotFoundError', status: 404 });
    },
  );
});

let clients = 0;

/** A client whose only slot of an hour is taken. */
async function full({ maxQueueMs, windowMs = 3_600_000 }: RateLimitOptions = {}) {
  const { fetch, requests } = answering(() => ({ id: 'con_1' }));
  const client = messagingOver(fetch, {
    apiKey: `sk_waits_${++clients}`,
    rateLimit: { limit: 1, windowMs, maxQueueMs },
    validation: { requests: 'off', responses: 'off' },
  });
  await client.contacts.get('con_1');
  return { client, requests };
}
