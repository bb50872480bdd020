import type { MediaJob, MediaQueue, QueueOptions, QueueResult, QueueProgress } from 'postreel';
import { describe, expect, it } from 'vitest';
import type { FakeMedia } from 'postreel/testing';
import {
  audioEndpoint,
  fakeService,
  gaps,
  inTime,
  pass,
  videoEndpoint,
  speech,
  statusEndpoint,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

async function collect(queue: AsyncIterable<QueueResult>): Promise<QueueResult[]> {
  const results: QueueResult[] = [];
  for await (const result of queue) {
    results.push(result);
  }
  return results;
}

const videos = (count: number, more: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => video({ prompt: String(index), ...more(index) }));

/** The most calls in any window, and the most jobs that were pending at one time. */
function extremes({ requests, files }: FakeMedia) {
  const calls = requests.filter(({ method }) => method === 'POST').map(({ at }) => at);
  const inWindow = calls.map((at) => calls.filter((other) => other >= at && other < at + 600_000));
  const pending = files.map(({ acceptedAt: at }) =>
    files.filter(({ acceptedAt, finishesAt }) => acceptedAt <= at && at < finishesAt),
  );
  return {
    calls: calls.length,
    inWindow: Math.max(...inWindow.map(({ length }) => length)),
    pending: Math.max(...pending.map(({ length }) => length)),
    refused: requests.filter(({ status }) => status === 429).length,
  };
}

const payloads = ({ requests }: FakeMedia) =>
  requests
    .filter(({ endpoint }) => endpoint === videoEndpoint)
    .map(({ body }) => body as { payload: { prompt: string }[]; folderId?: string });

describe('a queue', () => {
  it('yields every file when it is finished, with its index, job and input', async () => {
    const { fake, media } = fakeService({
      durations: (file) => `${9 - Number(file.settings.prompt)}m`,
    });
    const input = videos(5);
    const results = await inTime(collect(media().queue(input)));
    expect(results.map(({ index }) => index)).toEqual([4, 3, 2, 1, 0]);
    for (const { index, input: given, job, file } of results) {
      expect(given).toBe(input[index]);
      expect(file!.fileId).toBe(job!.fileId);
      expect(fake.files.find(({ fileId }) => fileId === file!.fileId)!.settings.prompt).toBe(
        String(index),
      );
    }
    // The first goes alone: nothing like it has been accepted before.
    expect(payloads(fake).map(({ payload }) => payload.length)).toEqual([1, 4]);
  });

  it('keeps to both limits for every input', async () => {
    const { fake, media } = fakeService();
    const input = videos(70, (index) => ({ duration: 1 + (index % 7) / 2 }));
    const results = await inTime(collect(media().queue(input)));
    expect(results.filter(({ error }) => error === undefined)).toHaveLength(70);
    const { inWindow, pending, refused } = extremes(fake);
    expect(refused).toBe(0);
    expect(inWindow).toBeLessThanOrEqual(10);
    expect(pending).toBeLessThanOrEqual(20);
  });

  it('submits the longest first', async () => {
    const { fake, media } = fakeService();
    const input = videos(40, (index) => ({ duration: 1 + index / 10 }));
    await inTime(collect(media().queue(input)));
    const order = payloads(fake).flatMap(({ payload }) =>
      payload.map(({ prompt }) => Number(prompt)),
    );
    expect(order).toEqual(videos(40).map((_, index) => 39 - index));
  });

  it('puts all videos into one folder: a new one, or the given one', async () => {
    const { fake, media } = fakeService();
    await inTime(collect(media().queue(videos(45))));
    expect(new Set(fake.files.map(({ folderId }) => folderId)).size).toBe(1);
    expect(fake.folders).toHaveLength(1);
    fake.folders.push({ folderId: 'folder_mine', name: 'Mine' });
    await inTime(collect(media().queue(videos(3), { folderId: 'folder_mine' })));
    expect(fake.files.slice(45).map(({ folderId }) => folderId)).toEqual(
      Array<string>(3).fill('folder_mine'),
    );
  });

  it.each([1, 2, 7])('makes at most %i at one time with `concurrency`', async (concurrency) => {
    const { fake, media } = fakeService({ durations: () => '2m' });
    const results = await inTime(collect(media().queue(videos(9), { concurrency })));
    expect(results.filter(({ file }) => file)).toHaveLength(9);
    expect(extremes(fake).pending).toBe(concurrency);
  });

  it('accepts videos and texts to speak in one input', async () => {
    const { fake, media } = fakeService();
    const input: MediaJob[] = [video(), speech(), video(), speech({ content: 'Good night!' })];
    const results = await inTime(collect(media().queue(input)));
    const kinds = results.toSorted((a, b) => a.index - b.index).map(({ job }) => job?.kind);
    expect(kinds).toEqual(['video', 'audio', 'video', 'audio']);
    expect(fake.requests.filter(({ endpoint }) => endpoint === audioEndpoint)).toHaveLength(2);
    expect(payloads(fake).map(({ payload }) => payload.length)).toEqual([1, 1]);
  });

  it('speaks many texts within ten calls in ten minutes', async () => {
    const { fake, media } = fakeService();
    const input = Array.from({ length: 25 }, (_, index) => speech({ content: `Number ${index}.` }));
    const results = await inTime(collect(media().queue(input)));
    expect(results.filter(({ file }) => file)).toHaveLength(25);
    expect(extremes(fake)).toMatchObject({ refused: 0, inWindow: 10 });
  });

  it('without jobs ends at once, without a call', async () => {
    const { fake, media } = fakeService();
    expect(await inTime(collect(media().queue([])))).toEqual([]);
    expect(fake.requests).toEqual([]);
  });

  it('can be iterated only once, because every job would be paid for again', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(3));
    await inTime(collect(queue));
    await expect(collect(queue)).rejects.toMatchObject({ code: 'QUEUE_STARTED' });
    expect(fake.files).toHaveLength(3);
  });

  it('sends nothing before it is iterated', async () => {
    const { fake, media } = fakeService();
    media().queue(videos(3));
    await pass(60_000);
    expect(fake.requests).toEqual([]);
  });
});

