import {
  memoryJournal,
  type JobSource,
  type JournalStore,
  type MediaJob,
  type VideoJob,
} from 'postreel';
import { describe, expect, it } from 'vitest';
import { acquainted, calls, collect, videos } from '../../support/media/queue-helpers.js';
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

const minuteMs = 60_000;

describe('single calls that are made at one time', () => {
  it('share a request, once a job like them has been accepted', async () => {
    const { fake, media } = fakeService();
    const client = await acquainted(media());
    const jobs = await inTime(Promise.all(videos(12).map((job) => client.generate.video(job))));
    expect(new Set(jobs.map(({ fileId }) => fileId)).size).toBe(12);
    expect(calls(fake)).toBe(2);
    for (const [index, { fileId }] of jobs.entries()) {
      const { settings } = fake.files.find((file) => file.fileId === fileId)!;
      expect(settings.prompt).toBe(String(index));
    }
  });

  it('are sent again after a 429 to the call that they share', async () => {
    const { fake, media } = fakeService();
    const client = await acquainted(media());
    fake.fail(videoEndpoint, { status: 429, retryAfter: 90 });
    const jobs = await inTime(Promise.all(videos(5).map((job) => client.generate.video(job))));
    expect(jobs).toHaveLength(5);
    expect(fake.files).toHaveLength(6);
  });

  it('are unknown, with the error text of the service, after another refusal of their call', async () => {
    const { fake, media } = fakeService();
    const client = await acquainted(media());
    fake.fail(videoEndpoint, { status: 400, body: { message: 'Voice is retired.' } });
    const ends = videos(3).map((job) => ending(client.generate.video(job)));
    for (const { error } of await inTime(Promise.all(ends))) {
      expect(error).toMatchObject({ status: 400, outcome: 'unknown' });
      expect(String(error)).toContain('Voice is retired.');
    }
    fake.fail(videoEndpoint, { status: 400, body: { message: 'Voice is retired.' } });
    const { error } = await inTime(ending(client.generate.video(video())));
    expect(error).toMatchObject({ status: 400, outcome: 'rejected' });
  });

  it('do not wait for a call that hangs', async () => {
    const { fake, media } = fakeService();
    const client = media();
    fake.fail(videoEndpoint, { hang: true });
    void ending(client.generate.video(video()));
    await pass(1_000);
    const startedAt = Date.now();
    await inTime(client.generate.video(video()));
    expect(Date.now() - startedAt).toBeLessThan(15_000);
  });

  it('get the slots of files that nobody waits for', async () => {
    const { fake, media } = fakeService({ durations: () => '3m' });
    const client = await acquainted(media());
    await inTime(Promise.all(videos(20).map((job) => client.generate.video(job))));
    const startedAt = Date.now();
    await inTime(client.generate.video(video()));
    expect(Date.now() - startedAt).toBeLessThan(4 * minuteMs);
    expect(fake.requests.filter(({ status }) => status === 429)).toEqual([]);
  });
});

