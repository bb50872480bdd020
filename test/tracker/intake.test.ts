import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Tracker, TrackerNotices } from 'postreel/tracker';
import { fakePage } from '../support/tracker/page.js';

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

describe('what is taken in', () => {
  it('resolves the outcome of an event that waits to queued', async () => {
    const tracker = page.start();
    tracker.pause();
    const { outcome } = tracker.track('x');
    await page.pass(10_000);
    expect(await outcome).toEqual({ status: 'queued' });
  });
  it('drops what is above maxQueue or maxBytes', async () => {
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
  it('drops what is older than maxAge, but never for an unset clock', async () => {
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
  ])('takes a maxAge of %s for %i ms', async (maxAge, ms) => {
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
  it('counts what was taken in, delivered and dropped, by reason', async () => {
    const tracker = page.start({ maxQueue: 2 });
    for (const name of ['a', 'b', 'c', 'd']) {
      tracker.track(name);
    }
    await page.pass(0);
    expect(tracker.stats()).toEqual({ taken: 2, delivered: 2, overflow: 2 });
  });
  it('filters and changes with beforeSend', async () => {
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
  it('erases every stored event when consent is denied, those of other tabs too', async () => {
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
  it('forgets the contact and every event on reset', async () => {
    const tracker = page.start();
    tracker.pause();
    const { outcome } = tracker.track('x');
    void tracker.reset();
    await page.pass(5000);
    expect(await outcome).toEqual({ status: 'dropped', reason: 'reset' });
    expect(JSON.stringify(page.storage)).not.toContain('ann@example.com');
  });
  it('honours Global Privacy Control unless told otherwise', async () => {
    vi.stubGlobal('navigator', { onLine: true, globalPrivacyControl: true });
    expect(await page.start().track('x').outcome).toMatchObject({ reason: 'gpc' });
    page.start({ honorGpc: false }).track('y');
    await page.pass(0);
    expect(events()).toEqual(['y']);
  });
});

describe('the rest of its life', () => {
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
  it('does nothing more once it is disposed', async () => {
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
  it('is not stopped by what others left under its prefix', async () => {
    page.storage['postreel:test:broken'] = '{';
    page.start().track('x');
    await page.pass(1000);
    expect(events()).toEqual(['x']);
  });
  it('has no timer left when nothing is left to send', async () => {
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
