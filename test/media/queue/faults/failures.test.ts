import { memoryJournal, type MediaJob, type PostreelError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { acquainted, calls, collect, videos } from '../../../support/media/queue-helpers.js';
import {
  audioEndpoint,
  fakeService,
  gaps,
  inTime,
  speech,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../../support/media/fake-time.js';

useFakeTime();

describe('a job of a queue', () => {
  it('whose generation fails does not fail the others', async () => {
    const { fake, media } = fakeService();
    fake.outcome({ status: 'error' }, ({ settings }) => settings.prompt === '1');
    const results = await inTime(collect(media().queue(videos(3))));
    expect(results.map(({ error }) => (error as Error | undefined)?.name)).toEqual([
      undefined,
      'GenerationFailedError',
      undefined,
    ]);
    expect(results[1]!.job).toBeDefined();
  });

  it.each([
    ['without a prompt', { ...video(), prompt: undefined }],
    ['without a text', { workflowType: 'script', workflowFormat: 'video', voiceId: 'voice_1' }],
    ['that is null', null],
    ['that is nothing', undefined],
    ['that is a text', 'a video, please'],
    ['to speak without a text', { voiceId: 'voice_1' }],
    ['to speak a number', { content: 42, voiceId: 'voice_1' }],
  ])('%s fails alone, before a request is sent', async (_, bad) => {
    const { fake, media } = fakeService();
    const input = [video(), bad, video()] as MediaJob[];
    const results = await inTime(collect(media().queue(input)));
    expect(results.map(({ error }) => (error as Error | undefined)?.name)).toEqual([
      undefined,
      'InvalidRequestError',
      undefined,
    ]);
    expect(results[1]).toMatchObject({ input: bad, job: undefined });
    expect(fake.requests.every(({ status }) => status === 200)).toBe(true);
    expect(fake.files).toHaveLength(2);
  });

  it('with a brand kit that does not exist fails alone', async () => {
    const { media } = fakeService();
    const input = videos(12).map((job, index) =>
      index % 4 === 1 ? { ...job, brandId: 'x' } : job,
    );
    const results = await inTime(collect(media().queue(input)));
    const failed = results.filter(({ error }) => error !== undefined);
    expect(failed.map(({ index }) => index)).toEqual([1, 5, 9]);
    for (const { error } of failed) {
      expect(error).toMatchObject({
        name: 'BadRequestError',
        message: expect.stringContaining('Brand kit not found or deleted.') as string,
      });
    }
  });

  it('never gets the brand kit of another job', async () => {
    const { fake, media } = fakeService();
    const input = videos(6).map((job, index) =>
      index === 2 ? { ...job, brandId: 'brand_000001' } : job,
    );
    await inTime(collect(media().queue(input)));
    const branded = fake.files.filter(({ brand }) => brand !== undefined);
    expect(branded.map(({ settings }) => settings.prompt)).toEqual(['2']);
  });

  it('that is longer than the plan allows fails alone', async () => {
    const { fake, media } = fakeService({ maxExportMinutes: 5 });
    const input = videos(9).map((job, index) => (index === 4 ? { ...job, duration: 9 } : job));
    const results = await inTime(collect(media().queue(input)));
    const failed = results.filter(({ error }) => error !== undefined);
    expect(failed.map(({ index }) => index)).toEqual([4]);
    expect(failed[0]!.error).toMatchObject({ name: 'BadRequestError', status: 400 });
    expect(fake.files).toHaveLength(8);
  });

  it('that only the service can refuse leaves its call unknown, and the rest is made', async () => {
    const { fake, media } = fakeService();
    const fetch = async (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init);
      const isRefused = (await request.clone().text()).includes('"prompt":"33"');
      return isRefused
        ? Response.json({ success: false, message: 'Not allowed.' }, { status: 403 })
        : fake.fetch(request);
    };
    const results = await inTime(collect(media({ fetch }).queue(videos(60))));
    const failed = results.filter(({ error }) => error !== undefined);
    expect(failed.map(({ index }) => index)).toContain(33);
    expect(failed.length).toBeLessThanOrEqual(20);
    for (const { error } of failed) {
      expect(error).toMatchObject({ outcome: 'unknown', status: 403 });
      expect(String(error)).toContain('Not allowed.');
    }
    expect(fake.files).toHaveLength(60 - failed.length);
  });
});

describe('a call of a queue', () => {
  it('that is refused with 401 fails all jobs at once', async () => {
    const { fake, media } = fakeService();
    const status = 401;
    fake.fail(videoEndpoint, { status, times: 99 });
    const startedAt = Date.now();
    const results = await inTime(collect(media().queue([...videos(45), speech()])));
    expect(results).toHaveLength(46);
    for (const { error } of results) {
      expect(error).toMatchObject({ status });
    }
    expect(fake.requests).toHaveLength(1);
    expect(Date.now() - startedAt).toBeLessThan(5_000);
  });

  it.each([
    ['403', { status: 403 }],
    ['402', { status: 402 }],
    ['404', { status: 404, body: { success: false, message: 'No such folder.' } }],
  ])('that is always refused with %s fails all jobs after a few', async (_, fault) => {
    const { fake, media } = fakeService();
    fake.fail(videoEndpoint, { ...fault, times: 99 });
    const startedAt = Date.now();
    const results = await inTime(collect(media().queue(videos(60))));
    expect(results.filter(({ error }) => error !== undefined)).toHaveLength(60);
    expect(calls(fake)).toBe(5);
    // Sent, or not at all: each job tells which.
    const { status } = fault;
    const outcomes = results.map(({ error }) => (error as PostreelError).outcome);
    expect(new Set(outcomes)).toEqual(new Set(['rejected', 'not-sent']));
    const left = results.filter((_, index) => outcomes[index] === 'not-sent');
    expect(left).toHaveLength(55);
    for (const { error } of left) {
      expect(error).toMatchObject({ code: 'QUEUE_ENDED', cause: { status } });
    }
    expect(Date.now() - startedAt).toBeLessThan(60_000);
  });

  it.each([
    ['is lost', { loseAnswer: true }],
    ['never comes', { hang: true }],
    ['is 500', { status: 500 }],
    ['is not JSON', { malformed: true }],
  ])('whose response %s is never sent again', async (_, fault) => {
    const { fake, media } = fakeService();
    const client = await acquainted(media());
    fake.fail(videoEndpoint, fault);
    const results = await inTime(collect(client.queue(videos(25))));
    const lost = results.filter(({ error }) => error !== undefined);
    expect(lost).toHaveLength(20);
    for (const { error } of lost) {
      expect(error).toMatchObject({ outcome: 'unknown' });
    }
    expect(results.filter(({ file }) => file)).toHaveLength(5);
    const sent = fake.requests
      .filter(({ endpoint }) => endpoint === videoEndpoint)
      .flatMap(({ body }) => (body as { payload: { prompt: string }[] }).payload)
      .map(({ prompt }) => prompt);
    expect(new Set(sent).size).toBe(sent.length);
    expect(fake.requests.every(({ status }) => status !== 429)).toBe(true);
  });

  it.each([
    ['429 with Retry-After', { status: 429, retryAfter: 90 }],
    ['429', { status: 429 }],
  ])('that is refused with %s is sent again later', async (_, fault) => {
    const { fake, media } = fakeService();
    fake.fail(videoEndpoint, { ...fault, times: 2 });
    const results = await inTime(collect(media().queue(videos(1))));
    expect(results.filter(({ file }) => file)).toHaveLength(1);
    expect(calls(fake)).toBe(3);
    expect(fake.files).toHaveLength(1);
  });

  it('that is refused with 429 is not repeated at once, even with `rateLimit: false`', async () => {
    const { fake, media } = fakeService();
    fake.fail(audioEndpoint, { status: 429, times: 3 });
    await inTime(collect(media({ rateLimit: false }).queue([speech()])));
    expect(Math.min(...gaps(fake.requests, audioEndpoint))).toBeGreaterThanOrEqual(60_000);
  });

  it('whose slots are taken by others waits until slots are free', async () => {
    const { fake, media } = fakeService({ durations: () => '15m', rateLimit: false });
    const other = media({ rateLimit: false });
    await inTime(other.generate.video({ payload: videos(19) }));
    const results = await inTime(collect(media().queue(Array.from({ length: 5 }, () => speech()))));
    expect(results.filter(({ file }) => file)).toHaveLength(5);
    expect(fake.files).toHaveLength(24);
  });

  it('with fewer ids than jobs fails with the ids that exist', async () => {
    const { fake, media } = fakeService();
    const data = { folderId: 'folder_1', filesCreated: ['file_a'] };
    const client = await acquainted(media({ journal: memoryJournal() }));
    await client.journal.acknowledge(fake.files[0]!.fileId);
    fake.fail(videoEndpoint, { status: 200, body: { success: true, data } });
    const results = await inTime(collect(client.queue(videos(2))));
    expect(results.map(({ error }) => error)).toMatchObject([
      { code: 'FILE_IDS_MISSING', fileIds: ['file_a'], outcome: 'unknown' },
      { code: 'FILE_IDS_MISSING' },
    ]);
    const pending = await client.journal.pending();
    expect(pending.jobs).toMatchObject([{ fileId: 'file_a', kind: 'video' }]);
    expect(pending.unknown.map(({ jobs }) => jobs.length)).toEqual([2]);
    expect(calls(fake)).toBe(2);
  });

  it('of texts to speak is followed by the next after a refusal', async () => {
    const { fake, media } = fakeService();
    fake.fail(audioEndpoint, { status: 422 });
    const results = await inTime(collect(media().queue([speech(), speech(), speech()])));
    expect(results.filter(({ file }) => file)).toHaveLength(2);
    expect(results.filter(({ error }) => error)).toMatchObject([{ error: { status: 422 } }]);
  });

  it('of texts to speak is sent at once after two refusals, because they took no slot', async () => {
    const { fake, media } = fakeService();
    fake.fail(audioEndpoint, { status: 422, times: 2 });
    await inTime(collect(media().queue([speech(), speech(), speech()])));
    expect(Math.max(...gaps(fake.requests, audioEndpoint))).toBeLessThan(1_000);
  });
});
