import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTracker } from 'postreel/tracker';
import {
  type NativeStorage,
  type NativeTrackerOptions,
  createNativeTracker,
} from 'postreel/tracker/native';

let store: Map<string, string>;
let sent: { event: string; data?: { n: number } }[];
let reply: () => Response | Promise<Response>;
/** Simulates the life cycle of the app. */
let app: { leave: () => void; comeBack: () => void; isStopped: boolean };
beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-22T10:00:00Z') });
  store = new Map();
  sent = [];
  reply = () => Response.json({ success: true });
});
afterEach(() => {
  vi.useRealTimers();
});

const storage: NativeStorage = {
  keys: () => [...store.keys()],
  get: (key) => store.get(key) ?? null,
  set: (key, value) => void store.set(key, value),
  remove: (key) => void store.delete(key),
};

const launch = (changes: Partial<NativeTrackerOptions> = {}) =>
  createNativeTracker({
    publicKey: 'pk_test',
    namespace: 'app',
    baseUrl: 'https://service.test',
    email: 'ann@example.com',
    storage,
    onExit: (leave, comeBack) => {
      app = { leave, comeBack, isStopped: false };
      return () => {
        app.isStopped = true;
      };
    },
    fetch: (_, init) => {
      sent.push(JSON.parse(init!.body as string) as (typeof sent)[0]);
      return Promise.resolve(reply());
    },
    ...changes,
  });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const events = () => sent.map(({ event }) => event);

describe('the native tracker, without document, window and localStorage', () => {
  it('is a server to the tracker for browsers', async () => {
    const tracker = createTracker({ publicKey: 'pk_test', baseUrl: 'https://service.test' });
    expect(await tracker.track('x').outcome).toEqual({ status: 'dropped', reason: 'server' });
  });
  it('delivers in order, and leaves nothing stored', async () => {
    const tracker = launch();
    const outcomes = ['a', 'b', 'c'].map((name) => tracker.track(name).outcome);
    expect(store.size).toBe(3);
    await pass(0);
    expect(events()).toEqual(['a', 'b', 'c']);
    expect(await outcomes[2]).toMatchObject({ status: 'delivered' });
    expect([store.size, tracker.stats()]).toEqual([0, { taken: 3, delivered: 3 }]);
  });
  it('keeps events if the app is killed, and sends them once', async () => {
    launch({ hasNetwork: () => false }).track('a');
    // A new launch: only the store is left.
    const tracker = launch();
    await pass(0);
    expect(events()).toEqual(['a']);
    launch();
    await pass(5000);
    expect([events(), tracker.pending, store.size]).toEqual([['a'], 0, 0]);
  });
  it.each([
    ['no-duplicates', 1],
    ['no-loss', 2],
  ] as const)(
    'with %s sends an event that was in flight in a killed app %i times',
    async (delivery, n) => {
      reply = () => new Promise(() => undefined);
      launch({ delivery }).track('a');
      await pass(0);
      reply = () => Response.json({ success: true });
      launch({ delivery });
      await pass(5000);
      expect(events()).toHaveLength(n);
    },
  );
  it('waits while the app reports that it is offline', async () => {
    let isOnline = false;
    launch({ hasNetwork: () => isOnline }).track('a');
    await pass(50_000);
    expect(sent).toEqual([]);
    isOnline = true;
    await pass(10_000);
    expect(events()).toEqual(['a']);
  });
});

