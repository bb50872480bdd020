import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Tracker, type TrackerNotices, createTracker } from 'postreel/tracker';
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
  it('sends the email, the event and its data with two headers', async () => {
    const tracker = page.start();
    const { outcome } = tracker.track('signed_up', { plan: 'pro' });
    await page.pass(0);
    const [{ url, init, body }] = page.sent as [(typeof page.sent)[0]];
    expect(url).toBe('https://service.test/v1/track');
    expect(body).toEqual({ email: 'ann@example.com', event: 'signed_up', data: { plan: 'pro' } });
    expect(init).toMatchObject({ method: 'POST', keepalive: true });
    expect(init.headers).toEqual({
      Authorization: 'Bearer pk_test',
      'Content-Type': 'application/json',
    });
    expect(await outcome).toEqual({ status: 'delivered', reason: undefined });
    expect(tracker.pending).toBe(0);
  });
  it.each([undefined, 'pk_test'])(
    'sends the id and no key to a proxy, and puts the key into no name: %s',
    async (publicKey) => {
      const tracker = createTracker({
        proxy: true,
        publicKey,
        baseUrl: '/collect',
        email: 'ann@example.com',
        fetch: (url, init) => {
          page.sent.push({ url: url as string, init: init!, body: { event: '' } });
          return Promise.resolve(acceptedResponse());
        },
      });
      const delivered = notices(tracker, 'delivered');
      const { id } = tracker.track('x');
      expect(JSON.stringify(page.storage)).not.toContain('pk_test');
      await page.pass(0);
      const { url, init } = page.sent[0]!;
      expect(url).toBe('/collect/v1/track');
      expect(init.headers).toEqual({ 'Content-Type': 'application/json' });
      expect(init.body).toContain(JSON.stringify({ id }).slice(1));
      expect(JSON.stringify([init.body, delivered])).not.toContain('pk_test');
    },
  );
  it.each([true, false])('rejects a secret key, with proxy: %s', (proxy) => {
    expect(() => page.start({ proxy, publicKey: 'sk_live_secret' })).toThrow(
      new TypeError('publicKey must start with pk_'),
    );
  });
  it('keeps the order of one tab', async () => {
    const tracker = page.start();
    for (const name of ['a', 'b', 'c', 'd']) {
      tracker.track(name);
    }
    await page.pass(0);
    expect(events()).toEqual(['a', 'b', 'c', 'd']);
  });
  it('holds events back until a contact is identified', async () => {
    const tracker = createTracker({
      proxy: true,
      baseUrl: '/collect',
      fetch: () => Promise.resolve(acceptedResponse()),
    });
    const delivered = notices(tracker, 'delivered');
    tracker.track('viewed');
    tracker.track('named', {}, { email: 'bob@example.com' });
    await page.pass(1000);
    expect(delivered.map(({ event }) => event)).toEqual(['named']);
    tracker.identify('ann@example.com');
    await page.pass(1000);
    expect(delivered.map(({ event }) => event)).toEqual(['named', 'viewed']);
  });
  it('limits the rate of a burst: the events above it wait', async () => {
    const tracker = page.start({ limit: { perSecond: 5, burst: 20 } });
    for (let n = 0; n < 40; n++) {
      tracker.track('x');
    }
    await page.pass(0);
    expect(page.sent).toHaveLength(20);
    await page.pass(8000);
    expect(page.sent).toHaveLength(40);
  });
  it('waits while it is offline, and continues when it is online', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(59_000);
    expect(page.sent).toHaveLength(0);
    vi.stubGlobal('navigator', { onLine: true });
    page.events.dispatchEvent(new Event('online'));
    await page.pass(0);
    expect(page.sent).toHaveLength(1);
  });
});

