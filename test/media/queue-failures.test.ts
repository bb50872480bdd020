import { memoryJournal, type MediaJob, type QueueResult } from 'postreel';
import { describe, expect, it } from 'vitest';
import { audioEndpoint, ending, fakeService, gaps, inTime, pass } from './fake-time.js';
import { speech, statusEndpoint, useFakeTime, video, videoEndpoint } from './fake-time.js';

useFakeTime();

async function collect(queue: AsyncIterable<QueueResult>): Promise<QueueResult[]> {
  const results: QueueResult[] = [];
  for await (const result of queue) results.push(result);
  return results.sort((a, b) => a.index - b.index);
}

const videos = (count: number) =>
  Array.from({ length: count }, (_, index) => video({ prompt: String(index) }));

const calls = (fake: { requests: readonly { endpoint: string | undefined }[] }) =>
  fake.requests.filter(({ endpoint }) => endpoint === videoEndpoint).length;

describe('a job of a queue', () => {
  it('that fails in the making fails alone', async () => {
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
  ])('%s fails alone, before the network', async (_, bad) => {
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

  it('with a brand kit that does not exist fails alone, with one call', async () => {
    const { fake, media } = fakeService();
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
    expect(calls(fake)).toBe(2);
  });

  it('gets no brand kit of another one', async () => {
    const { fake, media } = fakeService();
    const input = videos(6).map((job, index) =>
      index === 2 ? { ...job, brandId: 'brand_000001' } : job,
    );
    await inTime(collect(media().queue(input)));
    const branded = fake.files.filter(({ brand }) => brand !== undefined);
    expect(branded.map(({ settings }) => settings.prompt)).toEqual(['2']);
  });

  it('that the service alone refuses is found by halving, and fails alone', async () => {
    const { fake, media } = fakeService({ maxExportMinutes: 5 });
    const input = videos(9).map((job, index) => (index === 4 ? { ...job, duration: 9 } : job));
    const results = await inTime(collect(media().queue(input)));
    const failed = results.filter(({ error }) => error !== undefined);
    expect(failed.map(({ index }) => index)).toEqual([4]);
    expect(failed[0]!.error).toMatchObject({ name: 'BadRequestError', status: 400 });
    expect(fake.files).toHaveLength(8);
    for (const gap of gaps(fake.requests, videoEndpoint))
      expect(gap).toBeGreaterThanOrEqual(50_000);
  });
});

describe('a call of a queue', () => {
  it.each([401, 403])('that is refused with %i fails all jobs at once', async (status) => {
    const { fake, media } = fakeService();
    fake.fail(videoEndpoint, { status, times: 99 });
    const startedAt = Date.now();
    const results = await inTime(collect(media().queue([...videos(45), speech()])));
    expect(results).toHaveLength(46);
    for (const { error } of results) expect(error).toMatchObject({ status });
    expect(fake.requests).toHaveLength(1);
    expect(Date.now() - startedAt).toBeLessThan(5_000);
  });

  it.each([
    ['is lost', { loseAnswer: true }],
    ['never comes', { hang: true }],
    ['is 500', { status: 500 }],
    ['is not JSON', { malformed: true }],
  ])('whose answer %s is never handed in again', async (_, fault) => {
    const { fake, media } = fakeService();
    fake.fail(videoEndpoint, fault);
    const results = await inTime(collect(media().queue(videos(25))));
    const lost = results.filter(({ error }) => error !== undefined);
    expect(lost).toHaveLength(20);
    for (const { error } of lost) expect(error).toMatchObject({ outcome: 'unknown' });
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
  ])('that is refused with %s is made again later', async (_, fault) => {
    const { fake, media } = fakeService();
    fake.fail(videoEndpoint, { ...fault, times: 2 });
    const results = await inTime(collect(media().queue(videos(3))));
    expect(results.filter(({ file }) => file)).toHaveLength(3);
    expect(calls(fake)).toBe(3);
    expect(fake.files).toHaveLength(3);
  });

  it('that finds places taken by others waits until there is room', async () => {
    const { fake, media } = fakeService({ durations: () => '15m', rateLimit: false });
    const other = media({ rateLimit: false });
    await inTime(other.generate.video({ payload: videos(19) }));
    const results = await inTime(collect(media().queue(videos(5))));
    expect(results.filter(({ file }) => file)).toHaveLength(5);
    expect(fake.files).toHaveLength(24);
  });

  it('with fewer ids than jobs fails with the ids that exist', async () => {
    const { fake, media } = fakeService();
    const data = { folderId: 'folder_1', filesCreated: ['file_a'] };
    fake.fail(videoEndpoint, { status: 200, body: { success: true, data } });
    const journal = memoryJournal();
    const client = media({ journal });
    const results = await inTime(collect(client.queue(videos(2))));
    expect(results.map(({ error }) => error)).toMatchObject([
      { code: 'FILE_IDS_MISSING', fileIds: ['file_a'], outcome: 'unknown' },
      { code: 'FILE_IDS_MISSING' },
    ]);
    const pending = await client.journal.pending();
    expect(pending.jobs).toMatchObject([{ fileId: 'file_a', kind: 'video' }]);
    expect(pending.unknown.map(({ jobs }) => jobs.length)).toEqual([1]);
    expect(calls(fake)).toBe(1);
  });

  it('of texts to speak goes on after one that is refused', async () => {
    const { fake, media } = fakeService();
    fake.fail(audioEndpoint, { status: 422 });
    const results = await inTime(collect(media().queue([speech(), speech(), speech()])));
    expect(results.filter(({ file }) => file)).toHaveLength(2);
    expect(results.filter(({ error }) => error)).toMatchObject([{ error: { status: 422 } }]);
  });
});

describe('an abort of a queue', () => {
  it('before the start sends nothing', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(3), { signal: AbortSignal.abort('before') });
    expect((await inTime(ending(collect(queue)))).error).toBe('before');
    expect(fake.requests).toEqual([]);
  });

  it('stops handing in and waiting at once, and tells what is in the making', async () => {
    const { fake, media } = fakeService({ durations: () => '8m' });
    const controller = new AbortController();
    const client = media();
    const queue = client.queue(videos(50), { signal: controller.signal });
    const run = ending(collect(queue));
    await pass(60_000);
    const startedAt = Date.now();
    controller.abort('enough');
    expect((await run).error).toBe('enough');
    expect(Date.now()).toBe(startedAt);
    expect(queue.running.map(({ fileId }) => fileId)).toEqual(
      fake.files.map(({ fileId }) => fileId),
    );
    const requests = fake.requests.length;
    await pass(1_200_000);
    expect(fake.requests).toHaveLength(requests);
    const files = await inTime(client.waitForFiles(queue.running.map(({ fileId }) => fileId)));
    expect(files.every(({ file }) => file)).toBe(true);
  });

  it('in the middle of a call loses no ids', async () => {
    const { fake, media } = fakeService();
    fake.fail(videoEndpoint, { slow: 5_000 });
    const controller = new AbortController();
    const queue = media().queue(videos(3), { signal: controller.signal });
    const run = ending(collect(queue));
    await pass(1_000);
    expect(fake.requests).toHaveLength(1);
    controller.abort('enough');
    expect((await run).error).toBe('enough');
    await pass(10_000);
    expect(queue.running.map(({ fileId }) => fileId)).toEqual(
      fake.files.map(({ fileId }) => fileId),
    );
    expect(queue.running).toHaveLength(3);
    expect(fake.requests).toHaveLength(1);
  });

  it('before a call has left keeps it from leaving', async () => {
    const { fake, media } = fakeService();
    const client = media();
    for (let call = 0; call < 10; call++) await inTime(client.generate.audio(speech()));
    const controller = new AbortController();
    const run = ending(collect(client.queue(videos(3), { signal: controller.signal })));
    await pass(60_000);
    controller.abort('enough');
    expect((await run).error).toBe('enough');
    await pass(1_200_000);
    expect(calls(fake)).toBe(0);
  });

  it('can be a break: `running` still names what nobody waits for', async () => {
    const { fake, media } = fakeService();
    const queue = media().queue(videos(5));
    const first = async () => {
      for await (const { job } of queue) return job!.fileId;
      return '';
    };
    const fileId = await inTime(first());
    const left = queue.running.map((job) => job.fileId);
    expect([fileId, ...left].sort()).toEqual(fake.files.map((file) => file.fileId));
    const looks = fake.requests.length;
    await pass(600_000);
    expect(fake.requests).toHaveLength(looks);
  });
});

