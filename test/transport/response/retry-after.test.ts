import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pauseAfterRefusalMs, retryAfterMs } from '../../../src/core/retry.js';
import { scripted, step } from '../../support/script.js';
import fc from '../../support/property.js';

const now = Date.parse('2030-01-01T00:00:00Z');

beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('the pause after a 429', () => {
  it.each([
    [1, 250],
    [2, 500],
    [8, 32_000],
    [9, 60_000],
    [50, 60_000],
  ])('is at least so long, whatever the service asks: attempt %i, %i ms', (attempt, delayMs) => {
    expect(pauseAfterRefusalMs(0, attempt)).toBe(delayMs);
    expect(pauseAfterRefusalMs(90_000, attempt)).toBe(90_000);
  });
});

describe('retryAfterMs', () => {
  it.each([
    ['retry-after', '0', 0],
    ['retry-after', '7', 7_000],
    ['retry-after', ' 1.5 ', 1_500],
    ['retry-after', 'Tue, 01 Jan 2030 00:00:09 GMT', 9_000],
    ['retry-after', 'Mon, 31 Dec 2029 23:59:00 GMT', 0],
    ['retry-after', 'Tuesday, 01-Jan-30 00:00:09 GMT', 9_000],
    ['retry-after', 'Tue Jan  1 00:00:09 2030', 9_000],
    ['retry-after', '2030-01-01T01:00:09+01:00', 9_000],
    ['retry-after', '60s', 60_000],
    ['retry-after', '60 seconds', 60_000],
    ['retry-after-ms', '1500', 1_500],
    ['retry-after-ms', '0.5', 0.5],
    ['ratelimit', 'limit=10, remaining=0, reset=7', 7_000],
    ['ratelimit', 'limit=10;remaining=0;reset=7', 7_000],
    ['ratelimit', '"default";r=0;t=7', 7_000],
    ['ratelimit', '"minute";r=0;t=7, "day";r=0;t=70, "month";r=9;t=7000', 70_000],
    ['ratelimit-reset', '7s', 7_000],
    ['ratelimit-reset', '7', 7_000],
    ['ratelimit-reset', String(now / 1000 + 5), 5_000],
    ['x-ratelimit-reset', String(now / 1000 + 5), 5_000],
    ['x-ratelimit-reset', String(now + 5_000), 5_000],
    ['x-ratelimit-reset', String(now / 1000 - 5), 0],
    ['x-ratelimit-reset', String(now - 5_000), 0],
  ])('reads %s: %s', (name, value, delayMs) => {
    expect(retryAfterMs(new Headers({ [name]: value }), 429)).toBe(delayMs);
  });

  it.each([500, 503, 404, 408])('reads Retry-After alone after %i', (status) => {
    const headers = new Headers({ 'x-ratelimit-reset': '60', 'ratelimit-reset': '60' });
    expect(retryAfterMs(headers, status)).toBeUndefined();
    headers.set('retry-after', '1');
    expect(retryAfterMs(headers, status)).toBe(1_000);
  });

  it('prefers the most precise: each header decides over those after it', () => {
    const headers = new Headers();
    const values = [
      ['x-ratelimit-reset', '5', 5_000],
      ['ratelimit-reset', '4', 4_000],
      ['ratelimit', '"default";r=0;t=3', 3_000],
      ['retry-after', '2', 2_000],
      ['retry-after-ms', '1900', 1_900],
    ] as const;
    for (const [name, value, delayMs] of values) {
      headers.set(name, value);
      expect(retryAfterMs(headers, 429)).toBe(delayMs);
    }
  });

  it.each([
    ['retry-after', 'Tue, 01 Jan 2030 00:00:09 GMT'],
    ['x-ratelimit-reset', String(now / 1000 + 9)],
    ['x-ratelimit-reset', String(now + 9_000)],
  ])(
    'measures a point in time by the Date of the answer, whose clock is its own: %s',
    (...header) => {
      const headers = new Headers([['date', new Date(now).toUTCString()], header]);
      for (const offMs of [-86_400_000, -3_600_000, 3_600_000, 86_400_000]) {
        expect(retryAfterMs(headers, 429, now + offMs)).toBe(9_000);
      }
    },
  );

  it.each([
    '',
    'soon',
    '-5',
    '1e999',
    '0x10',
    'NaN',
    '1,5',
    'after 60',
    'in 60 s',
    '60 minutes',
    'Jan 2030',
    '1 Jan 2030 00:00:09',
    'Tue, 99 Jan 2030 00:00:09 GMT',
  ])('makes nothing of %j', (value) => {
    expect(retryAfterMs(new Headers({ 'retry-after': value }), 429)).toBeUndefined();
  });

  it.each(['', 'limit=10', '"default"', '"default";r=5;t=7', '"default";r=0', 'r=0;t', 'reset=x'])(
    'makes nothing of RateLimit: %j',
    (value) => {
      expect(retryAfterMs(new Headers({ ratelimit: value }), 429)).toBeUndefined();
    },
  );

  it.each(['9'.repeat(20), '9'.repeat(400), '2147484', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'is never longer than a timer lasts: %s',
    (value) => {
      const delayMs = retryAfterMs(new Headers({ 'retry-after': value }), 429);
      expect(delayMs).toBe(2 ** 31 - 1);
    },
  );

  it('is a delay that a timer can wait, or nothing, whatever the headers say', () => {
    const names = ['retry-after', 'retry-after-ms', 'ratelimit', 'x-ratelimit-reset'];
    const parts = ['0', '7', '99999999999', 's', ' ', ';', ',', '"a"', 'r=0', 't=7', 'reset=', '-'];
    const text = fc.oneof(
      fc.stringMatching(/^[\x20-\x7e]*$/),
      fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), text, (name, value) => {
        const delayMs = retryAfterMs(new Headers({ [name]: value }), 429) ?? 0;
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThan(2 ** 31);
      }),
    );
  });
});

