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
  it('stop submitting, wait for the jobs in progress, and continue', async () => {
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

  it('can be called before the queue is iterated', async () => {
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
  it('waits for the jobs in progress, submits no more, and ends the queue', async () => {
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

  it('leaves a job that waits for the claim of another process to the next run', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    const dying = media({ journal, fetch: () => new Promise(() => undefined) });
    collect(dying.queue(videos(1), { name: 'cats' })).catch(() => undefined);
    await pass(1_000); // it has claimed the job
    const client = media({ journal });
    const warned = new Promise((resolve) => client.once('warning', resolve));
    const queue = client.queue(videos(1), { name: 'cats' });
    const results = collect(queue);
    await inTime(warned);
    queue.drain();
    expect(await inTime(results)).toEqual([]);
    expect(fake.requests).toEqual([]);
  });

  it('before the queue is iterated ends it at once, without a call', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(3));
    queue.drain();
    expect(await inTime(collect(queue))).toEqual([]);
    expect(fake.requests).toEqual([]);
  });
});

describe('a call that has not been sent', () => {
  it.each(['drain', 'pause'] as const)(
    'is cancelled by %s while it waits for a rate limit that other processes use up',
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

  it('is cancelled by drain() while its claim is written, and leaves no claim in the journal', async () => {
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

  it('does not count refused jobs', async () => {
    const { fake, media } = fakeService();
    fake.fail('POST /v1/generate/video', { status: 429 });
    const results = await inTime(collect(media().queue(videos(1), { maxJobs: 1 })));
    expect(results.filter(({ file }) => file)).toHaveLength(1);
  });

  it('is not reached while the last call is in flight, because its jobs may be refused', async () => {
    const { fake, media } = fakeService();
    const memory = memoryJournal();
    const [known, fresh] = videos(2);
    await inTime(collect(media({ journal: memory }).queue([known!], { name: 'nightly' })));
    let finds = 0;
    const journal = {
      ...memory,
      async get(key: string) {
        await new Promise((resolve) => setTimeout(resolve, ++finds === 2 ? 3_000 : 0));
        return memory.get(key);
      },
    };
    fake.fail('POST /v1/generate/video', { status: 429, slow: 10_000 });
    const queue = media({ journal }).queue([fresh!, known!], { name: 'nightly', maxJobs: 1 });
    expect(codes(await inTime(collect(queue)))).toEqual([undefined, undefined]);
    expect(fake.files).toHaveLength(2);
  });

  it('that is reached ends the remaining jobs at once, also after jobs of an earlier run', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    const input = videos(4);
    await inTime(collect(media({ journal }).queue(input.slice(0, 1), { name: 'nightly' })));
    const queue = media({ journal }).queue(input, { name: 'nightly', maxJobs: 1 });
    const results = await inTime(collect(queue));
    expect(codes(results).filter((code) => code === 'SPENDING_CAP')).toHaveLength(2);
    expect(fake.files).toHaveLength(2);
  });

  it.each([{ maxJobs: Number.NaN }, { maxJobs: -1 }])(
    'of %j is rejected before a request is sent',
    async (options) => {
      const { fake, media } = fakeService();
      const run = inTime(collect(media().queue(videos(1), options)));
      await expect(run).rejects.toMatchObject({ name: 'ConfigurationError' });
      expect(fake.requests).toEqual([]);
    },
  );
});

describe('the progress of a queue', () => {
  it.each([
    ['a list, from the start', videos(30), 30],
    ['a stream, once it has been read', streamOf(videos(30)), undefined],
  ])('has the total for %s', async (_, jobs, first) => {
    const { media } = fakeService();
    const seen: QueueProgress[] = [];
    const onProgress = (progress: QueueProgress) => seen.push(progress);
    await inTime(collect(media().queue(jobs, { onProgress })));
    expect(seen[0]!.total).toBe(first);
    expect(seen.at(-1)).toMatchObject({ total: 30, done: 30, pending: 0, waiting: 0 });
    expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([first, 30]));
  });
});

async function* streamOf<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    yield await Promise.resolve(item);
  }
}