describe('a job with `once`', () => {
  function keyed(service: Parameters<typeof fakeService>[0] = {}) {
    const { fake, media } = fakeService(service);
    const journal = memoryJournal();
    const client = media({ journal });
    const make = (once: string, more: object = {}) =>
      media({ journal }).generate.video(video(), { once, ...more });
    return { fake, media, journal, client, make };
  }

  it('is made once, however often it is called', async () => {
    const { fake, make } = keyed();
    const [one, other] = await inTime(Promise.all([make('film/1'), make('film/1')]));
    const third = await inTime(make('film/1').withResponse());
    expect(other.fileId).toBe(one.fileId);
    expect(third).toMatchObject({ replayed: true, response: undefined });
    expect(third.data.folderId).toBe(one.folderId);
    expect((await inTime(third.data.waitForFile())).fileId).toBe(one.fileId);
    expect(fake.files).toHaveLength(1);
  });

  it('is a new job under another key, and an error with other content', async () => {
    const { fake, client, make } = keyed();
    await inTime(make('film/1'));
    await inTime(make('film/2'));
    const other = client.generate.video(video({ prompt: 'Dogs' }), { once: 'film/1' });
    expect((await inTime(ending(other))).error).toMatchObject({ code: 'ONCE_CONFLICT' });
    expect(fake.files).toHaveLength(2);
  });

  it.each([undefined, null, ''])('is rejected with the key %j', async (once) => {
    const { fake, make } = keyed();
    const { error } = await inTime(ending(make(once as string)));
    expect(String(error)).toContain('`once` ');
    expect(fake.requests).toEqual([]);
  });

  it('is rejected with a payload of several jobs, and without a journal', async () => {
    const { fake, media, client } = keyed();
    const many = client.generate.video({ payload: videos(2) }, { once: 'films' });
    expect((await inTime(ending(many))).error).toMatchObject({ name: 'InvalidRequestError' });
    const bare = media().generate.video(video(), { once: 'film/1' });
    expect((await inTime(ending(bare))).error).toMatchObject({ code: 'JOURNAL_MISSING' });
    expect(fake.requests).toEqual([]);
  });

  it('whose file failed stays failed, and is submitted again with `retryFailed`', async () => {
    const { fake, make } = keyed();
    fake.outcome({ status: 'error' }, ({ fileId }) => fileId === 'file_000001');
    const first = await inTime(make('film/1'));
    await inTime(ending(first.waitForFile()));
    expect((await inTime(make('film/1'))).fileId).toBe(first.fileId);
    const again = await inTime(make('film/1', { retryFailed: true }));
    expect(again.fileId).not.toBe(first.fileId);
    expect(fake.files).toHaveLength(2);
  });

  it('whose response was lost is unknown, and is never repeated automatically', async () => {
    const { fake, make } = keyed();
    fake.fail(videoEndpoint, { loseAnswer: true });
    for (let run = 0; run < 2; run++) {
      const { error } = await inTime(ending(make('film/1')));
      expect(error).toMatchObject({ outcome: 'unknown' });
    }
    expect(fake.files).toHaveLength(1);
    await inTime(make('film/1', { retry: { unknownOutcome: true } }));
    expect(fake.files).toHaveLength(2);
  });

  it('without a time limit is renewed while its call runs, and nobody pays twice', async () => {
    const { fake, media, journal, make } = keyed();
    const texts = new Set<string>();
    const watched: JournalStore = {
      ...journal,
      swap: (key, from, to) => {
        texts.add(to?.includes('"claimed"') ? to : '');
        return journal.swap(key, from, to);
      },
    };
    fake.fail(videoEndpoint, { slow: 20.5 * minuteMs });
    const client = media({ journal: watched, timeout: Infinity });
    const first = client.generate.video(video(), { once: 'film/1' });
    await pass(1_000);
    const second = make('film/1', { retry: { unknownOutcome: true } });
    const jobs = await inTime(Promise.all([first, second]));
    expect(new Set(jobs.map(({ fileId }) => fileId)).size).toBe(1);
    expect(fake.files).toHaveLength(1);
    texts.delete('');
    const limits = [...texts].map((text) => (JSON.parse(text) as { limitMs: number }).limitMs);
    expect(limits).toEqual(Array<number>(21).fill(5 * minuteMs));
  });

  it('is unknown once its caller gave up, is not renewed, and is answered by a late response', async () => {
    const { fake, media, journal, client, make } = keyed();
    fake.fail(videoEndpoint, { slow: 4 * minuteMs });
    const controller = new AbortController();
    const { signal } = controller;
    const own = media({ journal, timeout: Infinity });
    const warnings: string[] = [];
    own.on('warning', ({ message }) => warnings.push(message));
    const sending = ending(own.generate.video(video(), { once: 'film/1', signal }));
    await pass(1.5 * minuteMs);
    controller.abort('enough');
    expect(await inTime(sending)).toEqual({ error: 'enough' });
    await pass(1_000);
    expect((await client.journal.pending()).unknown).toMatchObject([{ jobs: [video()] }]);
    expect(warnings).toEqual([expect.stringContaining('keeps the process alive')]);
    const again = client.generate.video(video(), { once: 'film/1' });
    const { error } = await inTime(ending(again));
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', outcome: 'unknown' });
    expect(again.outcome).toBe('unknown');
    await pass(3 * minuteMs);
    const job = await inTime(make('film/1'));
    expect(job.fileId).toBe(fake.files[0]!.fileId);
    expect(fake.files).toHaveLength(1);
  });

  it('is unknown once its caller gave up, also while a caller waits for another job of the same call', async () => {
    const { fake, media, journal, client } = keyed();
    const own = await acquainted(media({ journal, timeout: Infinity }));
    fake.fail(videoEndpoint, { slow: 4 * minuteMs });
    const controller = new AbortController();
    const { signal } = controller;
    const given = ending(own.generate.video(video(), { once: 'film/1', signal }));
    const waited = own.generate.video(video({ prompt: 'Dogs' }), { once: 'film/2' });
    await pass(minuteMs);
    expect((await client.journal.pending()).mayBeAnswered).toMatchObject([{ jobs: [{}, {}] }]);
    controller.abort('enough');
    await inTime(given);
    await pass(1_000);
    const { unknown, mayBeAnswered } = await client.journal.pending();
    expect(unknown).toMatchObject([{ jobs: [video()] }]);
    expect(mayBeAnswered).toMatchObject([{ jobs: [video({ prompt: 'Dogs' })] }]);
    await inTime(waited);
    await pass(1_000);
    const states = (await client.journal.list()).map(({ key, state }) => `${key} ${state}`);
    expect(states.sort()).toEqual(['film/1 answered', 'film/2 answered']);
  });

  it('given up beside others is listed with the late ids that fit none of them', async () => {
    const { fake, media, journal, client } = keyed();
    const data = { folderId: 'folder_1', filesCreated: ['file_a'] };
    const late = { slow: 4 * minuteMs, status: 200, body: { success: true, data } };
    fake.fail(videoEndpoint, late);
    const controller = new AbortController();
    const { signal } = controller;
    const own = media({ journal, timeout: Infinity });
    own.on('warning', () => undefined);
    const sending = ending(own.generate.video({ payload: videos(2) }, { signal }));
    await pass(minuteMs);
    controller.abort('enough');
    await inTime(sending);
    await pass(4 * minuteMs);
    const { jobs, unknown } = await client.journal.pending();
    expect(jobs.map(({ fileId }) => fileId)).toEqual(['file_a']);
    expect(unknown.flatMap((call) => call.jobs)).toEqual(videos(2));
  });

  it('leaves its key free when its caller gives up after a 429, while another job of that call goes on', async () => {
    const { fake, media, journal } = keyed();
    const client = await acquainted(media({ journal }));
    fake.fail(videoEndpoint, { status: 429, retryAfter: 300 });
    const [one, other] = videos(2);
    const call = (job: VideoJob, once: string, deadline: number) =>
      ending(client.generate.video(job, { once, deadline }));
    const [{ error }, made] = await inTime(
      Promise.all([call(one!, 'film/1', minuteMs), call(other!, 'film/2', 60 * minuteMs)]),
    );
    expect(error).toMatchObject({ code: 'QUEUE_TIMEOUT', outcome: 'not-sent' });
    expect(made.error).toBeUndefined();
    const keys = await inTime(client.journal.list());
    expect(keys.filter(({ key }) => key !== '')).toMatchObject([
      { key: 'film/2', state: 'answered' },
    ]);
  });

  it('is not sent again once its claim has expired, since others take it for unknown', async () => {
    const { media, journal } = keyed();
    const failing: JournalStore = {
      ...journal,
      swap: (key, from, to) =>
        to?.includes('"renewals"')
          ? Promise.reject(new Error('down'))
          : journal.swap(key, from, to),
    };
    let attempts = 0;
    const fetch = async () => {
      attempts += 1;
      await new Promise((resolve) => setTimeout(resolve, 10 * minuteMs));
      const cause = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
      throw new TypeError('fetch failed', { cause });
    };
    const client = media({ journal: failing, fetch, timeout: Infinity });
    client.on('warning', () => undefined);
    const { error } = await inTime(ending(client.generate.video(video(), { once: 'film/1' })));
    expect(error).toMatchObject({ code: 'NOT_CONNECTED', outcome: 'not-sent' });
    expect(attempts).toBe(1);
  });

  it('that another process has claimed emits one warning, waits, and then rejects with an error that says what to do', async () => {
    const { media, journal } = keyed();
    const dying = media({ journal, fetch: () => new Promise(() => undefined) });
    dying.generate.video(video(), { once: 'film/1' }).catch(() => undefined);
    await pass(1_000);
    // The killed process writes nothing more.
    const next = media({ journal: { ...journal } });
    const [{ id, unknownAt } = { id: '', unknownAt: '' }] = (await next.journal.pending())
      .mayBeAnswered;
    const warnings: string[] = [];
    next.on('warning', ({ message }) => warnings.push(message));
    const waiting = ending(next.generate.video(video(), { once: 'film/1' }));
    await pass(30_000);
    expect(warnings).toEqual([expect.stringContaining(unknownAt.slice(0, 18))]);
    const { error } = await inTime(waiting);
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', outcome: 'unknown' });
    expect(String(error)).toContain(`journal.resolve('${id}'`);
    expect(String(error)).toContain(`journal.dismiss('${id}')`);
    expect(warnings).toHaveLength(1);
  });

  it('that was refused leaves its key free', async () => {
    const { fake, make } = keyed();
    fake.fail(videoEndpoint, { status: 400 });
    expect((await inTime(ending(make('film/1')))).error).toMatchObject({ outcome: 'rejected' });
    await inTime(make('film/1'));
    expect(fake.files).toHaveLength(1);
  });

  it('whose file failed keeps that file when the retry is refused', async () => {
    const { fake, make } = keyed();
    fake.outcome({ status: 'error' }, ({ fileId }) => fileId === 'file_000001');
    const first = await inTime(make('film/1'));
    await inTime(ending(first.waitForFile()));
    fake.fail(videoEndpoint, { status: 400 });
    await inTime(ending(make('film/1', { retryFailed: true })));
    expect((await inTime(make('film/1'))).fileId).toBe(first.fileId);
  });

  it('whose file failed is unknown once the response to the retry was lost, also after a refusal', async () => {
    const { fake, make } = keyed();
    fake.outcome({ status: 'error' }, ({ fileId }) => fileId === 'file_000001');
    const first = await inTime(make('film/1'));
    await inTime(ending(first.waitForFile()));
    fake.fail(videoEndpoint, { loseAnswer: true });
    const again = { retryFailed: true };
    expect((await inTime(ending(make('film/1', again)))).error).toMatchObject({
      outcome: 'unknown',
    });
    fake.fail(videoEndpoint, { status: 400 });
    await inTime(ending(make('film/1', { ...again, retry: { unknownOutcome: true } })));
    expect((await inTime(ending(make('film/1', again)))).error).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(fake.files).toHaveLength(2);
  });

  it('that is unknown stays unknown when a second attempt is aborted before it is sent', async () => {
    const { fake, media, journal, make } = keyed();
    fake.fail(videoEndpoint, { loseAnswer: true });
    await inTime(ending(make('film/1')));
    const slow: JournalStore = {
      ...journal,
      swap: async (key, from, to) => {
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        return journal.swap(key, from, to);
      },
    };
    const controller = new AbortController();
    const options = { once: 'film/1', retry: { unknownOutcome: true }, signal: controller.signal };
    const again = ending(media({ journal: slow }).generate.video(video(), options));
    await pass(1_000);
    controller.abort();
    await inTime(again);
    await pass(minuteMs);
    const { error } = await inTime(ending(make('film/1')));
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(fake.files).toHaveLength(1);
  });

  it('is listed by its key, and submitted again once the key is forgotten', async () => {
    const { fake, client, make } = keyed();
    await inTime(make('film/1'));
    await inTime(collect(client.queue(videos(1), { name: 'films', key: () => 'one' })));
    await inTime(client.generate.audio(speech()));
    const entries = await client.journal.list();
    const listed = entries.map(({ key, call, state }) => `${call} ${key} ${state}`);
    expect(listed.sort()).toEqual([
      'POST /v1/generate/video film/1 answered',
      'queue films key one answered',
    ]);
    await client.journal.forget('film/1', { call: 'POST /v1/generate/video' });
    await client.journal.forget('key one', { call: 'queue films' });
    await inTime(make('film/1'));
    await inTime(collect(client.queue(videos(1), { name: 'films', key: () => 'one' })));
    expect(fake.files.filter(({ kind }) => kind === 'video')).toHaveLength(4);
  });

  it('of a service that was replaced rejects at once, and the error says what to do', async () => {
    const { fake, media, journal, client } = keyed();
    await inTime(collect(client.queue(videos(2), { name: 'films' })));
    fake.reset();
    const startedAt = Date.now();
    const later = media({ journal }).queue(videos(2), { name: 'films' });
    const results = await inTime(collect(later));
    expect(results).toHaveLength(2);
    for (const { error } of results) {
      expect(error).toMatchObject({ name: 'NotFoundError', code: 'FILE_UNKNOWN' });
      expect(String(error)).toContain('Was the journal written with another service');
    }
    expect(Date.now() - startedAt).toBeLessThan(2_000);
  });
});

