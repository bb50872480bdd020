import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Tracker, TrackerOptions } from 'postreel/tracker';
import { fakePage, acceptedResponse } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage>;
beforeEach(() => {
  page = fakePage();
});
afterEach(() => page.close());

const leave = () => page.events.dispatchEvent(new Event('pagehide'));
const comeBack = () =>
  page.events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
const numbers = () => page.sent.map(({ body }) => body.data?.n);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const trackMany = (tracker: Tracker, count: number, data = {}) =>
  upTo(count).forEach((n) => tracker.track('x', { n, ...data }));
const stored = () =>
  Object.values(page.storage).map((text) => JSON.parse(text) as Record<string, unknown>);
/** From now on, no request is answered. */
const stopAnswering = () => {
  page.reply = () => new Promise(() => undefined);
};

/** The next page belongs to the same site. */
function leaveWithinSite(): void {
  const swap = Object.assign(new Event('pageswap'), { activation: { entry: { url: '/next' } } });
  page.events.dispatchEvent(swap);
}

describe('while a page lives', () => {
  it('each request has `keepalive`, so that it can outlive the page', async () => {
    trackMany(page.start(), 3);
    await page.pass(0);
    expect(page.sent.map(({ init }) => init.keepalive)).toEqual([true, true, true]);
  });
  it('one request is made at a time for each contact, so that its events keep their order', async () => {
    stopAnswering();
    const tracker = page.start();
    for (const email of ['ann@example.com', 'bob@example.com']) {
      tracker.track('first', {}, { email });
      tracker.track('second', {}, { email });
    }
    await page.pass(1000);
    expect(page.sent.map(({ body }) => [body.email, body.event])).toEqual([
      ['ann@example.com', 'first'],
      ['bob@example.com', 'first'],
    ]);
  });
});

describe('an exit', () => {
  it.each([
    ['to another site', () => undefined],
    ['within the site, whose next page may have no tracker', leaveWithinSite],
  ])('%s hands over all waiting events, after marking all of them', async (_, swap) => {
    vi.stubGlobal('onpageswap', null);
    stopAnswering();
    const marksAtFirst: number[] = [];
    trackMany(page.start(), 15);
    await page.pass(0);
    page.reply = () => {
      marksAtFirst.push(stored().filter(({ isHandedOver }) => isHandedOver).length);
      return new Promise(() => undefined);
    };
    swap();
    leave();
    expect(numbers()).toEqual(upTo(15));
    expect(marksAtFirst[0]).toBe(15);
    expect(page.sent.every(({ init }) => init.keepalive)).toBe(true);
  });
  it('is reported as unconfirmed by the next visit, not as a loss, and its events are not sent again', async () => {
    stopAnswering();
    trackMany(page.start(), 3);
    leave();
    page.reply = acceptedResponse;
    const next = page.start();
    const notices: string[] = [];
    next.on('unconfirmed', ({ event }) => notices.push(`unconfirmed ${event}`));
    next.on('dropped', ({ event }) => notices.push(`dropped ${event}`));
    await page.pass(1000);
    expect(notices).toEqual(Array(3).fill('unconfirmed x'));
    expect(next.stats()).toEqual({ unconfirmed: 3 });
    expect([page.sent.length, stored()]).toEqual([3, []]);
  });
  it('with no-loss hands over nothing within the site: the next page sends the events', async () => {
    vi.stubGlobal('onpageswap', null);
    stopAnswering();
    trackMany(page.start({ delivery: 'no-loss' }), 3);
    await page.pass(0);
    leaveWithinSite();
    leave();
    expect(numbers()).toEqual([0]);
    page.reply = acceptedResponse;
    page.start({ delivery: 'no-loss' });
    await page.pass(1000);
    expect(numbers()).toEqual([0, 0, 1, 2]);
  });
  it('with no-loss and storage: memory hands over the events that no next page could find', () => {
    vi.stubGlobal('onpageswap', null);
    stopAnswering();
    trackMany(page.start({ delivery: 'no-loss', storage: 'memory' }), 3);
    leaveWithinSite();
    leave();
    expect(numbers()).toEqual([0, 1, 2]);
  });
  it('keeps waiting events stored if the last attempt got no answer', async () => {
    page.reply = () => Promise.reject(new TypeError('Failed to fetch'));
    const tracker = page.start();
    trackMany(tracker, 3);
    await page.pass(600);
    const before = page.sent.length;
    leave();
    expect(page.sent).toHaveLength(before);
    expect(stored().map(({ owner, isHandedOver }) => [owner, isHandedOver])).toEqual(
      Array(3).fill(['', undefined]),
    );
  });
  it.each([
    ['the tracker is paused', (tracker: Tracker) => tracker.pause()],
    ['the browser is offline', () => vi.stubGlobal('navigator', { onLine: false })],
  ])('keeps waiting events stored if %s', (_, change) => {
    const tracker = page.start();
    change(tracker);
    trackMany(tracker, 3);
    leave();
    expect([page.sent, stored().length]).toEqual([[], 3]);
  });
  it('keeps waiting events stored after a 429, and the next page waits for Retry-After', async () => {
    page.reply = () => new Response('', { status: 429, headers: { 'Retry-After': '60' } });
    trackMany(page.start(), 3);
    await page.pass(0);
    leave();
    page.reply = acceptedResponse;
    const next = page.start();
    next.track('x', { n: 3 });
    await page.pass(50_000);
    expect(numbers()).toEqual([0]);
    await page.pass(20_000);
    expect(numbers()).toEqual([0, 0, 1, 2, 3]);
  });
  it('shares one byte limit among all trackers of the page, and keeps the rest stored', async () => {
    stopAnswering();
    const text = 'x'.repeat(5000);
    for (const namespace of ['a', 'b', 'c']) {
      const tracker = page.start({ namespace });
      tracker.pause();
      trackMany(tracker, 5, { text });
      tracker.resume();
    }
    leave();
    const bytes = page.sent.map(({ init }) => (init.body as string).length);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(65_536);
    expect(page.sent).toHaveLength(12);
    page.reply = acceptedResponse;
    for (const namespace of ['a', 'b', 'c']) {
      page.start({ namespace });
    }
    await page.pass(61_000); // the first page still exists, and its requests time out
    expect(page.sent).toHaveLength(15);
  });
  it('can use the bytes of answered requests again', async () => {
    const tracker = page.start({ limit: { perSecond: 100, burst: 100 } });
    trackMany(tracker, 40, { text: 'x'.repeat(5000) });
    await page.pass(1000);
    stopAnswering();
    trackMany(tracker, 10, { text: 'x'.repeat(5000) });
    leave();
    expect(page.sent).toHaveLength(50);
  });
});

