import { memorySeen } from 'postreel/webhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => vi.useRealTimers());

describe('memorySeen()', () => {
  it('admits each nonce once, until it is released', () => {
    const seen = memorySeen();
    expect(seen.claim('a', 1)).toBe(true);
    expect(seen.claim('a', 1)).toBe(false);
    seen.release('a');
    expect(seen.claim('a', 1)).toBe(true);
  });

  it('removes expired nonces first when it is full', () => {
    vi.useFakeTimers({ now: 1_000, toFake: ['Date'] });
    const seen = memorySeen({ max: 3 });
    for (const [nonce, expiresAt] of [
      ['a', 2_000],
      ['b', 999],
      ['c', 1_000],
    ] as const) {
      seen.claim(nonce, expiresAt);
    }
    expect(seen.claim('d', 2_000)).toBe(true);
    expect(seen.claim('a', 2_000)).toBe(false);
  });

  it('removes the oldest nonce if none has expired', () => {
    vi.useFakeTimers({ now: 0, toFake: ['Date'] });
    const seen = memorySeen({ max: 2 });
    for (const nonce of ['a', 'b', 'c']) {
      seen.claim(nonce, 1);
    }
    expect(seen.claim('c', 1)).toBe(false);
    expect(seen.claim('b', 1)).toBe(false);
    expect(seen.claim('a', 1)).toBe(true);
  });

  it('holds 20,000 keys by default, two for each of 10,000 callbacks', () => {
    const seen = memorySeen();
    for (let nonce = 0; nonce < 20_001; nonce += 1) {
      seen.claim(String(nonce), Infinity);
    }
    expect(seen.claim('1', Infinity)).toBe(false);
    expect(seen.claim('0', Infinity)).toBe(true);
  });
});
