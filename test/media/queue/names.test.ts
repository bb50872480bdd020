import { memoryJournal, type MediaJob, type MediaOptions, type QueueOptions } from 'postreel';
import { describe, expect, it } from 'vitest';
import { collect, videos } from '../../support/media/queue-helpers.js';
import {
  ending,
  fakeService,
  inTime,
  pass,
  speech,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../support/media/fake-time.js';

useFakeTime();

/** Runs of one named queue, each with a client of its own, as in processes of their own. */
function namedQueue(service: Parameters<typeof fakeService>[0] = {}) {
  const { fake, media } = fakeService(service);
  const journal = memoryJournal();
  const run = (jobs: readonly MediaJob[], options: QueueOptions = {}) =>
    inTime(collect(media({ journal }).queue(jobs, { name: 'batch', ...options })));
  return { fake, media, journal, run };
}

const codes = (results: readonly { error?: unknown }[]) =>
  results.map(({ error }) => (error as { code?: string } | undefined)?.code);

describe('the name of a job', () => {
  it('is the same whatever the order of its fields', async () => {
    const { fake, run } = namedQueue();
    await run([video({ prompt: 'Cats', duration: 2 })]);
    const { duration, prompt, ...rest } = video({ prompt: 'Cats', duration: 2 }) as {
      duration: number;
      prompt: string;
    };
    const results = await run([{ duration, prompt, ...rest } as unknown as MediaJob]);
    expect(results[0]!.file).toBeDefined();
    expect(fake.files).toHaveLength(1);
  });

  it('is the same with and without the only valid format', async () => {
    const { fake, run } = namedQueue();
    const { workflowFormat, ...job } = video();
    const [first] = await run([job]);
    expect(first!.file).toBeDefined();
    const [again] = await run([{ workflowFormat, ...job }]);
    expect(again!.file).toBeDefined();
    expect(fake.files.map(({ settings }) => settings['workflowFormat'])).toEqual(['video']);
  });

  it('is the same for any order of the fields of nested records', async () => {
    const { fake, run } = namedQueue();
    const pairs = [{ original: 'GIF', replace: 'jif' }];
    await run([speech({ pronunciations: pairs })]);
    await run([speech({ pronunciations: [{ replace: 'jif', original: 'GIF' }] })]);
    expect(fake.files).toHaveLength(1);
  });

  it('is the same with a field that is undefined or left out', async () => {
    const { fake, run } = namedQueue();
    await run([video()]);
    await run([video({ folderId: undefined } as object)]);
    expect(fake.files).toHaveLength(1);
  });

  it('differs for another job', async () => {
    const { fake, run } = namedQueue();
    await run([video({ prompt: 'Cats' })]);
    await run([video({ prompt: 'Dogs' })]);
    expect(fake.files).toHaveLength(2);
  });

  it('is the same with another webhook, because its URL may be signed for each run', async () => {
    const { fake, run } = namedQueue();
    await run([speech({ webhook: 'https://a.example/hook?nonce=1' })]);
    const [again] = await run([speech({ webhook: 'https://a.example/hook?nonce=2' })]);
    expect(again!.file).toBeDefined();
    expect(fake.files).toHaveLength(1);
  });

  it.each([
    [undefined, 'undefined'],
    ['', 'an empty text'],
    [7, 'a number'],
    [Promise.resolve('a'), 'a promise: `await` it first'],
  ])('must be a text: the key %s is rejected', async (key, what) => {
    const { fake, run } = namedQueue();
    const [result] = await run([video()], { key: () => key as string });
    expect(result!.error).toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      message: expect.stringContaining(`got ${what}`) as string,
    });
    expect(fake.files).toEqual([]);
  });

  it('that belongs to other content is rejected, never answered with a file', async () => {
    const { fake, run } = namedQueue();
    const key = (job: MediaJob) => ('fileName' in job ? String(job.fileName) : '');
    await run([video({ fileName: 'intro', prompt: 'Cats' })], { key });
    const [result] = await run([video({ fileName: 'intro', prompt: 'Dogs' })], { key });
    expect(result).toMatchObject({
      error: { name: 'InvalidRequestError', code: 'ONCE_CONFLICT', outcome: 'not-sent' },
    });
    expect(fake.files).toHaveLength(1);
  });

  it('numbers equal jobs, also when other jobs are between them', async () => {
    const { fake, run } = namedQueue();
    const [cats, dogs] = [video({ prompt: 'Cats' }), video({ prompt: 'Dogs' })];
    await run([cats, cats]);
    await run([cats, dogs, cats]);
    expect(fake.files).toHaveLength(3);
  });

  it('must not be used twice as a key', async () => {
    const { fake, run } = namedQueue();
    const results = await run(videos(2), { key: () => 'same' });
    expect(codes(results)).toEqual([undefined, 'DUPLICATE_KEY']);
    expect(fake.files).toHaveLength(1);
  });

  it('fails only its job when the `key` function throws', async () => {
    const { fake, run } = namedQueue();
    const key = ({ prompt }: { prompt?: string }) => {
      if (prompt === '1') {
        throw new Error('no key');
      }
      return String(prompt);
    };
    const results = await run(videos(3), { key: key as (job: MediaJob) => string });
    expect(results.map(({ error }) => (error as Error | undefined)?.message)).toEqual([
      undefined,
      'no key',
      undefined,
    ]);
    expect(fake.files).toHaveLength(2);
  });
});

