import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PendingEvent, Tracker, TrackerNotices, TrackerOptions } from 'postreel/tracker';
import { stamp } from 'postreel/tracker/extras';
import { fakePage, acceptedResponse } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage>;
beforeEach(() => {
  page = fakePage();
});
afterEach(() => page.close());

/** Collects the details of one notice. */
function notices<Notice extends keyof TrackerNotices>(tracker: Tracker, notice: Notice) {
  const details: TrackerNotices[Notice][] = [];
  tracker.on(notice, (detail) => details.push(detail));
  return details;
}

const events = () => page.sent.map(({ body }) => body.event);

describe('a tracker', () => {
  it('resolves the outcome of a waiting event to `queued`', async () => {
    const tracker = page.start();
    tracker.pause();
    const { outcome } = tracker.track('x');
    await page.pass(10_000);
    expect(await outcome).toEqual({ status: 'queued' });
  });
  it('drops events above maxQueue or maxBytes', async () => {
    const full = page.start({ maxQueue: 2 });
    full.pause();
    full.track('a');
    full.track('b');
    expect(await full.track('c').outcome).toMatchObject({ reason: 'overflow' });
    const small = page.start({ maxBytes: 1000 });
    expect(await small.track('d', { text: 'x'.repeat(1000) }).outcome).toMatchObject({
      reason: 'overflow',
    });
  });
  it('drops events older than maxAge, but none because the clock was reset', async () => {
    const tracker = page.start({ maxAge: 60_000 });
    const dropped = notices(tracker, 'dropped');
    tracker.pause();
    tracker.track('old');
    vi.setSystemTime(new Date('1970-01-02'));
    tracker.track('unset');
    vi.setSystemTime(new Date('2026-11-21T11:00:00Z'));
    tracker.resume();
    await page.pass(2000);
    expect(dropped).toMatchObject([{ event: 'old', reason: 'expired' }]);
    expect(events()).toEqual(['unset']);
  });
  it.each([
    [60_000, 60_000],
    [undefined, 86_400_000],
  ])('reads a maxAge of %s as %i ms', async (maxAge, ms) => {
    const tracker = page.start(maxAge === undefined ? {} : { maxAge });
    tracker.pause();
    tracker.track('too old');
    vi.setSystemTime(Date.now() + 1);
    tracker.track('just in time');
    vi.setSystemTime(Date.now() + ms);
    tracker.resume();
    await page.pass(0);
    expect(events()).toEqual(['just in time']);
  });
  it('counts events as taken, delivered and dropped, by reason', async () => {
    const tracker = page.start({ maxQueue: 2 });
    for (const name of ['a', 'b', 'c', 'd']) {
      tracker.track(name);
    }
    await page.pass(0);
    expect(tracker.stats()).toEqual({ taken: 2, delivered: 2, overflow: 2 });
  });
  it('filters and changes events with beforeSend', async () => {
    const tracker = page.start({
      beforeSend: (event) => (event.event === 'secret' ? null : { ...event, data: { a: 1 } }),
    });
    expect(await tracker.track('secret').outcome).toMatchObject({ reason: 'filtered' });
    tracker.track('open');
    await page.pass(0);
    expect(page.sent.map(({ body }) => body.data)).toEqual([{ a: 1 }]);
  });
  it('holds events in memory until consent, then stores and sends them', async () => {
    const tracker = page.start({ consent: 'pending' });
    tracker.track('x');
    await page.pass(1000);
    expect([page.sent, Object.keys(page.storage)]).toEqual([[], []]);
    tracker.consent.grant();
    expect(Object.keys(page.storage).sort()).toEqual([
      expect.stringMatching(/^postreel:test:1/),
      'postreel:test:consent',
    ]);
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
  it.each([undefined, null])('waits for consent if the answer is %s', async (answer) => {
    const tracker = page.start({ consent: answer } as unknown as TrackerOptions);
    tracker.track('x');
    await page.pass(1000);
    expect([page.sent, Object.keys(page.storage)]).toEqual([[], []]);
    tracker.consent.grant();
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
  it.each([
    ['consnet', 'consnet is not an option. Did you mean consent?'],
    ['maxage', 'maxage is not an option. Did you mean maxAge?'],
    ['optOut', 'optOut is not an option'],
  ])('refuses the unknown option %s by its name', (name, message) => {
    expect(() => page.start({ [name]: 'pending' })).toThrow(new TypeError(message));
  });
  it('refuses an unknown part of an option', () => {
    const limit = { perSecond: 1, burst: 1, brust: 2 };
    expect(() => page.start({ limit })).toThrow('brust is not an option. Did you mean burst?');
  });
  it('erases every stored event when consent is denied, also those of other tabs', async () => {
    const other = page.start();
    other.pause();
    other.track('other');
    const tracker = page.start();
    tracker.pause();
    const { outcome } = tracker.track('own');
    void tracker.consent.deny();
    await page.pass(5000);
    expect(JSON.stringify(page.storage)).not.toMatch(/ann@example|other|own"/);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'denied' });
    expect(await tracker.track('late').outcome).toMatchObject({ reason: 'denied' });
  });
  it('forgets the contact and every event on reset()', async () => {
    const tracker = page.start();
    tracker.pause();
    const { outcome } = tracker.track('x');
    void tracker.reset();
    await page.pass(5000);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'reset' });
    expect(JSON.stringify(page.storage)).not.toContain('ann@example.com');
  });
  it('honours Global Privacy Control by default', async () => {
    vi.stubGlobal('navigator', { onLine: true, globalPrivacyControl: true });
    expect(await page.start().track('x').outcome).toMatchObject({ reason: 'gpc' });
    page.start({ honorGpc: false }).track('y');
    await page.pass(0);
    expect(events()).toEqual(['y']);
  });
});

describe('an event', () => {
  /** Mimics a reactive store of Vue or MobX, whose objects structuredClone() cannot copy. */
  const reactive = <Data extends object>(data: Data): Data =>
    new Proxy(data, {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver);
        const isNested = typeof value === 'object' && value !== null && !(value instanceof Date);
        return isNested ? reactive(value) : value;
      },
    });

  it.each([
    ['a plain object', <Data extends object>(data: Data) => data],
    ['the proxy of a store', reactive],
    [
      'an object with a function',
      <Data extends object>(data: Data) => ({ ...data, save: () => 1 }),
    ],
  ])('is copied by track() if its data are %s', async (_, wrap) => {
    const state = { cart: { items: [{ sku: 'a' }] }, at: new Date(0) };
    for (const options of [{}, { consent: 'pending' }] as const) {
      const tracker = page.start(options);
      tracker.track('x', wrap(state));
      state.cart.items[0]!.sku = 'b';
      state.cart.items.push({ sku: 'c' });
      state.at.setTime(1e12);
      tracker.consent.grant();
      await page.pass(100);
      expect(page.sent.at(-1)?.body.data).toEqual({
        cart: { items: [{ sku: 'a' }] },
        at: '1970-01-01T00:00:00.000Z',
      });
      state.cart.items = [{ sku: 'a' }];
      state.at.setTime(0);
    }
  });
  it('is passed to beforeSend as a copy, with its dates', async () => {
    const data = { at: new Date(0), list: [1] };
    const beforeSend = (event: PendingEvent) => {
      (event.data as typeof data).list.push(2);
      return { ...event, data: { year: (event.data as typeof data).at.getUTCFullYear() } };
    };
    page.start({ beforeSend }).track('x', data);
    await page.pass(0);
    expect([page.sent[0]?.body.data, data.list]).toEqual([{ year: 1970 }, [1]]);
  });
  it('keeps what toJSON() returned at the time of track()', async () => {
    const price = { amount: 5, toJSON: () => ({ eur: price.amount }) };
    const tracker = page.start({ consent: 'pending' });
    tracker.track('x', { price } as never);
    price.amount = 6;
    tracker.consent.grant();
    await page.pass(0);
    expect(page.sent[0]?.body.data).toEqual({ price: { eur: 5 } });
  });
  it('is dropped at once, with a warning, if it cannot be copied', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const data: Record<string, unknown> = {};
    data['self'] = data;
    const { outcome } = page.start({ consent: 'pending' }).track('x', data as never);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'invalid' });
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });
  it.each([
    ['consent', { consent: 'pending' }],
    ['nothing', {}],
  ] as const)('is stamped with the time of track() if it waits for %s', async (_, options) => {
    const tracker = page.start({ ...options, beforeSend: stamp });
    const timestamp = new Date().toISOString();
    tracker.track('x');
    await page.pass(60_000);
    tracker.consent.grant();
    await page.pass(0);
    expect(page.sent[0]?.body.data).toMatchObject({ timestamp: { value: timestamp } });
  });
  it('is stamped with the time of track() if the page is shown later', async () => {
    const document = Object.assign(new EventTarget(), { prerendering: true });
    vi.stubGlobal('document', document);
    const timestamp = new Date().toISOString();
    page.start({ beforeSend: stamp }).track('x');
    await page.pass(60_000);
    document.prerendering = false;
    document.dispatchEvent(new Event('prerenderingchange'));
    await page.pass(0);
    expect(page.sent[0]?.body.data).toMatchObject({ timestamp: { value: timestamp } });
  });
});

