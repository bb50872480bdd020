import { memoryJournal, type QueueProgress, type QueueUpdate } from 'postreel';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../support/transport/memory-store.js';
import { calls, collect, videos } from '../../support/media/queue-helpers.js';
import {
  ending,
  fakeService,
  inTime,
  pass,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

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
    expect(calls(fake)).toBe(1);
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
  it.each(['drain', 'pause', 'deadline'] as const)(
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
      const deadline = what === 'deadline' ? { deadline: minuteMs } : {};
      const queue = client.queue(videos(3), deadline);
      const results = collect(queue);
      await pass(minuteMs);
      if (what !== 'deadline') {
        queue[what]();
      }
      await pass(30 * minuteMs);
      expect(fake.files).toEqual([]);
      if (what === 'pause') {
        queue.resume();
        expect((await inTime(results)).filter(({ file }) => file)).toHaveLength(3);
      } else {
        const left =
          what === 'deadline' ? Array.from({ length: 3 }, () => 'DEADLINE_EXCEEDED') : [];
        expect(codes(await inTime(results))).toEqual(left);
      }
    },
  );

  it('comes back at drain() while its claim is written, and leaves no claim behind', async () => {
    const { fake, media } = fakeService();
    const memory = memoryJournal();
    const journal = {
      ...memory,
      async putIfAbsent(key: string, value: string) {
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        return memory.putIfAbsent(key, value);
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

describe('a deadline of the queue', () => {
  it('gives each job of a list a result, also those that were not read by then', async () => {
    const { fake, media } = fakeService({ durations: () => '30m' });
    const options = { name: 'nightly', deadline: 10 * minuteMs };
    const client = media({ journal: memoryJournal() });
    const results = await inTime(collect(client.queue(videos(1_000), options)));
    expect(results).toHaveLength(1_000);
    const unsent = results.filter(({ job }) => job === undefined);
    expect(unsent).toHaveLength(1_000 - fake.files.length);
    for (const { error } of unsent) {
      expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'not-sent' });
    }
  });

  it('ends soon though the rest of the list cannot be looked up: its journal is gone', async () => {
    const { media } = fakeService({ durations: () => '30m' });
    const memory = memoryJournal();
    const startedAt = Date.now();
    const get: typeof memory.get = (keys) =>
      Date.now() - startedAt > minuteMs ? Promise.reject(new Error('gone')) : memory.get(keys);
    const client = media({ journal: { ...memory, get } });
    client.on('warning', () => undefined);
    const options = { name: 'nightly', deadline: 10 * minuteMs };
    const { error } = await ending(inTime(collect(client.queue(videos(1_000), options))));
    expect(error).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
    expect(Date.now() - startedAt).toBeLessThan(12 * minuteMs);
  });

  it('reads no more of a stream: it may have no end', async () => {
    const { media } = fakeService({ durations: () => '30m' });
    let read = 0;
    function* endless() {
      for (;;) {
        yield video({ prompt: String(read++) });
      }
    }
    const results = await inTime(collect(media().queue(endless(), { deadline: 10 * minuteMs })));
    expect(results).toHaveLength(read);
  });

  it('says that a job may have been submitted which another run had claimed', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    const fetch: typeof globalThis.fetch = (input, init) => {
      const never = new Promise<never>(() => undefined); // it crashes before the answer
      return fake.fetch(input, init).then(() => never);
    };
    const crashed = media({ journal, fetch }).queue([video()], { name: 'nightly' });
    void ending(crashed[Symbol.asyncIterator]().next());
    await pass(5_000);
    const options = { name: 'nightly', deadline: minuteMs };
    const [result] = await inTime(collect(media({ journal }).queue([video()], options)));
    expect(fake.files).toHaveLength(1);
    expect(result!.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'unknown' });
  });

  it('ends what runs as unknown and what waits as not sent, in time', async () => {
    const { fake, media } = fakeService({ durations: () => '30m' });
    const startedAt = Date.now();
    const results = await inTime(collect(media().queue(videos(25), { deadline: 10 * minuteMs })));
    expect(Date.now() - startedAt).toBe(10 * minuteMs);
    expect(results.filter(({ job }) => job)).toHaveLength(20);
    for (const { job, error } of results) {
      expect(error).toMatchObject(
        job ? { name: 'WaitTimeoutError' } : { code: 'DEADLINE_EXCEEDED', outcome: 'not-sent' },
      );
    }
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

  it('submits no more than `maxMinutes`', async () => {
    const { fake, media } = fakeService();
    const jobs = videos(10).map((job) => ({ ...job, duration: 3 }));
    const results = await inTime(collect(media().queue(jobs, { maxMinutes: 10 })));
    expect(fake.files).toHaveLength(3);
    expect(codes(results).filter((code) => code === 'SPENDING_CAP')).toHaveLength(7);
  });

  it('does not count what was refused', async () => {
    const { fake, media } = fakeService();
    fake.fail('POST /v1/generate/video', { status: 429 });
    const results = await inTime(collect(media().queue(videos(1), { maxJobs: 1 })));
    expect(results.filter(({ file }) => file)).toHaveLength(1);
  });

  it.each([{ maxJobs: Number.NaN }, { maxJobs: -1 }, { maxMinutes: Number.NaN }])(
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
  it('of each check: the job, and a progress from 0 to 1 with the raw answer beside it', async () => {
    const { media } = fakeService({ durations: () => '2m' });
    const updates: QueueUpdate[] = [];
    const onUpdate = (update: QueueUpdate) => updates.push(update);
    await inTime(collect(media().queue([video()], { onUpdate })));
    expect(updates.length).toBeGreaterThan(3);
    for (const { index, job, status, progress, raw } of updates) {
      expect(index).toBe(0);
      expect(job.fileId).toBe(raw.fileId);
      expect(status).toBe(raw.status);
      expect(progress).toBeGreaterThanOrEqual(0);
      expect(progress).toBeLessThanOrEqual(1);
    }
    expect(updates.at(-1)).toMatchObject({ status: 'success' });
  });

  it.each([
    [
      [0, 25, 50, 100],
      [0, 0.25, 0.5, 1],
    ],
    [
      [0, 0.25, 0.5, 1],
      [0, 0.25, 0.5, 1],
    ],
    [
      ['half', -1, undefined, 100],
      [undefined, undefined, undefined, 1],
    ],
  ])('of the progress %j is %j', async (sent, shown) => {
    const { media } = fakeService();
    const values = [...sent];
    const body = (method: string) => {
      if (method === 'POST') {
        return { success: true, data: { folderId: 'f', filesCreated: ['file_1'] } };
      }
      const progress = values.shift();
      return values.length > 0
        ? { fileId: 'file_1', status: 'processing', progress }
        : { fileId: 'file_1', status: 'success', progress, download: 'https://cdn.test/1' };
    };
    const fetch: typeof globalThis.fetch = (input, init) =>
      Promise.resolve(Response.json(body(new Request(input, init).method)));
    const seen: (number | undefined)[] = [];
    const onUpdate = ({ progress }: QueueUpdate) => seen.push(progress);
    await inTime(collect(media({ fetch }).queue([video()], { onUpdate })));
    expect(seen).toEqual(shown);
  });

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