describe('the input of a queue', () => {
  it('may be asynchronous, and each call contains the jobs read so far', async () => {
    const { fake, media } = fakeService();
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream that is always ready
    async function* source() {
      yield* videos(30);
    }
    const results = await inTime(collect(media().queue(source())));
    expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual(
      videos(30).map((_, index) => index),
    );
    expect(
      payloads(fake)
        .map(({ payload }) => payload.length)
        .slice(0, 2),
    ).toEqual([1, 19]);
  });

  it('may be slow: the jobs read so far do not wait for the rest', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    async function* source() {
      for (const job of videos(3)) {
        yield job;
        await new Promise((resolve) => setTimeout(resolve, 400_000));
      }
    }
    const results = await inTime(collect(media().queue(source())));
    expect(results.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(payloads(fake)).toHaveLength(3);
    for (const [index, gap] of gaps(fake.requests, videoEndpoint).entries()) {
      expect(gap, String(index)).toBeLessThan(405_000);
    }
  });

  it('may be endless: only a limited number of jobs is prefetched', async () => {
    const { media } = fakeService();
    let read = 0;
    let isClosed = false;
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream that is always ready
    async function* source() {
      try {
        for (;;) {
          yield video({ prompt: String(read++) });
        }
      } finally {
        isClosed = true;
      }
    }
    const take = async (queue: MediaQueue, count: number) => {
      for await (const { error } of queue) {
        if (error !== undefined || --count === 0) {
          break;
        }
      }
    };
    await inTime(take(media().queue(source()), 50));
    expect(read).toBeLessThanOrEqual(50 + 20 + 21);
    await pass(1);
    expect(isClosed).toBe(true);
  });

  it('that throws ends the queue with its error, once the jobs read before are finished', async () => {
    const { media } = fakeService();
    async function* source() {
      yield* videos(3);
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      throw new Error('the database is gone');
    }
    const results: QueueResult[] = [];
    const run = async () => {
      for await (const result of media().queue(source())) {
        results.push(result);
      }
    };
    await expect(inTime(run())).rejects.toThrow('the database is gone');
    expect(results.filter(({ file }) => file)).toHaveLength(3);
  });
});

describe('the progress of a queue', () => {
  it('is reported after every change', async () => {
    const { fake, media } = fakeService();
    fake.outcome({ status: 'error' });
    const seen: QueueProgress[] = [];
    const options: QueueOptions = { onProgress: (progress) => seen.push(progress) };
    await inTime(collect(media().queue(videos(30), options)));
    expect(seen.at(-1)).toEqual({
      done: 29,
      failed: 1,
      pending: 0,
      waiting: 0,
      total: 30,
    });
    expect(seen[0]).toMatchObject({ done: 0, failed: 0 });
    expect(seen).toContainEqual(expect.objectContaining({ pending: 20, waiting: 10 }));
    for (const { done, failed, pending, waiting } of seen) {
      expect(done + failed + pending + waiting).toBeLessThanOrEqual(30);
    }
  });

  it('is reported although the callback throws', async () => {
    const { media } = fakeService();
    const onProgress = () => {
      throw new Error('a bug of the caller');
    };
    expect(await inTime(collect(media().queue(videos(2), { onProgress })))).toHaveLength(2);
  });
});

describe('two queues', () => {
  it('of one project share the slots and the calls', async () => {
    const { fake, media } = fakeService();
    const queues = [media().queue(videos(30)), media().queue(videos(30))];
    const results = await inTime(Promise.all(queues.map(collect)));
    expect(results.flat().filter(({ file }) => file)).toHaveLength(60);
    const { inWindow, pending, refused } = extremes(fake);
    expect({ refused, pending: Math.max(20, pending) }).toEqual({ refused: 0, pending: 20 });
    expect(inWindow).toBeLessThanOrEqual(10);
  });

  it('check the status of each file together, and only of their own files', async () => {
    const { fake, media } = fakeService({ durations: () => '40s' });
    const client = media();
    await inTime(Promise.all([client.queue(videos(2)), client.queue(videos(2))].map(collect)));
    const looks = fake.requests.filter(({ endpoint }) => endpoint === statusEndpoint);
    expect(looks.length).toBeLessThanOrEqual(4 * 5);
  });
});
