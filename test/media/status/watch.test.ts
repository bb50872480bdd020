import type { FileUpdate } from 'postreel';
import { describe, expect, it } from 'vitest';
import {
  ending,
  fakeService,
  inTime,
  pass,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

async function collect(updates: AsyncIterable<FileUpdate>): Promise<string[]> {
  const statuses: string[] = [];
  for await (const { status } of updates) {
    statuses.push(status);
  }
  return statuses;
}

async function oneVideo(options: Parameters<typeof fakeService>[0] = {}) {
  const service = fakeService(options);
  const client = service.media();
  const [job] = await inTime(client.generate.video({ payload: [video()] }));
  return { ...service, client, job: job! };
}

describe('watch', () => {
  it('yields every check up to the last status', async () => {
    const { client, job } = await oneVideo({ durations: () => '40s', queueTime: '15s' });
    const statuses = await inTime(collect(client.watch(job.fileId, { interval: 10_000 })));
    expect(statuses).toEqual(['queued', 'processing', 'processing', 'success']);
  });

  it('is a method of the job handle, too', async () => {
    const { job } = await oneVideo({ durations: () => '15s' });
    const statuses = await inTime(collect(job.watch({ interval: 10_000 })));
    expect(statuses).toEqual(['processing', 'success']);
  });

  it.each(['error', 'canceled'] as const)(
    'ends with the status %s without an error',
    async (end) => {
      const { fake, media } = fakeService();
      fake.outcome({ status: end, after: '15s' });
      const [job] = await inTime(media().generate.video({ payload: [video()] }));
      const statuses = await inTime(collect(job!.watch({ interval: 10_000 })));
      expect(statuses).toEqual(['processing', end]);
    },
  );

  it('throws the error that ends the wait without a last status', async () => {
    const { job } = await oneVideo({ durations: () => '5h' });
    const { error } = await inTime(ending(collect(job.watch({ timeout: 60_000 }))));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', lastStatus: 'processing' });
    const gone = await inTime(ending(collect(fakeService().media().watch('file_9'))));
    expect(gone.error).toMatchObject({ name: 'NotFoundError' });
  });

  it('throws when a finished file never gets a download URL', async () => {
    const { fake, media } = fakeService();
    fake.outcome({ omitDownload: true });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const { error } = await inTime(ending(collect(job!.watch())));
    expect(error).toMatchObject({ code: 'DOWNLOAD_MISSING' });
  });

  it('works with an interval of zero, and calls onUpdate as well', async () => {
    const { job } = await oneVideo({ durations: () => '1s', queueTime: 0 });
    const seen: string[] = [];
    const onUpdate = ({ status }: FileUpdate) => seen.push(status);
    const statuses = await inTime(collect(job.watch({ interval: 0, onUpdate })));
    expect(statuses.length).toBeGreaterThan(3);
    expect(statuses.at(-1)).toBe('success');
    expect(seen).toEqual(statuses);
  });

  it('stops checking when the caller stops iterating', async () => {
    const { fake, job } = await oneVideo({ durations: () => '5h' });
    const first = async () => {
      for await (const update of job.watch()) {
        return update;
      }
      return undefined;
    };
    expect(await inTime(first())).toMatchObject({ status: 'processing' });
    await pass(300_000);
    expect(fake.requests).toHaveLength(2);
  });

  it('throws the reason of an abort at once', async () => {
    const { job } = await oneVideo({ durations: () => '5h' });
    const controller = new AbortController();
    const run = ending(collect(job.watch({ signal: controller.signal })));
    await pass(15_000);
    controller.abort('enough');
    expect((await run).error).toBe('enough');
    const before = job.watch({ signal: AbortSignal.abort('before') });
    expect((await ending(collect(before))).error).toBe('before');
  });

  it('loses no update when the caller is slow', async () => {
    const { job } = await oneVideo({ durations: () => '1m' });
    const attempts: number[] = [];
    const listen = async () => {
      for await (const { attempt } of job.watch({ interval: 10_000 })) {
        attempts.push(attempt);
        await new Promise((resolve) => setTimeout(resolve, 25_000));
      }
    };
    await inTime(listen());
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
