import type { FileUpdate, MediaClient } from 'postreel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ending,
  fakeService,
  gaps,
  inTime,
  pass,
  speech,
  statusEndpoint,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

describe('the first status check', () => {
  it.each([
    ['video', 10_000],
    ['audio', 3_000],
  ] as const)('at a fresh %s comes after %i ms', async (kind, delayMs) => {
    const { fake, media } = fakeService();
    const job =
      kind === 'video'
        ? (await inTime(media().generate.video({ payload: [video()] })))[0]!
        : await inTime(media().generate.audio(speech()));
    await inTime(job.waitForFile());
    const look = fake.requests.find(({ endpoint }) => endpoint === statusEndpoint);
    expect(look!.at - fake.files[0]!.acceptedAt).toBe(delayMs);
  });

  it('of a job that is some seconds old is made that much earlier', async () => {
    const { fake, media } = fakeService();
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    await pass(4_000);
    await inTime(job!.waitForFile());
    expect(fake.requests[1]!.at - fake.requests[0]!.at).toBe(10_000);
  });

  it('of an existing file is made at once', async () => {
    const { fake, media } = fakeService();
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    await pass(60_000);
    const startedAt = Date.now();
    await inTime(media().waitForFile(job!.fileId)); // another client knows only the id
    expect(fake.requests[1]!.at).toBe(startedAt);
  });
});

describe('the interval', () => {
  it.each([
    ['video', 10_000, 30_000],
    ['audio', 3_000, 5_000],
  ] as const)('of a %s grows from %i to %i ms, give or take a tenth', async (kind, from, to) => {
    const { fake, media } = fakeService({ durations: () => '9m', queueTime: 0 });
    const client = media();
    const job =
      kind === 'video'
        ? (await inTime(client.generate.video({ payload: [video()] })))[0]!
        : await inTime(client.generate.audio(speech()));
    await inTime(job.waitForFile());
    const between = gaps(fake.requests);
    between.forEach((gap, index) => {
      const middle = Math.min(to, from * 1.25 ** index);
      expect(gap).toBeGreaterThanOrEqual(Math.floor(middle * 0.9));
      expect(gap).toBeLessThanOrEqual(Math.ceil(middle * 1.1));
    });
    expect(new Set(between).size).toBeGreaterThan(between.length / 2); // jitter
  });

  it('starts over when the status changes', async () => {
    const { fake, media } = fakeService({ durations: () => '10m', queueTime: '5m' });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const statuses: string[] = [];
    await inTime(job!.waitForFile({ onUpdate: ({ status }) => statuses.push(status) }));
    const change = statuses.indexOf('processing');
    const between = gaps(fake.requests);
    expect(between[change - 1]).toBeGreaterThanOrEqual(27_000);
    expect(between[change]).toBeLessThanOrEqual(11_000);
    expect(between[change + 1]).toBeLessThanOrEqual(13_750);
  });

  it('can be a number', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    await inTime(job!.waitForFile({ interval: 7_000 }));
    expect(new Set(gaps(fake.requests))).toEqual(new Set([7_000]));
    expect(fake.requests[1]!.at - fake.requests[0]!.at).toBe(7_000);
  });

  it('can be a function of the last check', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const seen: unknown[] = [];
    const interval = (update: Omit<FileUpdate, 'nextPollInMs'>) => {
      seen.push(update);
      return update.attempt * 5_000;
    };
    await inTime(job!.waitForFile({ interval }));
    expect(gaps(fake.requests)).toEqual([5_000, 10_000, 15_000, 20_000]);
    expect(seen[0]).toMatchObject({ fileId: job!.fileId, status: 'processing', attempt: 1 });
  });

  it.each([
    ['throws', () => assertNever()],
    ['answers no number', () => Number.NaN],
    ['answers a number below zero', () => -1],
  ])('is the usual one when the function %s', async (_, interval) => {
    const { fake, media } = fakeService({ durations: () => '40s' });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    await inTime(job!.waitForFile({ interval }));
    for (const gap of gaps(fake.requests)) {
      expect(gap).toBeGreaterThanOrEqual(9_000);
    }
  });

  it.each([Number.NaN, -1, 'soon'])('cannot be %s', async (interval) => {
    const { fake, media } = fakeService();
    const options = { interval: interval as number }; // what plain JavaScript may pass
    const wait = media().waitForFile('file_1', options);
    await expect(inTime(wait)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    expect(fake.requests).toEqual([]);
  });

  it('may be zero: checks are still spaced', async () => {
    const { fake, media } = fakeService({ durations: () => '2s' });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const file = await inTime(job!.waitForFile({ interval: 0 }));
    expect(file.fileId).toBe(job!.fileId);
    expect(Math.min(...gaps(fake.requests))).toBeGreaterThanOrEqual(100);
  });
});