it('a repeated call whose first response was lost is unknown at its `deadline`, though it waits to be sent', async () => {
  const { fake, media } = fakeService();
  fake.fail(videoEndpoint, { loseAnswer: true });
  fake.fail(videoEndpoint, { status: 429, retryAfter: 120, times: 9 });
  const options = { retry: { unknownOutcome: true }, deadline: minuteMs };
  const { error } = await inTime(ending(media().generate.video(video(), options)));
  expect(error).toMatchObject({ outcome: 'unknown' });
  expect(fake.files).toHaveLength(1);
});

it('the slots of jobs whose caller gave up right before their call was sent are free at once', async () => {
  const { fake, media } = fakeService({
    durations: ({ settings }) => (settings.prompt === 'before' ? '1m' : '20m'),
  });
  const journal = memoryJournal();
  const slow: JournalStore = {
    ...journal,
    swap: async (key, from, to) => {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return journal.swap(key, from, to);
    },
  };
  const client = await acquainted(media({ journal: slow }));
  const controller = new AbortController();
  const { signal } = controller;
  const [first, ...others] = videos(20);
  const kept = client.generate.video(first!);
  const givenUp = others.map((job) => ending(client.generate.video(job, { signal })));
  await pass(1_000);
  controller.abort();
  await inTime(Promise.all([kept, ...givenUp]));
  expect(fake.files).toHaveLength(2);
  const startedAt = Date.now();
  await inTime(Promise.all(others.map((job) => client.generate.video(job))));
  expect(fake.files).toHaveLength(21);
  expect(Date.now() - startedAt).toBeLessThan(5 * minuteMs);
});

