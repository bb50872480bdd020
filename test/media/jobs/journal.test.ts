import { memoryJournal, pendingJobs, type JournalStore, type WarningEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import {
  audioEndpoint,
  ending,
  fakeService,
  inTime,
  pass,
  speech,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../support/media/fake-time.js';

import { collect, videos } from '../../support/media/queue-helpers.js';
import { systemClock } from '../../../src/core/async.js';
import { MediaJournal } from '../../../src/media/jobs/journal.js';
import { failingJournal, recordedJournal } from '../../support/media/recorded-journal.js';

useFakeTime();

function journaled(options: Parameters<typeof fakeService>[0] = {}) {
  const service = fakeService(options);
  const { journal, facts } = recordedJournal();
  return { ...service, journal, facts, client: service.media({ journal }) };
}

const nothing = { jobs: [], finished: [], unknown: [] };

describe('the journal', () => {
  it('has the claims before the request leaves, and the ids after it', async () => {
    const { fake, facts, client } = journaled();
    const before: string[][] = [];
    client.on('request', () => before.push([...facts]));
    const payload = [video({ fileName: 'a' }), video({ fileName: 'b' })];
    await inTime(client.generate.video({ payload }));
    expect(before).toEqual([['claim', 'claim']]);
    expect(facts).toEqual(['claim', 'claim', 'accepted', 'accepted']);
    expect(fake.requests).toHaveLength(1);
  });

  it('has no claim while the call waits for the rate limit: a crash leaves nothing unknown', async () => {
    const { client, facts } = journaled();
    for (let count = 0; count < 10; count++) {
      await inTime(client.generate.audio(speech({ content: String(count) })));
    }
    facts.length = 0;
    void ending(client.generate.audio(speech()));
    await pass(60_000);
    expect(facts).toEqual([]);
    expect((await client.journal.pending()).unknown).toEqual([]);
    await pass(600_000);
    expect(facts[0]).toBe('claim');
  });

  it('writes down what is sent, whatever the caller changes meanwhile', async () => {
    const { fake, client, facts } = journaled();
    for (let count = 0; count < 10; count++) {
      await inTime(client.generate.audio(speech({ content: String(count) })));
    }
    const body = speech({ content: 'Cats' });
    fake.fail(audioEndpoint, { loseAnswer: true });
    const call = ending(client.generate.audio(body));
    body.content = 'Dogs';
    await inTime(call);
    expect(fake.files.at(-1)!.settings).toMatchObject({ content: 'Cats' });
    const [lost] = (await client.journal.pending()).unknown;
    expect(lost!.jobs).toEqual([speech({ content: 'Cats' })]);
    expect(facts).not.toEqual([]);
  });

  it('tells two projects apart that share it, and an email from a file', async () => {
    const { journal } = recordedJournal();
    const [staging, production] = [fakeService(), fakeService()].map(({ media }) =>
      media({ journal }),
    );
    await inTime(staging!.generate.video({ payload: [video()] }));
    expect((await production!.journal.pending()).jobs).toEqual([]);
    expect((await staging!.journal.pending()).jobs).toHaveLength(1);
    expect((await journal.list('')).every(({ key }) => key.startsWith('media/'))).toBe(true);
  });

  it('keeps two jobs apart that have one file, and settles both', async () => {
    const { fake, client } = journaled();
    const answer = { status: 200, body: { fileId: 'file_same' } };
    fake.fail(audioEndpoint, answer);
    fake.fail(audioEndpoint, answer);
    await inTime(client.generate.audio(speech()));
    await inTime(client.generate.audio(speech()));
    expect((await client.journal.pending()).jobs).toHaveLength(2);
    await client.journal.acknowledge('file_same');
    expect(await client.journal.pending()).toEqual(nothing);
  });

  it('removes what has been settled for so long', async () => {
    const { journal } = recordedJournal();
    const client = fakeService().media({ journal, keepSettled: 60_000 });
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    await client.journal.acknowledge(job!.fileId);
    await client.journal.pending();
    expect(await journal.list('')).not.toEqual([]);
    await pass(60_001);
    await client.journal.pending();
    expect(await journal.list('')).toEqual([]);
  });

  it('knows what is pending, until a failure is seen or a file is acknowledged', async () => {
    const { fake, client } = journaled();
    fake.outcome({ status: 'error' }, ({ kind }) => kind === 'audio');
    const [made] = await inTime(client.generate.video({ payload: [video()] }));
    await pass(1); // jobs of one millisecond have no order
    const spoken = await inTime(client.generate.audio(speech()));
    expect(await client.journal.pending()).toEqual({
      jobs: [made!.toJSON(), spoken.toJSON()],
      finished: [],
      unknown: [],
    });
    await inTime(ending(spoken.waitForFile()));
    expect((await client.journal.pending()).jobs).toEqual([made!.toJSON()]);
    await inTime(made!.waitForFile());
    expect((await client.journal.pending()).finished).toEqual([made!.toJSON()]);
    await client.journal.acknowledge(made!.fileId);
    expect(await client.journal.pending()).toEqual(nothing);
  });

  it('resumes after a crash with another client', async () => {
    const { fake, journal, client, media } = journaled();
    const jobs = await inTime(client.generate.video({ payload: [video(), video()] }));
    await pass(15_000);
    const next = media({ journal });
    const { jobs: found, unknown } = await next.resumeAll();
    expect(found.map(({ fileId }) => fileId)).toEqual(jobs.map(({ fileId }) => fileId));
    expect(unknown).toEqual([]);
    const files = await inTime(Promise.all(found.map((job) => job.waitForFile())));
    expect(files).toHaveLength(2);
    expect(fake.files).toHaveLength(2);
    for (const { fileId } of found) {
      await next.journal.dismiss(fileId);
    }
    expect((await next.resumeAll()).jobs).toEqual([]);
  });

  it.each([
    ['lost answer', { loseAnswer: true }],
    ['500', { status: 500 }],
    ['broken answer', { malformed: true }],
  ])('lists a %s as unknown, and nothing sends it again', async (_, fault) => {
    const { fake, journal, client, media } = journaled();
    fake.fail(videoEndpoint, fault);
    await inTime(ending(client.generate.video({ payload: [video()] })));
    const { jobs, unknown } = await media({ journal }).resumeAll();
    expect(jobs).toEqual([]);
    expect(unknown).toMatchObject([{ jobs: [video()] }]);
    expect(Number.isNaN(Date.parse(unknown[0]!.at))).toBe(false);
    await pass(600_000);
    expect(fake.requests).toHaveLength(1);
  });

  it('lists an intent without an answer as unknown: the process died in between', async () => {
    const { fake, journal, client, media } = journaled();
    fake.fail(audioEndpoint, { hang: true });
    void ending(client.generate.audio(speech()));
    await pass(1_000);
    expect((await media({ journal }).journal.pending()).unknown).toHaveLength(1);
  });

  it.each([
    ['is refused', { status: 400 }],
    ['is refused with 401', { status: 401 }],
    ['finds no free slot', { status: 400, body: { error: 'Queue is full' } }],
  ])('forgets what %s', async (_, fault) => {
    const { fake, facts, client } = journaled();
    fake.fail(videoEndpoint, fault);
    await inTime(ending(client.generate.video({ payload: [video()] })));
    expect(facts).toEqual(['claim', 'refused']);
    expect(await client.journal.pending()).toEqual(nothing);
  });

  it('forgets what breaks a rule, or was aborted before it left', async () => {
    const { fake, client } = journaled();
    await inTime(ending(client.generate.video({ payload: [video({ duration: 99 })] })));
    const controller = new AbortController();
    const call = client.generate.audio(speech(), { signal: controller.signal });
    controller.abort();
    await inTime(ending(call));
    expect(await client.journal.pending()).toEqual(nothing);
    expect(fake.requests).toEqual([]);
  });

  it('keeps the ids of a short answer, and all its jobs as unknown: nobody knows which is which', async () => {
    const { fake, client } = journaled();
    const data = { folderId: 'folder_1', filesCreated: ['file_a'] };
    fake.fail(videoEndpoint, { status: 200, body: { success: true, data } });
    const payload = [video({ fileName: 'a' }), video({ fileName: 'b' })];
    const { error } = await inTime(ending(client.generate.video({ payload })));
    expect(error).toMatchObject({ code: 'FILE_IDS_MISSING', fileIds: ['file_a'] });
    const { jobs, unknown } = await client.journal.pending();
    expect(jobs.map(({ fileId }) => fileId)).toEqual(['file_a']);
    expect(unknown.map((intent) => intent.jobs)).toEqual([payload]);
  });

  it('is written for merged calls and for the parts of a long text, too', async () => {
    const { media } = fakeService();
    const journal = memoryJournal();
    const client = media({ journal, coalesce: true });
    const calls = [1, 2].map(() => client.generate.video({ payload: [video()] }));
    await inTime(Promise.all(calls));
    await inTime(client.generate.longAudio(speech({ content: 'A sentence. '.repeat(1000) })));
    const kinds = (await client.journal.pending()).jobs.map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['audio', 'audio', 'video', 'video']);
  });

  it('is asked for without one: a ConfigurationError', async () => {
    const client = fakeService().media();
    const { error } = await ending(client.journal.pending());
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'JOURNAL_MISSING' });
    expect((await ending(client.resumeAll())).error).toMatchObject({ code: 'JOURNAL_MISSING' });
  });
});