describe('the wait before a repeat', () => {
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' }, 9_000],
    [{ 'ratelimit-reset': '11' }, 11_000],
    [{ ratelimit: '"default";r=0;t=12' }, 12_000],
    [{ 'x-ratelimit-reset': String(now / 1000 + 13) }, 13_000],
    [{}, 60_000],
  ])('after a 429 is what the service says, or its window: %j', async (headers, delayMs) => {
    const { client, requests, retries } = scripted([step.status(429, headers)]);
    const call = client.contacts.get('con_1');
    await vi.advanceTimersByTimeAsync(delayMs - 1);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await call;
    expect(retries).toMatchObject([{ delayMs }]);
  });

  it('after a 503 is what the service says, and a backoff', async () => {
    const { client, requests, retries } = scripted([step.status(503, { 'retry-after': '20' })]);
    const call = client.contacts.get('con_1');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    await call;
    expect(retries).toMatchObject([{ delayMs: 21_000 }]);
  });

  it.each([0, 0.5, 0.999])(
    'is random and doubles, where the service says nothing: %d',
    async (random) => {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const lost = Array.from({ length: 5 }, () => step.lost);
      const { client, requests, retries } = scripted(lost);
      const call = client.contacts.get('con_1', { retries: 5 });
      const waits: number[] = [];
      for (let count = 1; count <= 5; count++) {
        const startedAt = Date.now();
        while (requests.length <= count) {
          await vi.advanceTimersToNextTimerAsync();
        }
        waits.push(Date.now() - startedAt);
      }
      await call;
      const least = [500, 1_000, 2_000, 4_000, 8_000];
      expect(waits).toEqual(least.map((ms) => Math.min(8_000, Math.round(ms * (1 + random)))));
      expect(retries.map(({ delayMs }) => delayMs)).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
    },
  );

  it('is the caller’s to decide when it would take too long', async () => {
    const { client, requests } = scripted([step.status(429, { 'retry-after': '3600' })]);
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 3_600_000,
    });
    expect(requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not begun when the deadline comes first', async () => {
    const { client, retries } = scripted([step.status(429, { 'retry-after': '7' })]);
    const call = client.contacts.get('con_1', { deadline: 6_000 });
    await expect(call).rejects.toMatchObject({ status: 429, retryAfterMs: 7_000 });
    expect(retries).toEqual([]);
  });

  it('ends at once with the reason of an abort', async () => {
    const { client, requests } = scripted([step.status(429, { 'retry-after': '7' })]);
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    const aborted = expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(3_000);
    controller.abort('enough');
    await aborted;
    expect(requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