describe('flush()', () => {
  /** Resolves to the result if it is there without any time passing. */
  const atOnce = async (flushed: Promise<boolean>) => {
    await page.pass(0);
    return Promise.race([flushed, Promise.resolve('still waits')]);
  };

  it.each<[string, Partial<TrackerOptions>, (tracker: Tracker) => void]>([
    ['without a contact', { email: '' }, () => undefined],
    ['without consent', { consent: 'pending' }, () => undefined],
    ['while paused', {}, (tracker) => tracker.pause()],
    ['when the rate limit is used up', { limit: { perSecond: 1, burst: 0 } }, () => undefined],
    ['after dispose()', { email: '' }, (tracker) => tracker.dispose()],
  ])('is false at once %s', async (_, options, change) => {
    const tracker = page.start(options);
    tracker.track('x');
    change(tracker);
    expect(await atOnce(tracker.flush())).toBe(false);
    await page.pass(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
  it('is false as soon as only events without a contact are left', async () => {
    const tracker = page.start({ email: '' });
    tracker.track('waits');
    tracker.track('goes', {}, { email: 'ann@example.com' });
    expect(await atOnce(tracker.flush())).toBe(false);
    expect(events()).toEqual(['goes']);
  });
  it('is false as soon as a 401 pauses the tracker', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    page.reply = () => new Response('', { status: 401 });
    const tracker = page.start();
    tracker.track('x');
    expect(await atOnce(tracker.flush())).toBe(false);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('answers 401')]]);
  });
  it('is false at once while the service has asked for a longer wait', async () => {
    page.reply = () => new Response('', { status: 429, headers: { 'Retry-After': '60' } });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(0);
    expect(await atOnce(tracker.flush())).toBe(false);
    const long = tracker.flush({ timeout: 120_000 });
    expect(await atOnce(long)).toBe('still waits');
    page.reply = acceptedResponse;
    await page.pass(70_000);
    expect(await long).toBe(true);
  });
  it('waits for an open request, also while paused', async () => {
    let answer: (response: Response) => void = () => undefined;
    page.reply = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(0);
    tracker.pause();
    const flushed = tracker.flush();
    expect(await atOnce(flushed)).toBe('still waits');
    answer(acceptedResponse());
    await page.pass(0);
    expect(await flushed).toBe(true);
  });
  it('is true at once after reset() and deny()', async () => {
    const tracker = page.start();
    page.reply = () => new Promise(() => undefined);
    tracker.track('x');
    await page.pass(0);
    const flushed = tracker.flush();
    await tracker.reset();
    expect(await atOnce(flushed)).toBe(true);
  });
  it('waits for the events that a page is currently taking over', async () => {
    const tracker = page.start();
    tracker.pause();
    tracker.track('x');
    page.events.dispatchEvent(new Event('pagehide'));
    page.events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    tracker.resume();
    await page.pass(0);
    const flushed = tracker.flush();
    await page.pass(1000);
    expect(await flushed).toBe(true);
  });
});