async function* streamOf(jobs: Iterable<VideoJob>): AsyncGenerator<VideoJob> {
  for (const job of jobs) {
    await Promise.resolve();
    yield job;
  }
}

describe('two queues of two keys over one shared iterator', () => {
  it.each([30, 60])('share its %i jobs, and no job is made twice', async (count) => {
    const { fake, media } = fakeService();
    fake.apiKeys.add('media_key_other');
    const input = videos(count).values() as IterableIterator<MediaJob>;
    const other = media({ apiKey: 'media_key_other', rateLimit: { group: 'other' } });
    const [first, second] = await inTime(
      Promise.all([collect(media().queue(input)), collect(other.queue(input))]),
    );
    expect([...first, ...second].filter(({ file }) => file)).toHaveLength(count);
    const prompts = fake.files.map(({ settings }) => settings.prompt);
    expect(new Set(prompts).size).toBe(count);
    // Each has a share: neither waits while the other works through the list.
    expect(Math.min(first.length, second.length)).toBeGreaterThanOrEqual(count / 3);
  });

  it.each([
    ['a generator', (jobs: Generator<VideoJob>): JobSource => jobs],
    ['a stream', (jobs: Generator<VideoJob>): JobSource => streamOf(jobs)],
  ])('read %s at most 20 jobs beyond those submitted', async (_name, sourceOf) => {
    const { fake, media } = fakeService();
    let mostAhead = 0;
    function* source() {
      for (const [index, job] of videos(50).entries()) {
        mostAhead = Math.max(mostAhead, index + 1 - fake.files.length);
        yield job;
      }
    }
    await inTime(collect(media().queue(sourceOf(source()))));
    expect([fake.files.length, mostAhead]).toEqual([50, 20]);
  });
});