describe('a journal that cannot be written', () => {
  it('before the call keeps it from being sent', async () => {
    const { fake, media } = fakeService();
    const call = media({ journal: failingJournal(() => true) }).generate.video({
      payload: [video()],
    });
    const { error } = await inTime(ending(call));
    expect(String(error)).toContain('disk full');
    expect(call.outcome).toBe('not-sent');
    expect(fake.requests).toEqual([]);
  });

  it('after the call does not hide its result, and is a warning', async () => {
    const { media } = fakeService();
    const client = media({ journal: failingJournal((key) => !key.endsWith('/claim')) });
    const warnings: WarningEvent[] = [];
    client.on('warning', (warning) => warnings.push(warning));
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    const file = await inTime(job!.waitForFile());
    expect(file.fileId).toBe(job!.fileId);
    expect(warnings[0]!.message).toContain('disk full');
  });
});

describe('an id that a journal could not write', () => {
  it('is written again until it is there, and once', async () => {
    let failures = 2;
    const journal = failingJournal((key) => key.endsWith('/accepted') && failures-- > 0);
    const client = fakeService().media({ journal });
    client.on('warning', () => undefined);
    await inTime(client.generate.audio(speech()));
    const answers = async () =>
      (await journal.list('')).filter(({ key }) => key.endsWith('/accepted')).length;
    expect(await answers()).toBe(0);
    await pass(4_900);
    expect(await answers()).toBe(0);
    await pass(200);
    expect(await answers()).toBe(1);
    expect((await client.journal.pending()).jobs).toHaveLength(1);
  });

  it('leaves the text of its job in the journal until then: a crash would lose both', async () => {
    const journal = failingJournal((key) => key.endsWith('/accepted'));
    const client = fakeService().media({ journal });
    client.on('warning', () => undefined);
    await inTime(client.generate.audio(speech()));
    const { unknown } = await pendingJobs(journal);
    expect(unknown.flatMap(({ jobs }) => jobs)).toEqual([speech()]);
  });

  it('is an error of the queue when it never can be', async () => {
    const journal = failingJournal((key) => key.endsWith('/accepted'));
    const client = fakeService().media({ journal });
    client.on('warning', () => undefined);
    const read = async () => {
      for await (const { error } of client.queue([speech()])) {
        expect(error).toBeUndefined();
      }
    };
    const { error } = await inTime(ending(read()));
    expect(error).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
  });

  it('comes late, after the call was given up: it is noted all the same', async () => {
    const { fake, journal, client } = journaled();
    fake.fail(audioEndpoint, { slow: 150_000 });
    const accepted: string[] = [];
    client.on('job:accepted', ({ fileId }) => accepted.push(fileId));
    const { error } = await inTime(ending(client.generate.audio(speech())));
    expect(error).toMatchObject({ name: 'TimeoutError', outcome: 'unknown' });
    expect(accepted).toEqual([]);
    await pass(60_000);
    expect(accepted).toEqual([fake.files[0]!.fileId]);
    expect(await pendingJobs(journal)).toMatchObject({
      jobs: [{ fileId: accepted[0] }],
      unknown: [],
    });
  });

  it('is waited for 120 s, or as long as the caller says', async () => {
    const { fake, client } = journaled();
    fake.fail(audioEndpoint, { slow: 100_000 });
    await inTime(client.generate.audio(speech()));
    fake.fail(audioEndpoint, { slow: 100_000 });
    const { error } = await inTime(ending(client.generate.audio(speech(), { timeout: 50_000 })));
    expect(error).toMatchObject({ name: 'TimeoutError' });
  });
});