describe('an open request of a disposed tracker', () => {
  /**
   * Disposes of a tracker with an open request and starts the next tracker, as a route change does.
   */
  async function changeRoute(options: Partial<TrackerOptions> = {}) {
    let answer: (response: Response) => void = () => undefined;
    page.reply = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const old = page.start(options);
    trackMany(old, 1);
    await page.pass(0);
    old.dispose();
    page.reply = acceptedResponse;
    return { old, next: page.start(options), answer: (response: Response) => answer(response) };
  }

  it.each([429, 503, 500])(
    'continues with its page: after a %i the event is kept',
    async (status) => {
      const { next, answer } = await changeRoute();
      await page.pass(10_000);
      answer(new Response('', { status }));
      await page.pass(10_000);
      expect(numbers()).toEqual([0, 0]);
      expect([next.stats(), stored()]).toEqual([{ delivered: 1 }, []]);
    },
  );
  it('continues with its page: after a 200 the event was delivered once', async () => {
    const { old, next, answer } = await changeRoute();
    await page.pass(10_000);
    answer(acceptedResponse());
    await page.pass(10_000);
    expect([numbers(), old.stats(), next.stats()]).toEqual([[0], { taken: 1, delivered: 1 }, {}]);
    expect([stored(), vi.getTimerCount()]).toEqual([[], 0]);
  });
  it('is not taken over by another tab', async () => {
    const other = page.start();
    const { answer } = await changeRoute({ namespace: 'test' });
    page.events.dispatchEvent(new Event('focus'));
    await page.pass(10_000);
    expect([other.stats(), stored().length]).toEqual([{}, 1]);
    answer(new Response('', { status: 503 }));
    await page.pass(10_000);
    expect(numbers()).toEqual([0, 0]);
  });
  it('decides about the events that dispose() hands over, too', async () => {
    const answers: ((response: Response) => void)[] = [];
    page.reply = () => new Promise((resolve) => answers.push(resolve));
    const old = page.start();
    trackMany(old, 3);
    old.dispose();
    page.reply = acceptedResponse;
    page.start();
    await page.pass(10_000);
    answers.forEach((answer) => answer(new Response('', { status: 429 })));
    await page.pass(10_000);
    expect(numbers().sort()).toEqual([0, 0, 1, 1, 2, 2]);
    expect(stored()).toEqual([]);
  });
  it('stores no event again after a reset() by the next tracker', async () => {
    const { next, answer } = await changeRoute();
    await page.pass(0);
    await next.reset();
    await page.pass(0);
    answer(new Response('', { status: 503 }));
    await page.pass(10_000);
    expect(JSON.stringify(page.storage)).not.toContain('ann@example.com');
    page.start();
    await page.pass(10_000);
    expect(numbers()).toEqual([0]);
  });
});

describe('a page restored from the back/forward cache', () => {
  it('sends the remaining events, and repeats none', async () => {
    const tracker = page.start();
    trackMany(tracker, 5, { text: 'x'.repeat(20_000) });
    leave();
    await page.pass(1000);
    const before = page.sent.length;
    expect(before).toBeLessThan(5);
    comeBack();
    await page.pass(10_000);
    expect(numbers().sort()).toEqual(upTo(5));
    expect(tracker.stats()).toEqual({ taken: 5, delivered: 5 });
  });
  it('does not send the events that another tab has taken over', async () => {
    const tracker = page.start();
    tracker.pause();
    trackMany(tracker, 3);
    leave();
    const other = page.start();
    await page.pass(1000);
    comeBack();
    tracker.resume();
    await page.pass(10_000);
    expect(numbers()).toEqual(upTo(3));
    expect([tracker.pending, other.stats()]).toEqual([0, { delivered: 3 }]);
  });
});
