import {
  memoryJournal,
  type JobJournal,
  type LoggedJournal,
  type JournalEntry,
  type WarningEvent,
} from 'postreel';
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

useFakeTime();

function journaled(options: Parameters<typeof fakeService>[0] = {}) {
  const service = fakeService(options);
  const journal = memoryJournal();
  return { ...service, journal, client: service.media({ journal }) };
}

const nothing = { jobs: [], finished: [], unknown: [] };
const typesOf = async (journal: LoggedJournal) => (await journal.read()).map(({ type }) => type);

describe('the journal', () => {
  it('has the intent before the call, and the ids after it', async () => {
    const { fake, journal, client } = journaled();
    const before: JournalEntry[] = [];
    client.on('request', () => void journal.read().then((entries) => before.push(...entries)));
    const payload = [video({ fileName: 'a' }), video({ fileName: 'b' })];
    const jobs = await inTime(client.generate.video({ payload }));
    expect(before).toMatchObject([{ type: 'intent', jobs: payload }]);
    const [intent, accepted] = await journal.read();
    expect(accepted).toEqual({
      type: 'accepted',
      id: (intent as { id: string }).id,
      jobs: jobs.map((job) => job.toJSON()),
    });
    expect(fake.requests).toHaveLength(1);
  });

  it('knows what is pending, until a failure is seen or a file is acknowledged', async () => {
    const { fake, client } = journaled();
    fake.outcome({ status: 'error' }, ({ kind }) => kind === 'audio');
    const [made] = await inTime(client.generate.video({ payload: [video()] }));
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
    ['500 with the words of a full queue', { status: 500, body: { error: 'Queue is full' } }],
    ['broken answer', { malformed: true }],
  ])('lists a %s as unknown, and nothing sends it again', async (_, fault) => {
    const { fake, journal, client, media } = journaled();
    fake.fail(videoEndpoint, fault);
    await inTime(ending(client.generate.video({ payload: [video()] })));
    const { jobs, unknown } = await media({ journal }).resumeAll();
    expect(jobs).toEqual([]);
    expect(unknown).toMatchObject([{ type: 'intent', jobs: [video()] }]);
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
    ['finds no free slot', { status: 402, body: { error: 'Queue is full' } }],
  ])('forgets what %s', async (_, fault) => {
    const { fake, journal, client } = journaled();
    fake.fail(videoEndpoint, fault);
    await inTime(ending(client.generate.video({ payload: [video()] })));
    expect(await typesOf(journal)).toEqual(['intent', 'refused']);
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
    expect((await client.journal.pending()).jobs.map(({ kind }) => kind)).toEqual([
      ...['video', 'video', 'audio', 'audio'],
    ]);
  });

  it('is asked for without one: a ConfigurationError', async () => {
    const client = fakeService().media();
    const { error } = await ending(client.journal.pending());
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'JOURNAL_MISSING' });
    expect((await ending(client.resumeAll())).error).toMatchObject({ code: 'JOURNAL_MISSING' });
  });
});

describe('the names of a journal', () => {
  const job = { fileId: 'file_1', kind: 'audio' as const };
  const claimOf = (id: string, retriesFailed: boolean) => ({
    type: 'intent' as const,
    id,
    at: '2026-01-01T00:00:00.000Z',
    jobs: [speech()],
    names: ['queue/1'],
    retriesFailed,
  });
  async function accepted(...ends: readonly JournalEntry[]) {
    const journal = memoryJournal();
    await journal.claim(claimOf('first', false));
    await journal.append({ type: 'accepted', id: 'first', jobs: [job] });
    for (const end of ends) {
      await journal.append(end);
    }
    return journal;
  }
  const finished = (status: string) => ({ type: 'finished' as const, fileId: 'file_1', status });
  const settled = (status: string) => ({ type: 'settled' as const, fileId: 'file_1', status });

  it.each<[string, JournalEntry[]]>([
    ['is in progress', []],
    ['is finished', [finished('success')]],
    ['is saved', [finished('success'), settled('saved')]],
  ])('stay taken while their job %s, also for a run that retries failed jobs', async (_, ends) => {
    const journal = await accepted(...ends);
    const taken = await journal.claim(claimOf('second', true));
    expect(taken.get('queue/1')).toMatchObject({ state: 'accepted', job });
    expect((await journal.pending()).unknown).toEqual([]);
  });

  it.each([['error'], ['canceled']])('are free for a run that retries after %s', async (status) => {
    const journal = await accepted(finished(status));
    expect((await journal.claim(claimOf('second', false))).size).toBe(1);
    expect((await journal.claim(claimOf('third', true))).size).toBe(0);
  });

  it('stay those of a failed job when its file is dismissed', async () => {
    const journal = await accepted(finished('error'), settled('dismissed'));
    expect((await journal.claim(claimOf('second', true))).size).toBe(0);
  });
});

describe('a journal that cannot be written', () => {
  const broken = (from: number): JobJournal => {
    const memory = memoryJournal();
    let writes = 0;
    return {
      claim: (intent) => memory.claim(intent),
      find: (names) => memory.find(names),
      pending: () => memory.pending(),
      append: (entry) =>
        ++writes >= from ? Promise.reject(new Error('disk full')) : memory.append(entry),
    };
  };

  it('before the call keeps it from being sent', async () => {
    const { fake, media } = fakeService();
    const call = media({ journal: broken(1) }).generate.video({ payload: [video()] });
    const { error } = await inTime(ending(call));
    expect(String(error)).toContain('disk full');
    expect(call.outcome).toBe('not-sent');
    expect(fake.requests).toEqual([]);
  });

  it('after the call does not hide its result, and is a warning', async () => {
    const { media } = fakeService();
    const client = media({ journal: broken(2) });
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
    const memory = memoryJournal();
    let failures = 2;
    const journal: JobJournal = {
      ...memory,
      append: (entry) =>
        entry.type === 'accepted' && failures-- > 0
          ? Promise.reject(new Error('disk full'))
          : memory.append(entry),
    };
    const client = fakeService().media({ journal });
    client.on('warning', () => undefined);
    await inTime(client.generate.audio(speech()));
    expect(await typesOf(memory)).toEqual(['intent']);
    await pass(4_900);
    expect(await typesOf(memory)).toEqual(['intent']);
    await pass(200);
    expect(await typesOf(memory)).toEqual(['intent', 'accepted']);
    await pass(120_000);
    expect(await typesOf(memory)).toEqual(['intent', 'accepted']);
  });
});
