import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type PendingEvent, createTracker } from 'postreel/tracker';
import { fakePage, acceptedResponse } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage>;
beforeEach(() => {
  page = fakePage();
});
afterEach(() => page.close());

const events = () => page.sent.map(({ body }) => body.event);
const leave = () => page.events.dispatchEvent(new Event('pagehide'));

describe('a window that closes itself', () => {
  it('never repeats a request that failed because of the closing', async () => {
    const tracker = page.start();
    page.reply = () => {
      vi.stubGlobal('closed', true);
      return Promise.reject(new TypeError('Failed to fetch'));
    };
    const { outcome } = tracker.track('x');
    tracker.track('y');
    await page.pass(600);
    expect(await outcome).toEqual({ status: 'unconfirmed' });
    page.reply = acceptedResponse;
    leave();
    await page.pass(0);
    expect(events().filter((event) => event === 'x')).toHaveLength(1);
    expect(events()).toContain('y');
  });
});

describe('a browser that is killed', () => {
  it('has not recorded the failure of requests that ended just before their page', async () => {
    const tracker = page.start();
    page.reply = () => Promise.reject(new TypeError('Failed to fetch'));
    const { id } = tracker.track('x');
    const stored = () => JSON.parse(page.storage[id] ?? '{}') as object;
    await page.pass(450);
    expect(stored()).toMatchObject({ event: 'x', isHandedOver: true });
    await page.pass(100);
    expect(stored()).toMatchObject({ event: 'x', tries: 1 });
    expect(stored()).not.toHaveProperty('isHandedOver');
  });
});