describe('two runs of one named queue at the same time', () => {
  it('have one entry for a file, in its latest state, and emit no warning', async () => {
    const { media, journal } = namedQueue({ durations: () => '1m' });
    const warnings: string[] = [];
    const client = (more: MediaOptions = {}) => {
      const own = media({ journal, ...more });
      own.on('warning', ({ message }) => warnings.push(message));
      return own;
    };
    const [first] = await inTime(collect(client().queue([video()], { name: 'batch', timeout: 1 })));
    const { fileId } = first!.job!;
    const [saving, waiting] = [client(), client()];
    await inTime(
      waiting.queue([video()], { name: 'batch', timeout: 1 })[Symbol.asyncIterator]().next(),
    );
    await inTime(saving.waitForFile(fileId));
    await inTime(saving.journal.acknowledge(fileId));
    await inTime(waiting.waitForFile(fileId));
    await inTime(collect(waiting.queue([], { name: 'batch' }))); // all is written by then
    expect(warnings).toEqual([]);
    expect(await journal.list('once/', { limit: 10 })).toHaveLength(1);
    expect((await waiting.journal.pending()).jobs).toEqual([]);
  });

  it('submit each job once, and both get every file', async () => {
    const { fake, run } = namedQueue();
    const [first, second] = await Promise.all([run(videos(30)), run(videos(30))]);
    expect(fake.files).toHaveLength(30);
    for (const results of [first, second]) {
      expect(results.filter(({ file }) => file)).toHaveLength(30);
    }
  });

  it('submit each job once when one starts while the call of the other is in flight', async () => {
    const { fake, media, journal } = namedQueue();
    fake.fail(videoEndpoint, { slow: 20_000 });
    const start = () => collect(media({ journal }).queue(videos(5), { name: 'batch' }));
    const first = start();
    await pass(5_000);
    const second = start();
    const [one, other] = await inTime(Promise.all([first, second]));
    expect(fake.files).toHaveLength(5);
    expect([one, other].map((results) => results.filter(({ file }) => file).length)).toEqual([
      5, 5,
    ]);
  });
});

describe('jobs that failed in an earlier run', () => {
  it('fail again, without a call', async () => {
    const { fake, run } = namedQueue();
    fake.outcome({ status: 'error' }, ({ settings }) => settings.prompt === '1');
    await run(videos(3));
    const results = await run(videos(3));
    expect(results.map(({ file }) => file !== undefined)).toEqual([true, false, true]);
    expect(fake.files).toHaveLength(3);
  });

  it('are submitted again with `retryFailed`, and only those', async () => {
    const { fake, run } = namedQueue();
    fake.outcome({ status: 'error' }, ({ fileId }) => fileId === 'file_000002');
    await run(videos(3));
    const results = await run(videos(3), { retryFailed: true });
    expect(results.filter(({ file }) => file)).toHaveLength(3);
    expect(fake.files).toHaveLength(4);
    await run(videos(3), { retryFailed: true });
    expect(fake.files).toHaveLength(4);
  });

  it('are submitted again once by two runs with `retryFailed`', async () => {
    const { fake, run } = namedQueue();
    fake.outcome({ status: 'error' }, ({ fileId }) => fileId === 'file_000002');
    await run(videos(3));
    await Promise.all([
      run(videos(3), { retryFailed: true }),
      run(videos(3), { retryFailed: true }),
    ]);
    expect(fake.files).toHaveLength(4);
  });
});

describe('a resumed queue', () => {
  it('puts the remaining videos into the folder of the first run', async () => {
    const { fake, media, journal } = namedQueue({ durations: () => '5m' });
    const controller = new AbortController();
    const { signal } = controller;
    const stopped = ending(
      collect(media({ journal }).queue(videos(25), { name: 'batch', signal })),
    );
    await pass(60_000);
    controller.abort();
    await stopped;
    expect(fake.files).toHaveLength(20);
    await inTime(collect(media({ journal }).queue(videos(25), { name: 'batch' })));
    expect(fake.files).toHaveLength(25);
    expect(new Set(fake.files.map(({ folderId }) => folderId)).size).toBe(1);
  });

  it('makes a status check within seconds of an abort or a crash, not after an hour', async () => {
    const { fake, media, journal } = namedQueue({ durations: () => '20m' });
    const controller = new AbortController();
    const { signal } = controller;
    const stopped = ending(collect(media({ journal }).queue(videos(5), { name: 'batch', signal })));
    await pass(60_000);
    controller.abort();
    await stopped;
    const before = fake.requests.length;
    const next = collect(media({ journal }).queue(videos(5), { name: 'batch' }));
    await pass(5_000);
    expect(fake.requests.length).toBeGreaterThan(before);
    await inTime(next);
  });
});
