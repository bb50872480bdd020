import { describe, expect, it, vi } from 'vitest';
import { Notifier } from '../../src/core/async.js';

/** Has a wait ended by now? */
async function hasEnded(wait: Promise<void>): Promise<boolean> {
  const turn = new Promise<false>((resolve) => setImmediate(resolve, false));
  return Promise.race([wait.then(() => true), turn]);
}

describe('a notifier', () => {
  it('wakes whoever waits', async () => {
    const notifier = new Notifier();
    const wait = notifier.wait();
    expect(await hasEnded(wait)).toBe(false);
    notifier.notify();
    expect(await hasEnded(wait)).toBe(true);
  });

  it('keeps news that nobody waits for, for one wait', async () => {
    const notifier = new Notifier();
    notifier.notify();
    notifier.notify();
    expect(await hasEnded(notifier.wait())).toBe(true);
    expect(await hasEnded(notifier.wait())).toBe(false);
  });

  it('ends a wait when something else has settled', async () => {
    expect(await hasEnded(new Notifier().wait(undefined, Promise.resolve()))).toBe(true);
  });

  it('ends a wait in time, and leaves no timer behind one that ended before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const notifier = new Notifier();
    const late = notifier.wait(1_000);
    vi.advanceTimersByTime(999);
    expect(await hasEnded(late)).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await hasEnded(late)).toBe(true);
    const early = notifier.wait(1_000);
    notifier.notify();
    await early;
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});