describe('a running tracker', () => {
  it('flushes, and gives up after the timeout', async () => {
    const tracker = page.start();
    tracker.track('x');
    const flushed = tracker.flush();
    await page.pass(1000);
    expect(await flushed).toBe(true);
    tracker.pause();
    tracker.track('y');
    const late = tracker.flush({ timeout: 100 });
    await page.pass(100);
    expect(await late).toBe(false);
  });
  it('does nothing once it is disposed', async () => {
    const tracker = page.start();
    tracker.pause();
    tracker.track('x');
    tracker.dispose();
    tracker.resume();
    page.events.dispatchEvent(new Event('pagehide'));
    page.events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    await page.pass(600_000);
    expect(page.sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
  it('ignores foreign entries under its prefix', async () => {
    page.storage['postreel:test:broken'] = '{';
    page.start().track('x');
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
  it('has no timer when no event is left to send', async () => {
    page.start().track('x');
    await page.pass(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
  it('survives listeners that throw', async () => {
    const rejected = new Promise((resolve) => process.once('unhandledRejection', resolve));
    const others = process.listeners('unhandledRejection').slice(0, -1);
    for (const other of others) {
      process.off('unhandledRejection', other);
    }
    const tracker = page.start();
    const stop = tracker.on('delivered', () => {
      throw new Error('of the host');
    });
    tracker.track('a');
    await page.pass(1000);
    stop();
    tracker.track('b');
    await page.pass(1000);
    expect(events()).toEqual(['a', 'b']);
    expect(await rejected).toEqual(new Error('of the host'));
    for (const other of others) {
      process.on('unhandledRejection', other);
    }
  });
});
