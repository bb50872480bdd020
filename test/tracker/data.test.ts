import { describe, expect, it, vi } from 'vitest';
import { snapshot } from '../../src/tracker/data.js';
import { delayOf } from '../../src/tracker/queue.js';
import { createTracker, transient } from 'postreel/tracker';

const tracker = createTracker({ publicKey: 'pk_test', baseUrl: 'https://service.test' });

describe('event data', () => {
  it('turns dates into full ISO strings and marks transient values', () => {
    const at = new Date('2026-11-21T10:00:00Z');
    expect(snapshot({ at, otp: transient(123), list: [{ at }], gone: null, empty: '' })).toEqual({
      at: '2026-11-21T10:00:00.000Z',
      otp: { value: 123, persistent: false },
      list: [{ at: '2026-11-21T10:00:00.000Z' }],
      gone: null,
      empty: '',
    });
  });
  it.each([NaN, Infinity, -Infinity, new Date('never')])('rejects %s with its name', (bad) => {
    expect(() => snapshot({ fine: 1, profile: { score: bad } })).toThrow(
      new TypeError('Not finite: score'),
    );
  });
  it('is copied', () => {
    const data = { plan: 'pro' };
    const copy = snapshot(data);
    data.plan = 'free';
    expect(copy).toEqual({ plan: 'pro' });
  });
  it.each(['id', 'svc_id', 'svc_email', 'email', 'unsubscribeUrl', 'subscribeUrl', 'manageUrl'])(
    'rejects the name %s, which the service would drop silently',
    (name) => {
      expect(() => snapshot({ plan: 'pro', [name]: 'x' })).toThrow(
        new TypeError(`Reserved: ${name}`),
      );
    },
  );
  it('accepts names that only resemble the reserved ones, and any name in nested objects', () => {
    const data = { ids: 1, my_email: 'x', Email: 'x', url: 'x', order: { id: 7, email: 'x' } };
    expect(snapshot(data)).toEqual(data);
  });
});

describe('the public key', () => {
  it.each(['sk_live_secret', ' sk_live_secret', 'something'])(
    'is rejected as %j, with an error that does not contain it',
    (key) => {
      expect(() => createTracker({ publicKey: key, baseUrl: '' })).toThrow(
        new TypeError('publicKey must start with pk_'),
      );
    },
  );
});

describe('the tracker on a server', () => {
  it.each([
    {},
    { publicKey: undefined, baseUrl: undefined },
    { publicKey: '', baseUrl: '' },
    { proxy: true, baseUrl: undefined },
    undefined,
  ])('emits no warning if variables are not set yet: %j', async (options) => {
    // A build that prerenders pages does not have the browser's variables.
    const { outcome } = createTracker(options as never).track('viewed');
    expect(await outcome).toEqual({ status: 'dropped', reason: 'server' });
  });
  it('does nothing, without a warning', async () => {
    const { id, outcome } = tracker.track('viewed');
    expect(id).toMatch(/^postreel:/);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'server' });
    tracker.identify('ann@example.com');
    tracker.consent.grant();
    await tracker.reset();
    tracker.pause();
    tracker.resume();
    expect(await tracker.flush({ timeout: 1 })).toBe(true);
    tracker.dispose();
    expect(tracker.pending).toBe(0);
  });
  it('keeps no process alive', async () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    await tracker.track('viewed').outcome;
    expect(setTimer).not.toHaveBeenCalled();
    setTimer.mockRestore();
  });
  it('touches no global that a server may have as well', async () => {
    const touched: string[] = [];
    const names = ['localStorage', 'indexedDB', 'navigator', 'addEventListener', 'fetch'];
    for (const name of names) {
      vi.stubGlobal(name, undefined);
      Object.defineProperty(globalThis, name, { get: () => touched.push(name) });
    }
    const other = createTracker({
      proxy: true,
      baseUrl: 'https://service.test',
      email: 'ann@example.com',
    });
    await other.track('viewed').outcome;
    await other.reset();
    other.consent.grant();
    await other.consent.deny();
    await other.flush({ timeout: 1 });
    other.dispose();
    vi.unstubAllGlobals();
    expect(touched).toEqual([]);
  });
});

describe('the wait after a failure', () => {
  it.each([
    ['30', 30_000],
    [new Date(Date.now() + 60_000).toUTCString(), 60_000],
    ['86400', 300_000],
    [new Date('2099-01-01').toUTCString(), 300_000],
  ])('follows Retry-After %s, up to five minutes', (text, expected) => {
    expect(Math.abs(delayOf(text, 0, Date.now()) - expected)).toBeLessThan(2000);
  });
  it.each(['null', '', 'soon', '-5', new Date(0).toUTCString()])('doubles for %j', (text) => {
    for (let failures = 0; failures < 12; failures++) {
      const full = Math.min(300_000, 1000 * 2 ** failures);
      const delayMs = delayOf(text, failures, Date.now());
      expect(delayMs).toBeGreaterThanOrEqual(full / 2);
      expect(delayMs).toBeLessThanOrEqual(full);
    }
  });
});