describe('an update', () => {
  it('has the result of the check, and the time until the next one', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const client = media();
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    const updates: FileUpdate[] = [];
    const events: FileUpdate[] = [];
    client.on('job:update', (update) => events.push(update));
    await inTime(job!.waitForFile({ onUpdate: (update) => updates.push(update) }));
    expect(events).toEqual(updates);
    expect(updates.map(({ attempt }) => attempt)).toEqual(updates.map((_, index) => index + 1));
    expect(updates[0]).toMatchObject({
      fileId: job!.fileId,
      status: 'processing',
      elapsedMs: 10_000,
      raw: { fileId: job!.fileId, status: 'processing', progress: updates[0]!.progress },
    });
    const between = gaps(fake.requests);
    between.forEach((gap, index) => {
      expect(Math.abs(gap - updates[index]!.nextPollInMs)).toBeLessThan(2);
    });
    expect(updates.at(-1)).toMatchObject({ status: 'success', nextPollInMs: 0 });
  });

  it.each([0.42, 42, 420, -1, undefined])('has the progress %s unchanged', async (sent) => {
    const { fake, media } = fakeService();
    fake.outcome({ progress: sent ?? false });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const seen: unknown[] = [];
    await inTime(job!.waitForFile({ onUpdate: ({ progress }) => seen.push(progress) }));
    expect(new Set(seen)).toEqual(new Set([sent]));
  });

  it('is still emitted after a callback or a listener has thrown', async () => {
    const { media } = fakeService();
    const client = media();
    client.on('job:update', () => assertNever());
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    const onUpdate = () => assertNever();
    await expect(inTime(job!.waitForFile({ onUpdate }))).resolves.toMatchObject({
      fileId: job!.fileId,
    });
  });
});

describe('an async callback that rejects', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeEach(() => void process.on('unhandledRejection', note));
  afterEach(() => void process.off('unhandledRejection', note));

  // Callbacks are typed `void`, which an async function passes for.
  it.each<[string, (media: MediaClient, callback: () => void) => PromiseLike<unknown>]>([
    ['onUpdate', (media, onUpdate) => media.waitForFile('file_000001', { onUpdate })],
    ['onUpdate of watch()', (media, onUpdate) => all(media.watch('file_000001', { onUpdate }))],
    ['onProgress', (media, onProgress) => all(media.queue([speech()], { onProgress }))],
  ])('ends neither the wait nor the process: %s', async (_, run) => {
    const { media } = fakeService();
    await inTime(media().generate.audio(speech()));
    let calls = 0;
    const fail = (): unknown => {
      calls++;
      return Promise.reject(new Error('a bug of the caller'));
    };
    await inTime(run(media(), fail));
    await pass(1);
    expect(calls).toBeGreaterThan(0);
    expect(unhandled).toEqual([]);
  });
});

describe('the longest wait', () => {
  it.each([
    ['video', 30 * 60_000],
    ['audio', 10 * 60_000],
  ] as const)('for a %s is %i ms', async (kind, timeoutMs) => {
    const { media } = fakeService({ durations: () => '5h' });
    const client = media();
    const job =
      kind === 'video'
        ? (await inTime(client.generate.video({ payload: [video()] })))[0]!
        : await inTime(client.generate.audio(speech()));
    const startedAt = Date.now();
    const { error } = await inTime(ending(job.waitForFile()));
    expect(Date.now() - startedAt).toBe(timeoutMs);
    expect(error).toMatchObject({
      name: 'WaitTimeoutError',
      code: 'WAIT_TIMEOUT',
      fileId: job.fileId,
      lastStatus: 'processing',
      elapsedMs: timeoutMs,
    });
  });

  it('may be Infinity', async () => {
    const { media } = fakeService({ durations: () => '5h' });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const file = await inTime(job!.waitForFile({ timeout: Number.POSITIVE_INFINITY }));
    expect(file.fileId).toBe(job!.fileId);
  });

  it('ends a check that never gets a response', async () => {
    const { fake, media } = fakeService();
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    fake.fail(statusEndpoint, { hang: true });
    const startedAt = Date.now();
    const { error } = await inTime(ending(job!.waitForFile({ timeout: 12_000 })));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', polls: 1, lastStatus: undefined });
    expect((error as Error).message).toContain('was not finished within 12 s (');
    expect(Date.now() - startedAt).toBe(12_000);
  });

  it('can be continued with resume(), which checks at once', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const { error } = await inTime(ending(job!.waitForFile({ timeout: 20_000, interval: 5_000 })));
    const resume = (error as { resume: (options: object) => Promise<unknown> }).resume.bind(error);
    const looks = fake.requests.length;
    const startedAt = Date.now();
    const file = await inTime(resume({ timeout: 120_000 }));
    expect(file).toMatchObject({ fileId: job!.fileId });
    expect(fake.requests[looks]!.at).toBe(startedAt);
    expect(fake.requests[looks + 1]!.at - startedAt).toBe(5_000);
  });
});

function assertNever(): never {
  throw new Error('a bug of the caller');
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}
