import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { autoPage, chain, debug, once, sample, stamp } from 'postreel/tracker/extras';
import { fakePage } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage>;
let stored: Map<string, string>;
beforeEach(() => {
  stored = new Map();
  page = fakePage();
});
afterEach(() => page.close());

/** A localStorage with methods, of a browser or of a visitor. */
const storageOf = (entries: Map<string, string>) => ({
  getItem: (key: string) => entries.get(key) ?? null,
  setItem: (key: string, value: string) => void entries.set(key, value),
});
const event = { id: '1', event: 'x' };

describe('debug', () => {
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
      expect.stringMatching(/^\[tracker\] warning: IndexedDB failed\. /), // this page has none
      expect.stringMatching(/^\[tracker\] retry: signed_up \(429\), again in [23](\.\d)? s$/),
      '[tracker] delivered: signed_up',
    ]);
    info.mockRestore();
  });
});

describe('autoPage', () => {
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
  it('hears the back button, under a name of your own', () => {
    const track = vi.fn();
    autoPage({ track }, { event: 'viewed' });
    Object.assign(location, { href: 'https://shop.test/back', search: '' });
    page.events.dispatchEvent(new Event('popstate'));
    expect(track.mock.calls.map(([name]) => name as unknown)).toEqual(['viewed', 'viewed']);
  });
  it('leaves what another script has put around it', () => {
    const stop = autoPage({ track: vi.fn() });
    const foreign = vi.fn();
    history.pushState = foreign;
    stop();
    expect(Object.entries(history)).toContainEqual(['pushState', foreign]);
  });
  it('does nothing on a server', () => {
    vi.stubGlobal('document', undefined);
    const track = vi.fn();
    autoPage({ track })();
    expect(track).not.toHaveBeenCalled();
  });
});

describe('steps of beforeSend', () => {
  it('come one after the other, until one drops the event', () => {
    const rename = chain(stamp, (made) => ({ ...made, event: 'y' }));
    expect(rename(event)).toMatchObject({ event: 'y', data: { eventId: { value: '1' } } });
    const never = vi.fn();
    expect(chain(() => null, never)(event)).toBe(null);
    expect(never).not.toHaveBeenCalled();
  });
  it('stamp an event with its time and id, for this event only', () => {
    expect(stamp({ ...event, data: { plan: 'pro' } })).toEqual({
      ...event,
      data: {
        timestamp: { value: '2026-11-21T10:00:00.000Z', persistent: false },
        eventId: { value: '1', persistent: false },
        plan: 'pro',
      },
    });
  });
  it('sample visitors, not events, over pages', () => {
    vi.stubGlobal('localStorage', storageOf(stored));
    const random = vi.spyOn(Math, 'random').mockReturnValueOnce(0.3).mockReturnValue(0.9);
    expect([sample(0.5)(event), sample(0.5)(event)]).toEqual([event, event]);
    expect(sample(0.2)(event)).toBe(null);
    expect(stored.get('postreel-sample')).toBe('0.3');
    random.mockRestore();
  });
  it('drop an event where one throws, so that track() does not', async () => {
    const tracker = page.start({
      beforeSend: () => {
        throw new Error('of the host');
      },
    });
    expect(await tracker.track('x').outcome).toEqual({ status: 'dropped', reason: 'filtered' });
  });
});

describe('once', () => {
  it('is true the first time of each key, over pages', () => {
    vi.stubGlobal('localStorage', storageOf(stored));
    expect([once('a'), once('a'), once('b')]).toEqual([true, false, true]);
    stored.set('postreel-once-c', '1');
    expect(once('c')).toBe(false);
  });
  it('remembers until the page ends where storage is forbidden', () => {
    vi.stubGlobal('localStorage', undefined);
    expect([once('forbidden'), once('forbidden')]).toEqual([true, false]);
  });
});