describe('a journal that is away for minutes', () => {
  /** A journal that can be away, and what the next claim does before it is written. */
  function leaving() {
    const memory = memoryJournal();
    let isAway = false;
    let claims = 0;
    let leavesAt = Infinity;
    const leave = () => {
      isAway = true;
      setTimeout(() => {
        isAway = false;
      }, 5 * 60_000);
    };
    const ask = <T>(answer: () => Promise<T>) =>
      isAway ? Promise.reject(new Error('restarting')) : answer();
    const journal: JournalStore = {
      ...memory,
      get: (keys) => ask(() => memory.get(keys)),
      put: (key, value) => ask(() => memory.put(key, value)),
      putIfAbsent(key, value) {
        if (++claims === leavesAt) {
          leave();
        }
        return ask(() => memory.putIfAbsent(key, value));
      },
      now: () => ask(() => memory.now()),
    };
    const leaveAtClaim = (number: number) => {
      leavesAt = number;
    };
    return { journal, leave, leaveAtClaim };
  }

  it.each(['429', 'ECONNREFUSED'])(
    'as a call is answered with %s: its job is made after it, and no error is left',
    async (kind) => {
      const { fake, media } = fakeService();
      const { journal, leave } = leaving();
      let calls = 0;
      const fetch: typeof globalThis.fetch = (input, init) => {
        const request = new Request(input, init);
        if (request.method === 'GET' || ++calls !== 2) {
          return fake.fetch(request);
        }
        leave();
        const cause = Object.assign(new Error('connect'), { code: kind });
        return kind === '429'
          ? Promise.resolve(Response.json({ success: false, message: 'slow' }, { status: 429 }))
          : Promise.reject(new TypeError('fetch failed', { cause }));
      };
      const client = media({ journal, fetch });
      client.on('warning', () => undefined);
      const jobs = ['Cats', 'Dogs'].map((content) => speech({ content }));
      const results = await inTime(collect(client.queue(jobs, { name: 'news' })));
      expect(results.map(({ error }) => error)).toEqual([undefined, undefined]);
      expect(fake.files).toHaveLength(2);
      expect(await pendingJobs(journal)).toMatchObject({ unknown: [] });
    },
  );

  it('in the middle of the claims of a call: all of its jobs are made after it', async () => {
    const { fake, media } = fakeService();
    const { journal, leaveAtClaim } = leaving();
    leaveAtClaim(22);
    const client = media({ journal });
    client.on('warning', () => undefined);
    const results = await inTime(collect(client.queue(videos(22), { name: 'films' })));
    expect(results.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(fake.files).toHaveLength(22);
    expect(await pendingJobs(journal)).toMatchObject({ unknown: [] });
  });
});

describe('calls whose answer never comes', () => {
  /** The journal of one client, with so many calls that are not answered. */
  async function withLostCalls(count: number) {
    const store = memoryJournal();
    const journal = new MediaJournal({
      store,
      scope: 'shop',
      clock: systemClock,
      keepMs: 1e9,
      onTrouble: () => undefined,
    });
    const owner = { owner: 'me', retriesFailed: false };
    for (let call = 0; call < count; call++) {
      await journal.claim(`call ${call}`, [{ name: undefined, job: video() }], owner);
    }
    return journal;
  }

  it('get ids that come late', async () => {
    const journal = await withLostCalls(2);
    await journal.accept('call 0', [{ fileId: 'late', kind: 'video' }]);
    const { jobs, unknown } = await journal.pending();
    expect(jobs).toEqual([{ fileId: 'late', kind: 'video' }]);
    expect(unknown.map(({ id }) => id)).toEqual(['call 1']);
  });

  it('are not all kept in memory: ids that come after a thousand others are listed by themselves', async () => {
    const journal = await withLostCalls(1_001);
    await journal.accept('call 0', [{ fileId: 'late', kind: 'video' }]);
    const { jobs, unknown } = await journal.pending();
    expect(jobs).toEqual([{ fileId: 'late', kind: 'video' }]);
    expect(unknown).toHaveLength(1_001);
  });
});

describe('a job that fails or is canceled, in the words of any service', () => {
  it.each(
    (['documented', 'upper', 'other'] as const).flatMap((statusWords) =>
      (['status', 'state'] as const).flatMap((statusField) =>
        (['error', 'canceled'] as const).map((status) => ({ statusWords, statusField, status })),
      ),
    ),
  )('is over, and submitted again by `retryFailed` alone: %j', async ({ status, ...behavior }) => {
    const { fake, journal, media } = journaled({ behavior });
    const run = (retryFailed: boolean) =>
      inTime(collect(media({ journal }).queue([speech()], { name: 'news', retryFailed })));
    fake.outcome({ status });
    await run(false);
    expect(await pendingJobs(journal)).toEqual(nothing);
    await run(false);
    expect(fake.files).toHaveLength(1);
    const [again] = await run(true);
    expect(again!.file).toBeDefined();
    expect(fake.files).toHaveLength(2);
  });
});

describe('two runs that claim the same jobs', () => {
  it('never free the claim of the other one, whatever of the journal fails', async () => {
    const memory = memoryJournal();
    let fails: (key: string) => boolean = () => false;
    const store: JournalStore = {
      ...memory,
      putIfAbsent: (key, value) =>
        fails(key) ? Promise.reject(new Error('restarting')) : memory.putIfAbsent(key, value),
    };
    const open = () =>
      new MediaJournal({
        store,
        scope: 'shop',
        clock: systemClock,
        keepMs: 1e9,
        onTrouble: () => undefined,
      });
    const [one, other] = [open(), open()];
    const jobs = ['a', 'b'].map((key) => ({ name: one.nameOf('films', key), job: video() }));
    const [a, b] = jobs;
    const owner = { owner: 'me', retriesFailed: false };
    // The second looks before the first has claimed, and claims after it.
    const looked = memory.get.bind(memory);
    let isBehind = true;
    store.get = (keys) => (isBehind ? Promise.resolve(new Map()) : looked(keys));
    await inTime(one.claim('first', [a!], owner));
    fails = (key) => key.includes(b!.name);
    await expect(inTime(other.claim('second', jobs, owner))).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
    });
    fails = () => false;
    isBehind = false;
    expect([...(await one.find([a!.name, b!.name])).values()]).toMatchObject([
      { state: 'claimed' },
    ]);
    const taken = await inTime(other.claim('third', [a!], owner));
    expect(taken?.size).toBe(1);
    expect(await inTime(other.claim('fourth', [b!], owner))).toBeUndefined();
  });

  it('free what was given up, though it comes late and others were given up since', async () => {
    const memory = memoryJournal();
    const late: (() => Promise<string>)[] = [];
    let isSlow = true;
    const store: JournalStore = {
      ...memory,
      putIfAbsent(key, value) {
        if (!isSlow) {
          return memory.putIfAbsent(key, value);
        }
        late.push(() => memory.putIfAbsent(key, value));
        return Promise.reject(new Error('too slow'));
      },
    };
    const [one, other] = [store, store].map(
      (shared) =>
        new MediaJournal({
          store: shared,
          scope: 'shop',
          clock: systemClock,
          keepMs: 60_000,
          onTrouble: () => undefined,
        }),
    );
    const jobs = [{ name: one!.nameOf('films', 'a'), job: video() }];
    const owner = { owner: 'me', retriesFailed: false };
    for (const [call, journal] of [
      ['first', one],
      ['second', one],
      ['third', other],
    ] as const) {
      await expect(inTime(journal!.claim(call, jobs, owner))).rejects.toThrow('too slow');
    }
    isSlow = false;
    await late[0]!();
    expect(await one!.find([jobs[0]!.name])).toEqual(new Map());
    expect((await other!.pending()).unknown).toEqual([]);
    expect(await inTime(other!.claim('fourth', jobs, owner))).toBeUndefined();
    expect((await one!.find([jobs[0]!.name])).size).toBe(1);
    await other!.accept('fourth', [{ fileId: 'file_1', kind: 'video' }]);
    await other!.settle('file_1', 'saved');
    await pass(60_001);
    await one!.pending();
    expect(await store.list('')).toEqual([]);
  });

  it('that lose one job each have neither: what came free again is no leave to submit', async () => {
    const memory = memoryJournal();
    const [one, other] = [memory, memory].map(
      (store) =>
        new MediaJournal({
          store,
          scope: 'shop',
          clock: systemClock,
          keepMs: 1e9,
          onTrouble: () => undefined,
        }),
    );
    const jobs = ['a', 'b'].map((key) => ({ name: one!.nameOf('films', key), job: video() }));
    // The second gets the second job, and the first one the first, before either knows.
    const put = memory.putIfAbsent.bind(memory);
    let isFirst = true;
    memory.putIfAbsent = async (key, value) => {
      const isRival = isFirst && key.includes(jobs[1]!.name);
      if (isRival) {
        isFirst = false;
        await put(key, value.replaceAll('first', 'second'));
        const refused = key.replace(/claim$/, 'refused');
        await memory.put(refused, JSON.stringify({ at: 1, claim: 'second-1' }));
      }
      return put(key, value);
    };
    const owner = { owner: 'me', retriesFailed: false };
    expect(await inTime(one!.claim('first', jobs, owner))).toEqual(new Map());
    expect(await inTime(other!.claim('third', jobs, owner))).toBeUndefined();
    expect(await inTime(one!.claim('fourth', jobs, owner))).toMatchObject({ size: 2 });
  });
});
