import { describe, expect, it } from 'vitest';
import { createRateLimiter, type RateLimitOptions } from '../../../src/testing/core/rate-limit.js';

const options = (more: Partial<RateLimitOptions> = {}) => ({ limit: 3, windowMs: 1_000, ...more });

function allowedAt(limiter: RateLimitOptions, times: number[]): boolean[] {
  const { check } = createRateLimiter(() => limiter);
  return times.map((time) => check('key', time).isAllowed);
}

it('sliding counts the requests of the last window', () => {
  const allowed = allowedAt(options(), [0, 500, 900, 950, 1_000, 1_001, 1_500]);
  expect(allowed).toEqual([true, true, true, false, true, false, true]);
});

it('fixed starts anew with each window', () => {
  const allowed = allowedAt(options({ algorithm: 'fixed' }), [900, 950, 990, 999, 1_000]);
  expect(allowed).toEqual([true, true, true, false, true]);
});

it('bucket refills evenly', () => {
  const allowed = allowedAt(options({ algorithm: 'bucket' }), [0, 0, 0, 0, 333, 334, 335]);
  expect(allowed).toEqual([true, true, true, false, false, true, false]);
});

it('bucket holds no more than the limit, however long nothing was sent', () => {
  const allowed = allowedAt(options({ algorithm: 'bucket' }), [0, 9_000, 9_000, 9_000, 9_000]);
  expect(allowed).toEqual([true, true, true, true, false]);
});

it('counts each bucket on its own', () => {
  const { check } = createRateLimiter(() => options({ limit: 1 }));
  expect(check('one', 0).isAllowed).toBe(true);
  expect(check('two', 0).isAllowed).toBe(true);
  expect(check('one', 0).isAllowed).toBe(false);
});

it('forgets its counts on reset', () => {
  const limiter = createRateLimiter(() => options({ limit: 1 }));
  limiter.check('key', 0);
  limiter.reset();
  expect(limiter.check('key', 0).isAllowed).toBe(true);
});

it('goes by a clock of its own', () => {
  const headers = 'retry-after-date';
  const hour = { limit: 0, windowMs: 60_000, headers, clockAheadMs: 3_600_000 } as const;
  expect(createRateLimiter(() => hour).check('key', 0).headers).toEqual({
    'Retry-After': 'Thu, 01 Jan 1970 01:01:00 GMT',
  });
});

describe('headers of a refused request', () => {
  const refusedWith = (headers: NonNullable<RateLimitOptions['headers']>) => {
    const { check } = createRateLimiter(() => ({ limit: 1, windowMs: 60_000, headers }));
    check('key', 10_000);
    return check('key', 30_000).headers;
  };

  it.each([
    ['retry-after', { 'Retry-After': '40' }],
    ['retry-after-date', { 'Retry-After': 'Thu, 01 Jan 1970 00:01:10 GMT' }],
    ['ratelimit', { 'RateLimit-Limit': '1', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '40' }],
    [
      'x-ratelimit',
      {
        'X-RateLimit-Limit': '1',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': '70',
      },
    ],
    ['none', {}],
  ] as const)('%s', (style, headers) => {
    expect(refusedWith(style)).toEqual(headers);
  });
});

it('says when a bucket has its next token', () => {
  const { check } = createRateLimiter(() => ({
    limit: 10,
    windowMs: 600_000,
    algorithm: 'bucket',
  }));
  for (let call = 0; call < 10; call += 1) {
    check('key', 0);
  }
  expect(check('key', 0).headers).toMatchObject({ 'Retry-After': '60' });
});

it.each(['sliding', 'fixed', 'bucket'] as const)(
  '%s without a limit allows everything',
  (algorithm) => {
    const headers = 'ratelimit';
    const { check } = createRateLimiter(() => ({
      limit: Infinity,
      windowMs: 1000,
      algorithm,
      headers,
    }));
    for (const now of [0, 0, 0, 1, 5000]) {
      expect(check('a', now)).toEqual({ isAllowed: true, headers: {} });
    }
  },
);