it('a call whose claim could not be written leaves nothing in the journal', async () => {
  const { fake, media } = fakeService();
  const journal = memoryJournal();
  const keys = new Set<string>();
  const failing: JournalStore = {
    ...journal,
    swap: (key, from, to) => {
      keys.add(key);
      const isSecond = [...keys].indexOf(key) === 1;
      return isSecond ? Promise.reject(new Error('full')) : journal.swap(key, from, to);
    },
  };
  const client = media({ journal: failing });
  const { error } = await inTime(ending(client.generate.video({ payload: videos(2) })));
  expect(error).toMatchObject({ code: 'JOURNAL_UNAVAILABLE', outcome: 'not-sent' });
  await pass(10 * minuteMs);
  const { unknown, mayBeAnswered } = await media({ journal }).journal.pending();
  expect([unknown, mayBeAnswered]).toEqual([[], []]);
  expect(fake.requests).toEqual([]);
});

it('a queue continues after a call whose response had too few ids', async () => {
  const { fake, media } = fakeService();
  const client = await acquainted(media());
  const data = { folderId: 'folder_1', filesCreated: ['file_000001'] };
  fake.fail(videoEndpoint, { status: 200, body: { success: true, data } });
  const results = await inTime(collect(client.queue(videos(45))));
  expect(results).toHaveLength(45);
  expect(results.filter(({ file }) => file)).toHaveLength(25);
});