describe('the life of the app', () => {
  it('hands over waiting events when the app is left, and continues when it comes back', async () => {
    const tracker = launch({ limit: { perSecond: 5, burst: 1 } });
    for (let n = 0; n < 25; n++) {
      tracker.track('x', { n });
    }
    app.leave();
    await pass(0);
    expect(sent.length).toBe(25);
    app.comeBack();
    await pass(60_000);
    expect(sent.map(({ data }) => data?.n).sort((one, other) => one! - other!)).toEqual(
      Array.from({ length: 25 }, (_, n) => n),
    );
  });
  it('may report a return without an exit before it', async () => {
    const tracker = launch();
    app.comeBack();
    tracker.track('x');
    app.comeBack();
    await pass(5000);
    expect(events()).toEqual(['x']);
  });
  it('ends with dispose()', () => {
    launch().dispose();
    expect(app.isStopped).toBe(true);
  });
  it('ends with dispose(), but an open request continues', async () => {
    let answer: (response: Response) => void = () => undefined;
    reply = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const old = launch();
    old.track('a');
    await pass(0);
    old.dispose();
    const next = launch();
    await pass(5000);
    reply = () => Response.json({ success: true });
    answer(new Response('', { status: 503 }));
    await pass(10_000);
    expect([events(), next.stats(), store.size]).toEqual([['a', 'a'], { delivered: 1 }, 0]);
  });
  it('may be unknown', async () => {
    const fetch = () => Promise.resolve(reply());
    const options = { publicKey: 'pk_test', baseUrl: 'https://service.test', storage, fetch };
    const { outcome } = createNativeTracker(options).track('x', {}, { email: 'ann@example.com' });
    await pass(0);
    expect(await outcome).toMatchObject({ status: 'delivered' });
  });
});

describe('consent and logout', () => {
  it('stores nothing before consent', async () => {
    const tracker = launch({ consent: 'pending' });
    tracker.track('x');
    await pass(1000);
    expect([sent, store.size]).toEqual([[], 0]);
    tracker.consent.grant();
    await pass(1000);
    expect(events()).toEqual(['x']);
  });
  it('waits for consent if the answer is undefined', async () => {
    const app = launch({ consent: undefined } as unknown as NativeTrackerOptions);
    app.track('x');
    await pass(1000);
    expect([events(), app.pending]).toEqual([[], 1]);
  });
  it('erases the events of earlier launches', async () => {
    launch({ hasNetwork: () => false }).track('x');
    await launch({ hasNetwork: () => false }).reset();
    launch();
    await pass(60_000);
    expect([sent, JSON.stringify([...store])]).toEqual([[], expect.not.stringContaining('ann@')]);
  });
  it('takes no events after deny()', async () => {
    const tracker = launch();
    await tracker.consent.deny();
    expect(await tracker.track('x').outcome).toMatchObject({ reason: 'denied' });
  });
});

describe('the store', () => {
  it('keeps an event in memory if it has no room', async () => {
    const full: NativeStorage = {
      ...storage,
      set: () => {
        throw new Error('no room');
      },
    };
    launch({ storage: full }).track('x');
    await pass(0);
    expect(events()).toEqual(['x']);
  });
  it('keeps foreign entries', async () => {
    store.set('session', 'abc');
    store.set('postreel:app:junk', 'null');
    launch().track('x');
    await pass(5000);
    expect(Object.fromEntries(store)).toEqual({ session: 'abc', 'postreel:app:junk': 'null' });
  });
  it('may be `memory`', async () => {
    launch({ storage: 'memory' }).track('x');
    await pass(0);
    expect([events(), store.size]).toEqual([['x'], 0]);
  });
});

describe('an unsupported option', () => {
  it.each<[string, unknown, string]>([
    ['a store without methods', { storage: {} }, 'storage needs keys, get, set, remove'],
    ['no store', { storage: undefined }, 'storage needs keys, get, set, remove'],
    [
      'a store that answers later',
      { storage: { ...storage, keys: () => Promise.resolve([]) } },
      'storage must answer at once, not with a promise',
    ],
    [
      'the stores of browsers',
      { storage: 'durable' },
      "storage: 'durable' is for browsers: give a store, or 'memory'",
    ],
    ['Global Privacy Control', { honorGpc: true }, 'honorGpc is for browsers: set consent'],
    ['a typo', { hasNetwrok: () => true }, 'hasNetwrok is not an option. Did you mean hasNetwork?'],
    ['a secret key', { publicKey: 'sk_live' }, 'publicKey must start with pk_'],
  ])('is rejected with a clear error: %s', (_, changes, message) => {
    // Plain JavaScript.
    expect(() => launch(changes as Partial<NativeTrackerOptions>)).toThrow(new TypeError(message));
  });
});
