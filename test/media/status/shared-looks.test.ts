import { describe, expect, it } from 'vitest';
import { arrivals } from '../../support/fake-server.js';
import {
  ending,
  fakeService,
  gaps,
  inTime,
  pass,
  statusEndpoint,
  speech,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

describe('two waits for the same file', () => {
  it('share every status check', async () => {
    const { fake, media } = fakeService({ durations: () => '3m' });
    const client = media();
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    const seen: number[][] = [[], []];
    const waits = seen.map((looks) =>
      client.waitForFile(job!.fileId, { onUpdate: ({ attempt }) => looks.push(attempt) }),
    );
    const files = await inTime(Promise.all(waits));
    expect(files.map(({ fileId }) => fileId)).toEqual([job!.fileId, job!.fileId]);
    const looks = arrivals(fake.requests, statusEndpoint);
    expect(Math.max(...seen.map((attempts) => attempts.length))).toBeLessThanOrEqual(looks);
    expect(Math.min(...gaps(fake.requests))).toBeGreaterThan(1_000);
    // One wait alone takes about ten looks in three minutes.
    expect(looks).toBeLessThanOrEqual(13);
  });

  it('that start at different times make few more checks than one alone', async () => {
    const { fake, media } = fakeService({ durations: () => '5m' });
    const client = media();
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    const options = { interval: 10_000 };
    const waits = [job!.waitForFile(options)];
    for (let other = 0; other < 4; other++) {
      await pass(11_000);
      waits.push(job!.waitForFile(options));
    }
    await inTime(Promise.all(waits));
    expect(arrivals(fake.requests, statusEndpoint)).toBeLessThan(70);
  });

  it('end independently', async () => {
    const { media } = fakeService();
    const client = media();
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    const controller = new AbortController();
    const left = ending(job!.waitForFile({ signal: controller.signal }));
    const short = ending(job!.waitForFile({ timeout: 15_000 }));
    const patient = job!.waitForFile();
    await pass(12_000);
    controller.abort('enough');
    expect((await left).error).toBe('enough');
    expect((await inTime(short)).error).toMatchObject({ name: 'WaitTimeoutError' });
    expect((await inTime(patient)).fileId).toBe(job!.fileId);
  });

  it('keep their check when one of them is aborted during it', async () => {
    const { fake, media } = fakeService({ durations: () => '10s' });
    const client = media();
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    fake.fail(statusEndpoint, { slow: 2_000 });
    const controller = new AbortController();
    const left = ending(job!.waitForFile({ signal: controller.signal }));
    const patient = job!.waitForFile();
    await pass(11_000);
    controller.abort('enough');
    expect((await left).error).toBe('enough');
    expect((await inTime(patient)).fileId).toBe(job!.fileId);
    expect(arrivals(fake.requests, statusEndpoint)).toBe(1);
  });

  it('both end when one of them sees the last status', async () => {
    const { media } = fakeService({ durations: () => '21s' });
    const client = media();
    const job = await inTime(client.generate.audio(speech()));
    const rare = job.waitForFile({ interval: 500_000 });
    const startedAt = Date.now();
    void job.waitForFile({ interval: 5_000 });
    await inTime(rare);
    expect(Date.now() - startedAt).toBeLessThanOrEqual(26_000);
  });
});

describe('the status checks of many files', () => {
  it('are spaced evenly, never in bursts', async () => {
    const { fake, media } = fakeService();
    const client = media();
    const payload = Array.from({ length: 20 }, () => video());
    const jobs = await inTime(client.generate.video({ payload }));
    await inTime(Promise.all(jobs.map((job) => job.waitForFile())));
    expect(Math.min(...gaps(fake.requests))).toBeGreaterThanOrEqual(99);
  });
});
