import { afterEach, type MockInstance, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PendingEvent, TrackOptions } from 'postreel/tracker';
import { autoPage } from 'postreel/tracker/extras';
import { fakePage, acceptedResponse } from '../support/tracker/page.js';

// A tracker throws nothing into the page, and warns once about each mistake.

let page: ReturnType<typeof fakePage>;
let warn: MockInstance<typeof console.warn>;
beforeEach(() => {
  page = fakePage();
  warn = vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(async () => {
  warn.mockRestore();
  await page.close();
});

const warningLines = () => warn.mock.calls.map(([line]) => String(line));
const events = () => page.sent.map(({ body }) => body.event);

describe('track() with an event that cannot be sent', () => {
  it.each([
    ['NaN', { price: NaN }],
    ['an invalid date', { at: new Date('never') }],
    ['a reserved name', { email: 'bob@example.com' }],
    ['a text', 'pro'],
    ['a list', [{ plan: 'pro' }]],
    [
      'a getter that throws',
      {
        get plan() {
          throw new Error('of the host');
        },
      },
    ],
  ])('throws nothing for %s, and warns which event was dropped', async (_, data) => {
    const tracker = page.start();
    // Plain JavaScript may pass any value.
    const { outcome } = tracker.track('viewed', data as never);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'invalid' });
    tracker.track('viewed', data as never);
    expect(warningLines()).toEqual([expect.stringContaining('"viewed"')]);
    await page.pass(1000);
    expect([page.sent, Object.keys(page.storage)]).toEqual([[], []]);
  });
  it.each([
    ['no name', '', {}],
    ['a number as contact', 'x', { email: 42 }],
    ['a user id as contact', 'x', { email: 'user_123' }],
  ])('throws nothing for %s', async (_, name, own) => {
    const { outcome } = page.start().track(name, {}, own as TrackOptions);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'invalid' });
    expect(warningLines()).toHaveLength(1);
  });
  it('emits a `warning` notice too', async () => {
    const tracker = page.start();
    const messages: string[] = [];
    tracker.on('warning', ({ message }) => messages.push(message));
    tracker.track('viewed', { price: NaN });
    await page.pass(0);
    expect(messages).toEqual([expect.stringContaining('Not finite: price')]);
  });
});

describe('identify()', () => {
  it.each(['undefined', 42, 'user_123', {}, ' '])(
    'rejects %j as an address: it warns once, and events wait',
    async (email) => {
      const tracker = page.start();
      tracker.identify(email as string);
      tracker.identify(email as string);
      tracker.track('x');
      await page.pass(60_000);
      expect(page.sent).toEqual([]);
      expect(warningLines()).toEqual([expect.stringContaining('email address')]);
      tracker.identify(' bob@example.com ');
      await page.pass(0);
      expect(page.sent.map(({ body }) => body.email)).toEqual(['bob@example.com']);
    },
  );
  it.each(['', null, undefined])('forgets the contact without a warning with %j', async (email) => {
    const tracker = page.start();
    tracker.identify(email as string);
    tracker.track('x');
    await page.pass(1000);
    expect([page.sent, warningLines()]).toEqual([[], []]);
  });
  it('also checks the option `email`', () => {
    page.start({ email: 'undefined' });
    expect(warningLines()).toHaveLength(1);
  });
});

describe('a beforeSend hook', () => {
  it.each<[string, (event: PendingEvent) => unknown]>([
    ['is async', (event) => Promise.resolve(event)],
    ['returns nothing', () => undefined],
    ['returns no event', () => ({})],
    ['returns true', () => true],
    [
      'throws',
      () => {
        throw new Error('of the host');
      },
    ],
  ])('that %s drops the event, with a warning', async (_, beforeSend) => {
    const tracker = page.start({ beforeSend: beforeSend as () => null });
    const outcomes = [tracker.track('x').outcome, tracker.track('x').outcome];
    expect(await Promise.all(outcomes)).toEqual(
      Array(2).fill({ status: 'dropped', reason: 'filtered' }),
    );
    expect(warningLines()).toEqual([expect.stringContaining('beforeSend')]);
  });
  it('that makes an event unsendable drops it, and does not break a router', () => {
    vi.stubGlobal('location', { href: 'https://shop.test/', search: '' });
    vi.stubGlobal('document', Object.assign(new EventTarget(), { referrer: '' }));
    vi.stubGlobal('history', {
      pushState: () => Object.assign(location, { href: 'https://shop.test/next' }),
      replaceState: () => undefined,
    });
    const tracker = page.start({
      beforeSend: (event) => ({ ...event, data: { ...event.data, price: NaN } }),
    });
    const stop = autoPage(tracker);
    expect(() => history.pushState(null, '', '/next')).not.toThrow();
    stop();
    expect(tracker.stats()).toEqual({ invalid: 2 });
    expect(warningLines()).toHaveLength(1);
  });
});

