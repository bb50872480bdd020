import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTracker } from 'postreel/tracker';
import { fakePage, acceptedResponse } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage>;
beforeEach(() => {
  page = fakePage();
});
afterEach(() => page.close());

const bodies: unknown[] = [];
const startOnProxy = (reply: () => Response) => {
  bodies.length = 0;
  return createTracker({
    proxy: true,
    baseUrl: '/collect',
    email: 'ann@example.com',
    fetch: (_, init) => {
      bodies.push(JSON.parse(init!.body as string));
      return Promise.resolve(reply());
    },
  });
};
const leave = () => page.events.dispatchEvent(new Event('pagehide'));

describe('a page with a proxy', () => {
  it('hands over up to 20 events in one request', async () => {
    const tracker = startOnProxy(acceptedResponse);
    for (let n = 0; n < 25; n++) {
      tracker.track('x', { n });
    }
    leave();
    await page.pass(0);
    expect(bodies.map((body) => (body as unknown[]).length)).toEqual([20, 5]);
    const [batch] = bodies as [{ id: string; data: { n: number } }[]];
    expect(batch.map(({ data }) => data.n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(new Set(batch.map(({ id }) => id)).size).toBe(20);
  });
  it('sends no request if no event waits', async () => {
    startOnProxy(acceptedResponse);
    leave();
    await page.pass(0);
    expect(bodies).toEqual([]);
  });
  it('gets a separate result for each event', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const results = [200, 400, 503];
    const tracker = startOnProxy(() => Response.json({ success: true, results }));
    const outcomes = ['a', 'b', 'c'].map((name) => tracker.track(name).outcome);
    await page.pass(0);
    expect(tracker.stats()).toEqual({ taken: 3, delivered: 1, rejected: 1 });
    expect(await Promise.all(outcomes.slice(0, 2))).toMatchObject([
      { status: 'delivered' },
      { reason: 'rejected' },
    ]);
    expect(tracker.pending).toBe(1);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('an event with 400')]]);
  });
  it('sends the events of one task in one request while the page lives', async () => {
    const tracker = startOnProxy(acceptedResponse);
    for (let n = 0; n < 25; n++) {
      tracker.track('x', { n });
    }
    await page.pass(0);
    expect(bodies.map((body) => (body as unknown[]).length)).toEqual([20, 5]);
  });
  it('keeps the events of a failed batch together and in order', async () => {
    page.reply = () => Promise.resolve(new Response('', { status: 503 }));
    const tracker = page.start({ proxy: true });
    const bodiesOf = () => page.sent.map(({ body }) => body as unknown as { event: string }[]);
    Array.from({ length: 20 }, (_, n) => tracker.track(`${n}`));
    await page.pass(60_000);
    expect(page.sent.length).toBeGreaterThan(4);
    const names = bodiesOf().map((batch) => batch.map(({ event }) => event).join());
    expect(new Set(names)).toEqual(new Set([Array.from({ length: 20 }, (_, n) => n).join()]));
  });
  it('emits `paused` once, however many events were rejected', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    page.reply = () => Promise.resolve(new Response('', { status: 403 }));
    const tracker = page.start({ proxy: true });
    const paused = vi.fn();
    tracker.on('paused', paused);
    ['a', 'b', 'c'].forEach((name) => tracker.track(name));
    await page.pass(1000);
    expect(paused.mock.calls).toEqual([[{ status: 403 }]]);
    expect(warn.mock.calls).toEqual([[expect.stringContaining('answers 403')]]);
    expect(tracker.pending).toBe(3);
  });
  it('keeps a request open if another tab has taken over one of its events', async () => {
    const answers: ((response: Response) => void)[] = [];
    page.reply = () => new Promise((resolve) => answers.push(resolve));
    const tracker = page.start({ proxy: true });
    const [lost, kept] = [tracker.track('a'), tracker.track('b')];
    await page.pass(0);
    page.storage[lost.id] = page.storage[lost.id]!.replace(/"owner":"[^"]*"/, '"owner":"?"');
    leave();
    await page.pass(1000);
    expect(page.sent[0]?.init.signal?.aborted).toBe(false);
    answers[0]?.(acceptedResponse());
    await page.pass(0);
    expect(await kept.outcome).toEqual({ status: 'delivered' });
    expect(tracker.stats()).toEqual({ taken: 2, delivered: 1 });
  });
  it.each(['reset', 'deny'])('aborts the request of all its events on %s()', (name) => {
    page.reply = () => new Promise(() => undefined);
    const tracker = page.start({ proxy: true });
    tracker.track('a');
    tracker.track('b');
    tracker.resume();
    const signal = page.sent[0]?.init.signal;
    expect([page.sent.length, signal?.aborted]).toEqual([1, false]);
    void (name === 'reset' ? tracker.reset() : tracker.consent.deny());
    expect(signal?.aborted).toBe(true);
  });
  it('sends a single event without a list', async () => {
    startOnProxy(acceptedResponse).track('a');
    await page.pass(0);
    expect(bodies).toMatchObject([{ event: 'a' }]);
  });
  it.each([
    ['answered with a 503', () => Promise.resolve(new Response('', { status: 503 }))],
    ['answered with a 503 for each event', answer503ForEach],
    ['lost', () => Promise.reject(new TypeError('lost'))],
  ])('waits after a batch that was %s as long as after one event', async (_, fail) => {
    const timesOf = async (count: number) => {
      page.reply = fail;
      page.sent.length = 0;
      const times: number[] = [];
      const tracker = page.start({ proxy: true, namespace: `${count}` });
      const blocked = vi.fn();
      tracker.on('blocked', blocked);
      tracker.on('retry', ({ delayMs }) => times.push(delayMs));
      Array.from({ length: count }, (_, n) => tracker.track('x', { n }));
      await page.pass(600);
      expect(blocked).not.toHaveBeenCalled();
      page.reply = acceptedResponse;
      await page.pass(5000);
      expect([tracker.pending, page.sent.length]).toEqual([0, 2]);
      return new Set(times);
    };
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    expect(await timesOf(20)).toEqual(await timesOf(1));
    vi.restoreAllMocks();
  });
});

/** The response of a proxy whose service is down. */
function answer503ForEach(): Promise<Response> {
  const { body } = page.sent.at(-1)!;
  return Promise.resolve(
    Response.json({ success: true, results: Array.isArray(body) ? body.map(() => 503) : [503] }),
  );
}