describe('a named queue with a journal', () => {
  it('goes on where an earlier run stopped, and generates nothing twice', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    const input = videos(45);
    const controller = new AbortController();
    const first = media({ journal }).queue(input, { name: 'cats', signal: controller.signal });
    const early: number[] = [];
    const run = (async () => {
      for await (const { index } of first) early.push(index);
    })();
    const stopped = ending(run);
    await pass(240_000);
    controller.abort();
    await stopped;
    expect(fake.files.length).toBeGreaterThanOrEqual(20);
    expect(fake.files.length).toBeLessThan(45);
    // A new process: another client, the same journal and input.
    const results = await inTime(collect(media({ journal }).queue(input, { name: 'cats' })));
    expect(results.filter(({ file }) => file).map(({ index }) => index)).toEqual(
      input.map((_, index) => index),
    );
    expect(fake.files).toHaveLength(45);
    expect((await media({ journal }).journal.pending()).jobs).toEqual([]);
  });

  it('lists what may have been handed in, and does not hand it in again', async () => {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    fake.fail(videoEndpoint, { loseAnswer: true });
    await inTime(collect(media({ journal }).queue(videos(2), { name: 'cats' })));
    const results = await inTime(collect(media({ journal }).queue(videos(3), { name: 'cats' })));
    expect(results.map(({ error }) => (error as { code?: string } | undefined)?.code)).toEqual([
      'OUTCOME_UNKNOWN',
      'OUTCOME_UNKNOWN',
      undefined,
    ]);
    expect(fake.files).toHaveLength(3);
  });

  it('looks at the jobs of the earlier run at once', async () => {
    const { fake, media } = fakeService({ durations: () => '30s' });
    const journal = memoryJournal();
    const client = media({ journal });
    await inTime(collect(client.queue(videos(2), { name: 'cats' })));
    const startedAt = Date.now();
    await inTime(collect(client.queue(videos(2), { name: 'cats' })));
    expect(Date.now() - startedAt).toBeLessThan(1_000);
    expect(fake.requests.at(-1)).toMatchObject({ endpoint: statusEndpoint });
    expect(calls(fake)).toBe(1);
  });

  it('keeps two queues and two equal jobs apart', async () => {
    const { fake, media } = fakeService();
    const client = media({ journal: memoryJournal() });
    const twins = [video(), video()];
    expect(await inTime(collect(client.queue(twins, { name: 'a' })))).toHaveLength(2);
    expect(await inTime(collect(client.queue(twins, { name: 'b' })))).toHaveLength(2);
    expect(fake.files).toHaveLength(4);
  });

  it('cannot be without a journal', async () => {
    const { error } = await inTime(ending(collect(fakeService().media().queue([], { name: 'a' }))));
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'JOURNAL_MISSING' });
  });
});
