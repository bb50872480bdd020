import {
  memoryJournal,
  type MediaClient,
  type MediaFile,
  type QueueResult,
  type SavedJob,
} from 'postreel';
import { describe, expect, it } from 'vitest';
import { collect, videos } from '../../support/media/queue-helpers.js';
import {
  ending,
  fakeService,
  inTime,
  pass,
  statusEndpoint,
  useFakeTime,
} from '../../support/media/fake-time.js';

useFakeTime();

function saving() {
  const service = fakeService();
  const journal = memoryJournal();
  return { ...service, journal, client: service.media({ journal }) };
}

const pendingOf = async ({ journal }: MediaClient) => {
  const { jobs, finished } = await journal.pending();
  return { jobs: jobs.length, finished: finished.length };
};

describe('a queue with `save`', () => {
  it('yields a file once it is saved and no longer listed', async () => {
    const { client } = saving();
    const saved: string[] = [];
    const jobs = videos(3);
    const save = async (file: MediaFile, { index, input, job }: SavedJob) => {
      await file.arrayBuffer();
      expect(job.fileId).toBe(file.fileId);
      expect(input).toBe(jobs[index]);
      saved.push(file.fileId);
    };
    const results: QueueResult[] = [];
    const run = async () => {
      for await (const result of client.queue(jobs, { name: 'batch', save })) {
        expect(saved).toContain(result.file!.fileId);
        results.push(result);
      }
    };
    await inTime(run());
    expect(results).toHaveLength(3);
    expect(await pendingOf(client)).toEqual({ jobs: 0, finished: 0 });
  });

  it('yields the error of `save` as the error of the job, and keeps the file listed', async () => {
    const { client } = saving();
    const failure = new Error('disk full');
    const save = (_: MediaFile, { index }: SavedJob) =>
      index === 1 ? Promise.reject(failure) : Promise.resolve();
    const results = await inTime(collect(client.queue(videos(3), { name: 'batch', save })));
    expect(results.map(({ error }) => error)).toEqual([undefined, failure, undefined]);
    expect(results[1]!.job).toBeDefined();
    expect((await client.journal.pending()).finished.map(({ fileId }) => fileId)).toEqual([
      results[1]!.job!.fileId,
    ]);
  });

  it('saves only the files again whose saving a crash interrupted', async () => {
    const { fake, media, journal, client } = saving();
    const started: number[] = [];
    const controller = new AbortController();
    const crashing = (_: MediaFile, { index }: SavedJob) => {
      started.push(index);
      return index === 1 ? new Promise(() => undefined) : Promise.resolve();
    };
    const options = { name: 'batch', save: crashing, signal: controller.signal };
    const run = ending(collect(client.queue(videos(3), options)));
    await pass(600_000);
    expect(started.sort()).toEqual([0, 1, 2]);
    expect(await pendingOf(client)).toEqual({ jobs: 1, finished: 1 });
    controller.abort();
    await run;
    const again: number[] = [];
    const save = (_: MediaFile, { index }: SavedJob) => Promise.resolve(again.push(index));
    const results = await inTime(
      collect(media({ journal }).queue(videos(3), { name: 'batch', save })),
    );
    expect(again).toEqual([1]);
    expect(results.filter(({ file }) => file)).toHaveLength(3);
    expect(await pendingOf(client)).toEqual({ jobs: 0, finished: 0 });
    expect(fake.files).toHaveLength(3);
  });

  it.each([403, 410])('requests a new URL when the old one responds with %i', async (status) => {
    const { fake, client } = saving();
    let saves = 0;
    const save = async (file: MediaFile) => {
      if (++saves === 1) {
        fake.fail('GET /cdn/{file}', { status });
        const [made] = fake.files;
        made!.download = made!.download!.replace('.mp4', '-2.mp4');
      }
      await file.response();
    };
    const checks = () => fake.requests.filter(({ endpoint }) => endpoint === statusEndpoint).length;
    const [result] = await inTime(collect(client.queue(videos(1), { name: 'batch', save })));
    expect(result!.error).toBeUndefined();
    expect(fake.requests.filter(({ endpoint }) => endpoint === 'GET /cdn/{file}')).toHaveLength(2);
    expect(fake.requests.at(-2)).toMatchObject({ endpoint: statusEndpoint });
    expect(checks()).toBeGreaterThan(1);
  });
});

describe('a queue without `save`', () => {
  it('keeps a file listed until the next result is requested', async () => {
    const { client } = saving();
    const results = client.queue(videos(2), { name: 'batch' })[Symbol.asyncIterator]();
    await inTime(results.next());
    await pass(60_000);
    expect(await pendingOf(client)).toEqual({ jobs: 2, finished: 2 });
    await inTime(results.next());
    expect(await pendingOf(client)).toEqual({ jobs: 1, finished: 1 });
    await inTime(results.next());
    expect(await pendingOf(client)).toEqual({ jobs: 0, finished: 0 });
  });
});