describe('a timer', () => {
  it('is not set while an event waits for a contact', async () => {
    const tracker = page.start({ email: '' });
    tracker.track('x');
    await page.pass(1000);
    expect([tracker.pending, vi.getTimerCount()]).toEqual([1, 0]);
  });
  it('is not set while the tracker is paused', async () => {
    const tracker = page.start();
    tracker.pause();
    tracker.track('x');
    await page.pass(1000);
    expect(vi.getTimerCount()).toBe(0);
  });
  it('is not set while other tabs have events', async () => {
    const other = page.start();
    other.pause();
    other.track('x');
    page.start();
    await page.pass(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });
  it('is not set for outcomes that no code reads', async () => {
    page.reply = () => new Promise(() => undefined);
    page.start().track('x');
    await page.pass(61_000); // the request itself times out after a minute
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a warning in the console', () => {
  it('names the address of a redirect, once', async () => {
    page.reply = () => new Response(null, { status: 308, headers: { Location: '/collect/' } });
    const tracker = page.start({ baseUrl: 'https://shop.test/collect' });
    tracker.track('x');
    await page.pass(1000);
    tracker.resume();
    await page.pass(1000);
    expect(warningLines()).toEqual([expect.stringContaining('https://shop.test/collect/v1/track')]);
    expect(warningLines()[0]).toContain('redirect');
    expect(tracker.pending).toBe(1);
  });
  it('reports a redirect whose address the browser hides', async () => {
    // The response that `redirect: 'manual'` gives a page: without status and address.
    page.reply = () => Response.error();
    page.start().track('x');
    await page.pass(1000);
    expect(warningLines()).toEqual([expect.stringContaining('redirect')]);
  });
  it.each([400, 422])('reports events that were rejected with %i, once', async (status) => {
    page.reply = () => new Response('', { status });
    const tracker = page.start();
    tracker.track('x');
    tracker.track('y');
    await page.pass(5000);
    expect(warningLines()).toEqual([expect.stringContaining(`rejected an event with ${status}`)]);
  });
  it('reports a wrong key', async () => {
    page.reply = () => new Response('', { status: 401 });
    page.start().track('x');
    await page.pass(1000);
    expect(warningLines()).toEqual([expect.stringContaining('401')]);
  });
  it('reports a content script, where the tracker stores no visitor data in the storage of the site', async () => {
    vi.stubGlobal('chrome', { runtime: { id: 'abcdef' } });
    vi.stubGlobal('location', { protocol: 'https:', href: 'https://shop.test/' });
    page.start().track('x');
    expect(warningLines()).toEqual([expect.stringContaining('content script')]);
    expect(Object.keys(page.storage)).toEqual([]);
    await page.pass(0);
    expect(events()).toEqual(['x']);
  });
});

describe('navigator.onLine', () => {
  it('is only a hint: the tracker tries once a minute, and ignores the hint after an answer', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    const tracker = page.start();
    tracker.track('a');
    await page.pass(61_000);
    expect(events()).toEqual(['a']);
    tracker.track('b');
    await page.pass(0);
    expect(events()).toEqual(['a', 'b']);
  });
  it('costs no event an attempt while it is right', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    page.reply = () => Promise.reject(new TypeError('Failed to fetch'));
    const tracker = page.start();
    tracker.track('x');
    await page.pass(3_600_000);
    expect(page.sent.length).toBeGreaterThan(10);
    vi.stubGlobal('navigator', { onLine: true });
    page.reply = acceptedResponse;
    page.events.dispatchEvent(new Event('online'));
    await page.pass(0);
    expect(tracker.stats()).toEqual({ taken: 1, delivered: 1 });
  });
  it('is ignored by flush()', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    const tracker = page.start();
    tracker.track('x');
    await page.pass(1000);
    expect(await Promise.all([tracker.flush(), page.pass(0)])).toEqual([true, undefined]);
  });
});
