import { afterEach, describe, expect, it, vi } from 'vitest';
import { createClock, createFakeMedia } from 'postreel/testing';
import { audio, created, idea, record, speech, videos } from '../../support/testing/media-calls.js';

afterEach(() => vi.useRealTimers());

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a fake on a test runner's fake timers", () => {
  it('finishes 100 videos, polled every 10 s, within every limit', async () => {
    vi.useFakeTimers({ now: 0 });
    const fake = createFakeMedia({ clock: createClock({ now: () => Date.now() }) });

    async function runAll(): Promise<number> {
      const pending = new Set<string>();
      let left = 100;
      while (left > 0 || pending.size > 0) {
        for (const fileId of pending) {
          if ((await record(fake, fileId)).status === 'success') {
            pending.delete(fileId);
          }
        }
        const batch = Array.from({ length: Math.min(left, 20) }, () => idea);
        if (pending.size === 0 && left > 0) {
          const answer = await videos(fake, ...batch);
          for (const fileId of created(answer)) {
            pending.add(fileId);
          }
          left -= batch.length;
        }
        await wait(10_000);
      }
      return Date.now();
    }

    const done = runAll();
    let endedAt: number | undefined;
    void done.then((time) => {
      endedAt = time;
    });
    while (endedAt === undefined) {
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(fake.files.filter((file) => file.status === 'success')).toHaveLength(100);
    expect(fake.requests.length).toBeGreaterThan(1_500);
    expect(fake.requests.every((request) => request.status === 200)).toBe(true);
    expect(endedAt).toBeLessThan(20 * 60_000);
  });

  it('sends the webhook at its time on a real clock under fake timers', async () => {
    vi.useFakeTimers({ now: 0 });
    const callback = vi.fn<typeof fetch>(() => Promise.resolve(new Response()));
    const fake = createFakeMedia({ clock: { mode: 'real' }, callback, durations: () => '20s' });
    await audio(fake, { ...speech, webhook: 'https://shop.example/done' });
    await vi.advanceTimersByTimeAsync(19_999);
    expect(callback).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(callback).toHaveBeenCalledOnce();
  });
});
