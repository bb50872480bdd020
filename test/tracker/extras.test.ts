import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { autoPage, debug, stamp } from 'postreel/tracker/extras';
import { fakePage } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage>;
beforeEach(() => {
  page = fakePage();
});
afterEach(() => page.close());

describe('debug()', () => {
  it('writes a line without email or data for each notice, until it is stopped', async () => {
    const info = vi.spyOn(console, 'info').mockReturnValue();
    const tracker = page.start();
    const stop = debug(tracker);
    page.reply = () =>
      page.sent.length > 1
        ? Response.json({ success: true })
        : new Response('', { status: 429, headers: { 'Retry-After': '2' } });
    tracker.track('signed_up', { plan: 'secret' });
    await page.pass(5000);
    stop();
    tracker.track('later');
    await page.pass(1000);
    const lines = info.mock.calls.map(([line]) => String(line));
    expect(lines).toEqual([
      expect.stringMatching(/^\[tracker\] retry: signed_up \(429\), again in [23](\.\d)? s$/),
      '[tracker] delivered: signed_up',
    ]);
    info.mockRestore();
  });
});

describe('autoPage()', () => {
  beforeEach(() => {
    const url = 'https://shop.test/?token=1&utm_source=mail#top';
    vi.stubGlobal('location', { href: url, search: '?token=1&utm_source=mail' });
    vi.stubGlobal('document', { referrer: 'https://search.test/?q=me' });
    const change = (_: unknown, __: string, address: string) => {
      const { href, search } = new URL(address, location.href);
      Object.assign(location, { href, search });
    };
    vi.stubGlobal('history', { pushState: change, replaceState: change });
  });

  it('tracks the page and each route, with values for this event only', () => {
    const track = vi.fn();
    const stop = autoPage({ track });
    history.pushState(null, '', '/pricing');
    history.replaceState(null, '', '/pricing?tab=2');
    stop();
    history.pushState(null, '', '/away');
    const once = (value: string) => ({ value, persistent: false });
    expect(track.mock.calls).toEqual([
      [
        'page_viewed',
        {
          url: once('https://shop.test/'),
          referrer: once('https://search.test/'),
          utm_source: once('mail'),
        },
      ],
      [
        'page_viewed',
        { url: once('https://shop.test/pricing'), referrer: once('https://shop.test/') },
      ],
    ]);
  });
  it('tracks the back button, with a custom event name', () => {
    const track = vi.fn();
    autoPage({ track }, { event: 'viewed' });
    Object.assign(location, { href: 'https://shop.test/back', search: '' });
    page.events.dispatchEvent(new Event('popstate'));
    expect(track.mock.calls.map(([name]) => name as unknown)).toEqual(['viewed', 'viewed']);
  });
  it('keeps the wrapper that another script has put around `history`', () => {
    const stop = autoPage({ track: vi.fn() });
    const foreign = vi.fn();
    history.pushState = foreign;
    stop();
    expect(Object.entries(history)).toContainEqual(['pushState', foreign]);
  });
  it('tracks a page again when it is restored from the back/forward cache', () => {
    const track = vi.fn();
    autoPage({ track });
    page.events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }));
    page.events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    expect(track).toHaveBeenCalledTimes(2);
  });
  it('uses the Navigation API for routers on it, and does not wrap `history` then', () => {
    const navigation = new EventTarget();
    vi.stubGlobal('navigation', navigation);
    const before = Object.values(history);
    const track = vi.fn();
    const stop = autoPage({ track });
    expect(Object.values(history)).toEqual(before);
    Object.assign(location, { href: 'https://shop.test/next' });
    navigation.dispatchEvent(new Event('currententrychange'));
    stop();
    Object.assign(location, { href: 'https://shop.test/later' });
    navigation.dispatchEvent(new Event('currententrychange'));
    expect(track).toHaveBeenCalledTimes(2);
  });
  it('does nothing on a second call, as effects run twice under StrictMode', () => {
    const tracker = { track: vi.fn() };
    const stop = autoPage(tracker);
    autoPage(tracker)();
    stop();
    autoPage(tracker);
    history.pushState(null, '', '/next');
    expect(tracker.track).toHaveBeenCalledTimes(2);
  });
  it('throws no error of a tracker into a router', () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    autoPage({
      track: () => {
        throw new TypeError('of a tracker');
      },
    });
    expect(() => history.pushState(null, '', '/next')).not.toThrow();
    expect(error).toHaveBeenCalledTimes(2);
    error.mockRestore();
  });
  it('does nothing on a server', () => {
    vi.stubGlobal('document', undefined);
    const track = vi.fn();
    autoPage({ track })();
    expect(track).not.toHaveBeenCalled();
  });
});

describe('stamp()', () => {
  it('adds the time and the id of an event, for this event only', () => {
    expect(stamp({ id: '1', event: 'x', data: { plan: 'pro' } })).toEqual({
      id: '1',
      event: 'x',
      data: {
        timestamp: { value: '2026-11-21T10:00:00.000Z', persistent: false },
        eventId: { value: '1', persistent: false },
        plan: 'pro',
      },
    });
  });
});