describe("the service's answer", () => {
  it.each([400, 409, 413, 422])('%i drops an event for good', async (status) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    page.reply = () => new Response('', { status });
    const tracker = page.start();
    const { outcome } = tracker.track('x');
    await page.pass(60_000);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'rejected' });
    expect(page.sent).toHaveLength(1);
    expect(warn.mock.calls).toEqual([[expect.stringContaining(`an event with ${status}`)]]);
  });
  it.each([
    [500, 3],
    [502, 3],
    [504, 3],
    // Chromium and OkHttp send the first request twice.
    [408, 2],
  ])('%i leads to %i attempts of an event in an hour', async (status, times) => {
    page.reply = () => new Response('', { status });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(3_600_000);
    expect([page.sent.length, tracker.stats()]).toEqual([times, { taken: 1, unconfirmed: 1 }]);
  });
  it('408 leads to another attempt after five minutes', async () => {
    page.reply = () =>
      page.sent.length > 1 ? acceptedResponse() : new Response('', { status: 408 });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(290_000);
    expect(page.sent).toHaveLength(1);
    await page.pass(20_000);
    expect(tracker.stats()).toEqual({ taken: 1, delivered: 1 });
  });
  it.each([429, 500, 503])('%i makes the tracker send the event again', async (status) => {
    page.reply = () => (page.sent.length > 1 ? acceptedResponse() : new Response('', { status }));
    const tracker = page.start();
    const retries = notices(tracker, 'retry');
    tracker.track('x');
    await page.pass(5000);
    expect(page.sent).toHaveLength(2);
    expect(retries).toMatchObject([{ event: 'x', status }]);
  });
  it.each([401, 403, 404])(
    '%i makes the tracker keep all events until it is resumed',
    async (status) => {
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      page.reply = () => new Response('', { status });
      const tracker = page.start();
      const paused = notices(tracker, 'paused');
      tracker.track('a');
      tracker.track('b');
      await page.pass(600_000);
      expect(page.sent).toHaveLength(1);
      expect(paused).toEqual([{ status }]);
      expect(warn.mock.calls).toEqual([[expect.stringContaining(`answers ${status}`)]]);
      page.reply = acceptedResponse;
      tracker.resume();
      await page.pass(2000);
      expect(events()).toEqual(['a', 'a', 'b']);
    },
  );
  it('with Retry-After holds back every tab for that time', async () => {
    page.reply = () => new Response('', { status: 429, headers: { 'Retry-After': '30' } });
    page.start().track('x');
    await page.pass(0);
    page.reply = acceptedResponse;
    page.start().track('y');
    await page.pass(29_000);
    expect(page.sent).toHaveLength(1);
    await page.pass(3000);
    expect(page.sent).toHaveLength(3);
  });
  it('with Retry-After holds back no longer if the clock is set back', async () => {
    page.reply = () =>
      page.sent.length > 1 ? acceptedResponse() : new Response('', { status: 429 });
    page.start().track('x');
    await page.pass(0);
    vi.setSystemTime(new Date('2001-01-01'));
    await page.pass(2000);
    expect(page.sent).toHaveLength(2);
  });
  it('leads to one attempt every five minutes, without warnings, if it never comes', async () => {
    page.reply = () => Promise.reject(new TypeError('blocked'));
    const tracker = page.start({ delivery: 'no-loss' });
    const blocked = notices(tracker, 'blocked');
    tracker.track('x');
    await page.pass(60_000);
    expect(page.sent).toHaveLength(2);
    expect(blocked).toEqual([{ delayMs: 300_000 }]);
    await page.pass(903_000);
    expect(page.sent).toHaveLength(5);
    expect(blocked).toHaveLength(1);
  });
  it.each([
    ['no-duplicates', 1],
    ['no-loss', 2],
  ] as const)(
    'leads with %s to %i attempts if it does not come in time',
    async (delivery, times) => {
      page.reply = () => (page.sent.length > 1 ? acceptedResponse() : new Promise(() => undefined));
      page.start({ delivery }).track('x');
      await page.pass(59_000);
      expect(page.sent).toHaveLength(1);
      await page.pass(10_000);
      expect(page.sent).toHaveLength(times);
    },
  );
});
