import { memoryJournal, type QueueProgress } from 'postreel';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../support/transport/memory-store.js';
import { calls, collect, videos } from '../../support/media/queue-helpers.js';
import { fakeService, inTime, pass, useFakeTime } from '../../support/media/fake-time.js';

useFakeTime();

const minuteMs = 60_000;
const codes = (results: readonly { error?: unknown }[]) =>
  results.map(({ error }) => (error as { code?: string } | undefined)?.code);

describe('pause() and resume()', () => {
  it('submit no more, follow what is in progress, and go on', async () => {
    const { fake, media } = fakeService({ durations: () => '2m' });
    const queue = media().queue(videos(40));
    const results = collect(queue);
    await pass(minuteMs);
    queue.pause();
    await pass(60 * minuteMs);
    expect(calls(fake)).toBe(2);
    expect(fake.files.filter(({ status }) => status === 'success')).toHaveLength(20);
    queue.resume();
    expect((await inTime(results)).filter(({ file }) => file)).toHaveLength(40);
  });

  it('may come before the first step', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(3));
    queue.pause();
    const results = collect(queue);
    await pass(10 * minuteMs);
    expect(calls(fake)).toBe(0);
    queue.resume();
    expect(await inTime(results)).toHaveLength(3);
  });
});

describe('drain()', () => {
  it('finishes what is in progress, submits no more, and ends', async () => {
    const { fake, media } = fakeService({ durations: () => '2m' });
    const queue = media().queue(videos(60));
    const results = collect(queue);
    await pass(minuteMs);
    queue.drain();
    const made = await inTime(results);
    expect(made.filter(({ file }) => file)).toHaveLength(20);
    expect(made).toHaveLength(20);
    expect(fake.files).toHaveLength(20);
  });

  it('before the first step ends at once, without a call', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(3));
    queue.drain();
    expect(await inTime(collect(queue))).toEqual([]);
    expect(fake.requests).toEqual([]);
  });
});

describe('a call that has not left', () => {
  it.each(['drain', 'pause'] as const)(
    'comes back at %s, while it waits for a rate limit that other processes use up',
    async (what) => {
      const { fake, media } = fakeService();
      const { store } = memoryStore();
      const openAt = Date.now() + 8 * minuteMs;
      const take: typeof store.take = (...args) =>
        Date.now() < openAt
          ? Promise.resolve({ waitMs: openAt - Date.now() })
          : store.take(...args);
      const client = media({
        rateLimit: { store: { ...store, take }, group: crypto.randomUUID() },
      });
      const queue = client.queue(videos(3));
      const results = collect(queue);
      await pass(minuteMs);
      queue[what]();
      await pass(30 * minuteMs);
      expect(fake.files).toEqual([]);
      if (what === 'pause') {
        queue.resume();
        expect((await inTime(results)).filter(({ file }) => file)).toHaveLength(3);
      } else {
        expect(await inTime(results)).toEqual([]);
      }
    },
  );

  it('comes back at drain() while its claim is written, and leaves no claim behind', async () => {
    const { fake, media } = fakeService();
    const memory = memoryJournal();
    const journal = {
      ...memory,
      async swap(...change: Parameters<typeof memory.swap>) {
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        return memory.swap(...change);
      },
    };
    const queue = media({ journal }).queue(videos(20), { name: 'nightly' });
    const results = collect(queue);
    await pass(1_000);
    queue.drain();
    expect(await inTime(results)).toEqual([]);
    expect(fake.files).toEqual([]);
    const again = media({ journal: memory }).queue(videos(20), { name: 'nightly' });
    expect((await inTime(collect(again))).filter(({ file }) => file)).toHaveLength(20);
    expect(fake.files).toHaveLength(20);
  });
});

describe('a spending cap', () => {
  it('submits no more than `maxJobs`', async () => {
    const { fake, media } = fakeService();
    const results = await inTime(collect(media().queue(videos(30), { maxJobs: 7 })));
    expect(fake.files).toHaveLength(7);
    expect(codes(results).filter((code) => code === 'SPENDING_CAP')).toHaveLength(23);
  });

  it('does not count what was refused', async () => {
    const { fake, media } = fakeService();
    fake.fail('POST /v1/generate/video', { status: 429 });
    const results = await inTime(collect(media().queue(videos(1), { maxJobs: 1 })));
    expect(results.filter(({ file }) => file)).toHaveLength(1);
  });

  it.each([{ maxJobs: Number.NaN }, { maxJobs: -1 }])(
    'of %j is refused before the network',
    async (options) => {
      const { fake, media } = fakeService();
      const run = inTime(collect(media().queue(videos(1), options)));
      await expect(run).rejects.toMatchObject({ name: 'ConfigurationError' });
      expect(fake.requests).toEqual([]);
    },
  );
});

describe('what a queue tells', () => {
  it.each([
    ['a list, from the start', videos(130), 130],
    ['a stream, once it has been read', streamOf(videos(130)), undefined],
  ])('of all jobs of %s: how many there are', async (_, jobs, first) => {
    const { media } = fakeService();
    const seen: QueueProgress[] = [];
    const onProgress = (progress: QueueProgress) => seen.push(progress);
    await inTime(collect(media().queue(jobs, { onProgress })));
    expect(seen[0]!.total).toBe(first);
    expect(seen.at(-1)).toMatchObject({ total: 130, done: 130, pending: 0, waiting: 0 });
    expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([first, 130]));
  });
});

async function* streamOf<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    yield await Promise.resolve(item);
  }
}