describe('a tracker', () => {
  it('sends no event tracked before consent when the tracker is disposed of', async () => {
    const tracker = page.start({ consent: 'pending' });
    tracker.track('x');
    tracker.dispose();
    await page.pass(60_000);
    expect([page.sent, Object.keys(page.storage)]).toEqual([[], []]);
  });
  it('erases everything from localStorage before reset() returns', () => {
    const tracker = page.start();
    tracker.pause();
    tracker.track('x');
    void tracker.reset();
    expect(JSON.stringify(page.storage)).not.toContain('ann@example.com');
  });
  it('forgets the contact with reset(): later events wait for another one', async () => {
    const tracker = page.start();
    await tracker.reset();
    tracker.track('x');
    await page.pass(1000);
    expect(page.sent).toEqual([]);
    tracker.identify('bob@example.com');
    await page.pass(1000);
    expect(page.sent.map(({ body }) => body.email)).toEqual(['bob@example.com']);
  });
  it('forgets the contact with deny(): after a grant(), events wait for another one', async () => {
    const tracker = page.start();
    await tracker.consent.deny();
    tracker.consent.grant();
    tracker.track('x');
    await page.pass(1000);
    expect(page.sent).toEqual([]);
    tracker.identify('bob@example.com');
    await page.pass(1000);
    expect(page.sent.map(({ body }) => body.email)).toEqual(['bob@example.com']);
  });
  it('counts an event tracked in the millisecond of a reset() as later', () => {
    const tracker = page.start();
    tracker.pause();
    void tracker.reset();
    const { id } = tracker.track('x', {}, { email: 'bob@example.com' });
    const stored = JSON.parse(page.storage[id] ?? '{}') as { at?: number };
    expect(stored.at).toBeGreaterThan(Date.now()); // otherwise the next page would treat it as erased
  });
  it('hands over nothing at the end of a page whose events another tab has erased', async () => {
    const [one, other] = [page.start(), page.start()];
    one.pause();
    one.track('x');
    await other.reset();
    one.resume();
    leave();
    await page.pass(0);
    expect(page.sent).toEqual([]);
  });
  it('stops the other tabs when consent is denied', async () => {
    const [one, other] = [page.start(), page.start()];
    await page.pass(1000);
    await other.consent.deny();
    expect(await one.track('x').outcome).toMatchObject({ reason: 'denied' });
  });
  it('binds events to the first contact that is identified next, and to no later one', async () => {
    const tracker = page.start({ email: '' });
    tracker.pause();
    tracker.track('x');
    tracker.identify('ann@example.com');
    tracker.identify('bob@example.com');
    tracker.resume();
    await page.pass(1000);
    expect(page.sent.map(({ body }) => body.email)).toEqual(['ann@example.com']);
  });
  it('lets events without a contact expire, so that they do not fill the queue', async () => {
    const tracker = page.start({ email: '', maxAge: 1_800_000, maxQueue: 1 });
    tracker.track('old');
    vi.setSystemTime(Date.now() + 1_800_001);
    tracker.track('new', {}, { email: 'ann@example.com' });
    await page.pass(1000);
    expect(events()).toEqual(['new']);
  });
  it('waits until a prerendered page is shown', async () => {
    const document = Object.assign(new EventTarget(), { prerendering: true });
    vi.stubGlobal('document', document);
    page.start().track('x');
    await page.pass(5000);
    expect(page.sent).toEqual([]);
    document.prerendering = false;
    document.dispatchEvent(new Event('prerenderingchange'));
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
});

describe('a response that is not the service’s', () => {
  it.each([
    ['success: false', () => new Response('{"success":false}')],
    ['a page for offline times', () => new Response('<!doctype html>')],
  ])('does not count as a delivery if it is %s', async (_, reply) => {
    page.reply = reply;
    const tracker = page.start();
    tracker.track('x');
    await page.pass(100);
    expect(tracker.pending).toBe(1);
  });
  it('is not fetched by following a redirect', async () => {
    page.start().track('x');
    await page.pass(0);
    expect(page.sent[0]?.init.redirect).toBe('manual');
  });
  it('ends an event after three attempts', async () => {
    page.reply = () => Promise.reject(new TypeError('no CORS'));
    const tracker = page.start();
    const { outcome } = tracker.track('x');
    await page.pass(3_600_000);
    expect(page.sent).toHaveLength(3);
    expect([tracker.stats(), tracker.pending]).toEqual([{ taken: 1, unconfirmed: 1 }, 0]);
    expect(await outcome).toEqual({ status: 'queued' }); // the outcome settles after ten seconds
  });
  it('does not use up the last attempt during an outage of a few minutes', async () => {
    page.reply = () => new Response('', { status: 500 });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(290_000);
    expect(page.sent).toHaveLength(2);
    page.reply = acceptedResponse;
    await page.pass(20_000);
    expect(tracker.stats()).toEqual({ taken: 1, delivered: 1 });
  });
  it('never causes a repeat with retryAmbiguous: false', async () => {
    page.reply = () => Promise.reject(new TypeError('no CORS'));
    const { outcome } = page.start({ retryAmbiguous: false }).track('x');
    await page.pass(3_600_000);
    expect(page.sent).toHaveLength(1);
    expect(await outcome).toEqual({ status: 'unconfirmed' });
  });
});

describe('a request that neither ends nor reacts to its signal', () => {
  // WebKit leaves such requests when a page is restored from the back/forward cache.
  const neverAnswer = () => new Promise<never>(() => undefined);

  it('counts as unconfirmed after a minute, and the next event is sent', async () => {
    const fetch = vi.fn(neverAnswer);
    const tracker = page.start({ fetch });
    tracker.track('x');
    await page.pass(59_000);
    expect([tracker.pending, fetch.mock.calls.length]).toEqual([1, 1]);
    tracker.track('y');
    await page.pass(2_000);
    expect(tracker.stats()).toEqual({ taken: 2, unconfirmed: 1 });
    expect([tracker.pending, fetch.mock.calls.length]).toEqual([1, 2]);
  });
  it('is made again after a minute with no-loss', async () => {
    const fetch = vi.fn<typeof globalThis.fetch>(neverAnswer);
    const tracker = page.start({ fetch, delivery: 'no-loss' });
    tracker.track('x');
    await page.pass(59_000);
    fetch.mockImplementation(() => Promise.resolve(acceptedResponse()));
    await page.pass(5_000);
    expect([tracker.pending, fetch.mock.calls.length]).toEqual([0, 2]);
    expect(fetch.mock.calls[0]?.[1]?.signal?.aborted).toBe(true);
  });
  it('ends even if only the body of its response is missing', async () => {
    const body = new ReadableStream();
    const tracker = page.start({ fetch: () => Promise.resolve(new Response(body)) });
    tracker.track('x');
    await page.pass(61_000);
    expect(tracker.stats()).toEqual({ taken: 1, unconfirmed: 1 });
  });
});

describe('a failed event', () => {
  it('does not hold back other tabs after a failure that is not a 429', async () => {
    page.reply = () => Promise.reject(new TypeError('blocked by a policy'));
    page.start().track('x');
    await page.pass(0);
    page.reply = acceptedResponse;
    page.start().track('y');
    await page.pass(0);
    expect(events()).toEqual(['x', 'y']);
  });
  it('does not hold back other events if it always fails', async () => {
    const tracker = page.start();
    page.reply = () =>
      page.sent.at(-1)?.body.event === 'poison'
        ? new Response('', { status: 500 })
        : acceptedResponse();
    tracker.track('poison');
    tracker.track('fine');
    await page.pass(30_000);
    expect(events()).toContain('fine');
  });
  it('waits for Retry-After even if it is flushed', async () => {
    page.reply = () => new Response('', { status: 429, headers: { 'Retry-After': '60' } });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(0);
    void tracker.flush();
    await page.pass(50_000);
    expect(page.sent).toHaveLength(1);
  });
});

describe('the end of the page', () => {
  it('hands over the events that the page tracks during it', async () => {
    const tracker = page.start();
    await page.pass(1000);
    leave();
    tracker.track('goodbye');
    await page.pass(0);
    expect(events()).toEqual(['goodbye']);
  });
  it('repeats no request that fails after it', async () => {
    let fail: (error: Error) => void = () => undefined;
    page.reply = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    page.start().track('x');
    await page.pass(0);
    leave();
    page.events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    fail(new TypeError('reset'));
    page.reply = acceptedResponse;
    await page.pass(600_000);
    expect(page.sent).toHaveLength(1);
  });
});

describe('the options', () => {
  it('accept an address with a slash at its end', async () => {
    page.start({ baseUrl: 'https://service.test/' }).track('x');
    await page.pass(0);
    expect(page.sent[0]?.url).toBe('https://service.test/v1/track');
  });
  it.each(['30', '30m', 'soon', NaN, -1])('reject a maxAge of %s', (maxAge) => {
    expect(() => page.start({ maxAge: maxAge as number })).toThrow(TypeError);
  });
  it('need proxy: true if there is no key', () => {
    expect(() => createTracker({ publicKey: undefined, baseUrl: '/collect' })).toThrow(
      new TypeError('publicKey is missing: is its variable set?'),
    );
  });
  it('reject a missing address', () => {
    // An environment variable that is not set, in plain JavaScript.
    const baseUrl = undefined as unknown as string;
    expect(() => createTracker({ publicKey: 'pk_test', baseUrl })).toThrow(
      new TypeError('baseUrl is missing'),
    );
  });
  it('keep two projects on one origin apart', async () => {
    const one = createTracker({ publicKey: 'pk_one', baseUrl: 'https://one.test', email: 'a@b.c' });
    one.pause();
    one.track('x');
    one.dispose();
    page.start({ namespace: 'other' });
    await page.pass(120_000);
    expect(page.sent).toEqual([]);
  });
  it('keep two projects apart even if their namespace is empty', async () => {
    const one = page.start({ publicKey: 'pk_one', namespace: '' });
    one.pause();
    one.track('x');
    one.dispose();
    page.start({ publicKey: 'pk_two', namespace: '' });
    await page.pass(120_000);
    expect(page.sent).toEqual([]);
  });
  it('work with an entry `null` under the prefix', async () => {
    page.storage['postreel:test:null'] = 'null';
    page.start().track('x');
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
});

describe('a denial', () => {
  const keys = () => Object.keys(page.storage);
  const deny = async () => {
    await page.start().consent.deny();
    await page.pass(0);
  };

  it('survives a reset() in another tab', async () => {
    const [one, other] = [page.start(), page.start()];
    await page.pass(0);
    await one.consent.deny();
    await other.reset();
    const outcomes = [one, other].map(
      (tracker) => tracker.track('x', {}, { email: 'a@b.c' }).outcome,
    );
    expect(await Promise.all(outcomes)).toMatchObject([{ reason: 'denied' }, { reason: 'denied' }]);
    await page.pass(10_000);
    expect(page.sent).toEqual([]);
  });
  it('survives localStorage.clear() in any tab', async () => {
    const [one, other] = [page.start(), page.start()];
    await page.pass(0);
    void one.consent.deny();
    keys().forEach((key) => Reflect.deleteProperty(page.storage, key));
    await page.pass(0);
    expect(await other.track('x').outcome).toMatchObject({ reason: 'denied' });
    expect(keys()).toEqual(['postreel:test:consent']);
  });
  it('applies to a tab that keeps events in memory', async () => {
    const memory = page.start({ storage: 'memory' });
    await page.pass(0);
    await deny();
    expect(await memory.track('x').outcome).toMatchObject({ reason: 'denied' });
    expect(await page.start({ storage: 'memory' }).track('x').outcome).toMatchObject({
      reason: 'denied',
    });
  });
  it('by a tab that keeps events in memory erases those of earlier visits', async () => {
    const earlier = page.start();
    earlier.pause();
    earlier.track('x');
    earlier.dispose();
    await page.start({ storage: 'memory' }).consent.deny();
    expect(keys()).toEqual(['postreel:test:consent']);
  });
  it.each(['granted', undefined] as const)(
    'is not undone by a later visit: %s',
    async (consent) => {
      await deny();
      vi.setSystemTime(Date.now() + 30 * 86_400_000);
      const next = page.start(consent ? { consent } : {});
      expect(await next.track('x').outcome).toMatchObject({ reason: 'denied' });
    },
  );
  it('is undone by grant(), in every tab', async () => {
    const [one, other] = [page.start(), page.start()];
    await page.pass(0);
    await one.consent.deny();
    await page.pass(0);
    other.consent.grant();
    await page.pass(0);
    one.track('x', {}, { email: 'ann@example.com' });
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
  it('is undone in a page that was loaded before the grant, too', async () => {
    const other = page.start();
    await other.consent.deny();
    const late = page.start();
    expect(await late.track('x').outcome).toMatchObject({ reason: 'denied' });
    other.consent.grant();
    await page.pass(0);
    late.track('y', {}, { email: 'ann@example.com' });
    await page.pass(1000);
    expect(events()).toEqual(['y']);
  });
  it('writes one key and nothing else', async () => {
    page.start().track('x');
    await page.pass(0);
    await deny();
    expect(keys()).toEqual(['postreel:test:consent']);
  });
  it('by an option writes nothing to an empty storage', async () => {
    page.start({ consent: 'denied' }).track('x');
    await page.pass(60_000);
    expect(keys()).toEqual([]);
  });
  it.each(['reset', 'deny'])('with storage: memory, %s() erases earlier visits at once', (name) => {
    const earlier = page.start();
    earlier.pause();
    earlier.track('x');
    earlier.dispose();
    const tracker = page.start({ storage: 'memory' });
    void (name === 'reset' ? tracker.reset() : tracker.consent.deny());
    expect(JSON.stringify(page.storage)).not.toContain('ann@example.com');
  });
  it('by an option writes nothing, and erases stored events', async () => {
    const other = page.start();
    other.pause();
    other.track('x');
    await page.pass(0);
    page.start({ consent: 'denied' }).track('y');
    await page.pass(0);
    expect(JSON.stringify(page.storage)).not.toContain('event');
    other.resume();
    await page.pass(1000);
    expect(page.sent).toEqual([]);
  });
});

describe('a grant', () => {
  const waiting = (options = {}) => page.start({ consent: 'pending', ...options });

  it('reaches the other open tabs that wait for it', async () => {
    const [one, other] = [waiting(), waiting()];
    one.track('one');
    const { outcome } = other.track('other');
    await page.pass(1000);
    one.consent.grant();
    await page.pass(1000);
    expect(events()).toEqual(['one', 'other']);
    expect(await outcome).toEqual({ status: 'delivered' });
  });
  it('makes the other tabs take new events, and call their hooks', async () => {
    const seen: string[] = [];
    const beforeSend = (event: PendingEvent) => {
      seen.push(event.event);
      return event;
    };
    const [one, other] = [waiting(), waiting({ beforeSend })];
    other.track('before');
    await page.pass(0);
    expect(seen).toEqual([]);
    one.consent.grant();
    await page.pass(0);
    other.track('after');
    expect(seen).toEqual(['before', 'after']);
  });
  it('is not stored as consent: a page that waits later needs another grant', async () => {
    const one = waiting();
    one.consent.grant();
    await page.pass(1000);
    const later = waiting();
    later.track('x');
    await page.pass(5000);
    // Neither the store nor the message of another tab counts as a grant.
    expect([page.sent, later.pending]).toEqual([[], 1]);
    later.consent.grant();
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
  it('does not reach a tab of another namespace', async () => {
    const other = waiting({ namespace: 'other' });
    other.track('x');
    waiting().consent.grant();
    await page.pass(5000);
    expect([page.sent, other.pending]).toEqual([[], 1]);
  });
  it('does not undo the option `denied` of another tab', async () => {
    const other = page.start({ consent: 'denied' });
    const one = waiting();
    one.track('kept');
    one.pause();
    one.consent.grant();
    await page.pass(0);
    expect(await other.track('x').outcome).toMatchObject({ reason: 'denied' });
    one.resume();
    await page.pass(1000);
    expect(events()).toEqual(['kept']);
  });
  it('ends a stored denial in the other tabs, which send their events again', async () => {
    await page.start().consent.deny();
    const other = page.start();
    await page.pass(0);
    const one = waiting();
    one.consent.grant();
    await page.pass(0);
    other.track('x');
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
  it('that meets a denial loses, in both tabs', async () => {
    // Without a store, the tabs get each other's decisions over the channel only.
    vi.stubGlobal('localStorage', undefined);
    const [one, other] = [waiting(), page.start()];
    await page.pass(0);
    void other.consent.deny();
    vi.setSystemTime(Date.now() + 5);
    one.consent.grant();
    await page.pass(0);
    const outcomes = [one, other].map((tracker) => tracker.track('x').outcome);
    expect(await Promise.all(outcomes)).toMatchObject([{ reason: 'denied' }, { reason: 'denied' }]);
    await page.pass(5000);
    expect(page.sent).toEqual([]);
  });
  it('of an earlier version grants nothing in other tabs, and its tabs ignore the new field', async () => {
    const tab = waiting();
    tab.track('x');
    const channel = new BroadcastChannel('postreel:test:');
    const heard: unknown[] = [];
    channel.onmessage = ({ data }) => heard.push(data);
    const at = Date.now() + 1;
    const decisions = { erasedAt: 0, deniedAt: 0, grantedAt: at };
    channel.postMessage({ decisions, pausedUntil: 0 });
    await page.pass(1000);
    expect(tab.pending).toBe(1);
    tab.consent.grant();
    await page.pass(1000);
    expect(heard).toContainEqual({
      decisions: { ...decisions, grantedAt: expect.any(Number) as number },
      pausedUntil: 0,
      isGrant: true,
      owner: expect.any(String) as string,
    });
    channel.close();
  });
});

describe('a logout', () => {
  const keys = () => Object.keys(page.storage);

  it('reaches the other tabs: they wait for a contact', async () => {
    const [one, other] = [page.start(), page.start()];
    await page.pass(0);
    await one.reset();
    one.identify('bob@example.com');
    other.track('x');
    await page.pass(5000);
    expect(page.sent).toEqual([]);
    other.identify('bob@example.com');
    await page.pass(5000);
    expect(page.sent.map(({ body }) => body.email)).toEqual(['bob@example.com']);
  });
  it('drops the events that another tab holds without consent', async () => {
    const [waiting, other] = [page.start({ consent: 'pending' }), page.start()];
    const { outcome } = waiting.track('x', {}, { email: 'ann@example.com' });
    await page.pass(0);
    await other.reset();
    await page.pass(0);
    waiting.consent.grant();
    await page.pass(1000);
    expect([await outcome, page.sent]).toEqual([{ status: 'dropped', reason: 'reset' }, []]);
  });
  /** Leaves a page with one event; returns its stored entries. */
  const leaveOne = async () => {
    const tracker = page.start();
    tracker.pause();
    tracker.track('x');
    tracker.dispose();
    await page.pass(0);
    return { ...page.storage };
  };

  it('before consent is known to the next page, if an event is stored again', async () => {
    const before = await leaveOne();
    await page.start({ consent: 'pending' }).reset();
    Object.assign(page.storage, before); // the last write of a page that is being left
    page.start();
    await page.pass(5000);
    expect([page.sent, keys()]).toEqual([[], ['postreel:test:consent']]);
  });
  it('erases an event from before the clock was set back, too', async () => {
    const before = await leaveOne();
    vi.setSystemTime(Date.now() - 3_600_000);
    await page.start().reset();
    Object.assign(page.storage, before);
    page.start();
    await page.pass(5000);
    expect(page.sent).toEqual([]);
  });
  it('is written back at the end of a page that has cleared its storage', async () => {
    const tracker = page.start();
    tracker.pause();
    await page.pass(0);
    tracker.track('x');
    void tracker.reset();
    keys().forEach((key) => Reflect.deleteProperty(page.storage, key));
    leave();
    const { erasedAt } = JSON.parse(page.storage['postreel:test:consent'] ?? '{}') as {
      erasedAt?: number;
    };
    expect(erasedAt).toBeGreaterThanOrEqual(Date.now());
  });
});

describe('a namespace', () => {
  it('is compared whole: a project whose namespace begins with the same text is not touched', async () => {
    const long = page.start({ namespace: 'shop:eu' });
    long.pause();
    long.track('x');
    long.dispose();
    const short = page.start({ namespace: 'shop' });
    await short.reset();
    await page.pass(120_000);
    expect(page.sent).toEqual([]);
    expect(JSON.stringify(page.storage)).toContain('shop%3Aeu:1');
  });
});

describe('track()', () => {
  it('reads only its own keys, however many the host has', async () => {
    for (let n = 0; n < 100; n++) {
      page.storage[`host-${n}`] = 'x';
    }
    const ownKeys = vi.fn(Reflect.ownKeys);
    vi.stubGlobal('localStorage', new Proxy(page.storage, { ownKeys }));
    const tracker = page.start();
    await page.pass(5000);
    ownKeys.mockClear();
    tracker.pause();
    for (let n = 0; n < 20; n++) {
      tracker.track('x');
    }
    expect(ownKeys).not.toHaveBeenCalled();
  });
});

describe('the quota of keepalive requests', () => {
  it('is not needed in a living page: the second attempt does without it', async () => {
    page.reply = () =>
      page.sent.at(-1)?.init.keepalive
        ? Promise.reject(new TypeError('quota'))
        : acceptedResponse();
    page.start().track('x');
    await page.pass(5000);
    expect(page.sent.map(({ init }) => init.keepalive)).toEqual([true, false]);
  });
});

describe('an extended Object.prototype', () => {
  it('adds no listener', () => {
    const added = vi.spyOn(globalThis, 'addEventListener');
    Object.defineProperty(Object.prototype, 'extend', {
      value: () => 1,
      enumerable: true,
      configurable: true,
    });
    page.start();
    Reflect.deleteProperty(Object.prototype, 'extend');
    expect(added.mock.calls.map(([name]) => name)).not.toContain('extend');
  });
  it('is not read as options', async () => {
    const names = ['limit', 'proxy', 'beforeSend'];
    names.forEach((name) => Reflect.set(Object.prototype, name, () => null));
    try {
      page.start().track('x');
    } finally {
      names.forEach((name) => Reflect.deleteProperty(Object.prototype, name));
    }
    await page.pass(1000);
    expect(page.sent).toHaveLength(1);
  });
});
