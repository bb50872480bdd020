import {
  MediaClient,
  memoryJournal,
  type AudioRequest,
  type JobRecord,
  type JournalStore,
  type MediaFile,
  type MediaOptions,
  type VideoJob,
} from 'postreel';
import { createFakeMedia, type FakeMedia, type FakeMediaOptions } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { audioEndpoint, speech, video, videoEndpoint } from './fake-time.js';

/** A job as an engine hands it to its worker. */
export interface Handed {
  readonly id: string;
  readonly data: unknown;
  /** How many tries the engine has counted before. */
  readonly tries?: number;
}

/** The result of a job as the engine gets it. */
export type Heard =
  | { readonly is: 'done'; readonly result: JobRecord }
  | { readonly is: 'back' | 'later' }
  | { readonly is: 'failed' | 'final'; readonly error: Error & { readonly code?: string } };

/** A worker of an engine, by what it is called with. */
export type OpenWorker = (
  media: MediaClient,
  options: {
    readonly save: (file: MediaFile, job: object) => Promise<unknown>;
    readonly signal?: AbortSignal;
  },
) => (job: Handed) => Promise<Heard>;

/** The words of an engine: BullMQ can hand a job back and end it for good, pg-boss counts a try for each. */
export interface EngineWords {
  readonly stopped: Heard['is'];
  readonly ofOther: Heard['is'];
  readonly hopeless: Heard['is'];
}

/** Creates a fake, and clients that act as separate processes on one journal. */
function service(options: FakeMediaOptions = {}) {
  const fake = createFakeMedia({ queueTime: 0, ...options });
  const journal = memoryJournal();
  const client = (more: MediaOptions = {}) =>
    new MediaClient({ ...fake.options, journal, rateLimit: { group: fake.baseUrl }, ...more });
  return { fake, journal, client };
}

function calls(fake: FakeMedia): number {
  const paid: readonly (string | undefined)[] = [videoEndpoint, audioEndpoint];
  return fake.requests.filter(({ endpoint }) => paid.includes(endpoint)).length;
}

/** Where finished files go, by the text of their job. */
function shelf() {
  const saved: string[] = [];
  const save = async ({ fileId }: MediaFile) => {
    await Promise.resolve();
    saved.push(fileId);
  };
  return { saved, save };
}

/** The behaviour of the worker of every engine. */
export function engineContract(open: OpenWorker, words: EngineWords): void {
  it.each<[string, VideoJob | AudioRequest]>([
    ['a video', video()],
    ['speech', speech()],
  ])('makes %s, saves it, and says where to find it', async (_, data) => {
    const { fake, client } = service();
    const { saved, save } = shelf();
    const media = client();
    const heard = await open(media, { save })({ id: '1', data });
    expect(heard).toMatchObject({ is: 'done', result: { fileId: fake.files[0]!.fileId } });
    expect(saved).toEqual([fake.files[0]!.fileId]);
    const { result } = heard as { result: JobRecord };
    expect(await media.job(result).status()).toMatchObject({ status: 'success' });
  });

  it('gives `save` the job of the engine', async () => {
    const { client } = service();
    const jobs: object[] = [];
    const save = async (_: MediaFile, job: object) => Promise.resolve(jobs.push(job));
    await open(client(), { save })({ id: 'order 17', data: speech() });
    expect(jobs).toMatchObject([{ id: 'order 17' }]);
  });

  it('follows a job that is handed out again after a crash, and saves a file once', async () => {
    const { fake, client } = service();
    const { saved, save } = shelf();
    const job = { id: '1', data: video() };
    await open(client(), { save: () => Promise.reject(new Error('killed')) })(job);
    for (let run = 0; run < 2; run++) {
      expect(await open(client(), { save })(job)).toMatchObject({ is: 'done' });
    }
    expect(saved).toEqual([fake.files[0]!.fileId]);
    expect(calls(fake)).toBe(1);
  });

  it('makes jobs with equal content, and jobs with one id in two queues, separately', async () => {
    const { fake, client } = service();
    const { save } = shelf();
    const run = open(client(), { save });
    await Promise.all(['1', '2', 'other queue/1'].map((id) => run({ id, data: speech() })));
    expect(fake.files).toHaveLength(3);
  });

  it('tries again to save the same file if saving failed', async () => {
    const { fake, client } = service();
    let tries = 0;
    const save = () =>
      tries++ === 0 ? Promise.reject(new Error('the disk is full')) : Promise.resolve();
    const run = open(client(), { save });
    const first = await run({ id: '1', data: video() });
    expect(first).toMatchObject({ is: 'failed', error: { message: 'the disk is full' } });
    expect(await run({ id: '1', data: video(), tries: 1 })).toMatchObject({ is: 'done' });
    expect(tries).toBe(2);
    expect(fake.files).toHaveLength(1);
  });

  it('makes a file again that failed in an earlier attempt', async () => {
    const { fake, client } = service();
    const { save } = shelf();
    fake.outcome({ status: 'error' });
    const run = open(client(), { save });
    const first = await run({ id: '1', data: video() });
    expect(first).toMatchObject({ is: 'failed', error: { name: 'GenerationFailedError' } });
    expect(await run({ id: '1', data: video(), tries: 1 })).toMatchObject({ is: 'done' });
    expect(fake.files).toHaveLength(2);
  });

  describe('at a stop', () => {
    it('returns unsent jobs', async () => {
      const { fake, client } = service();
      const { save } = shelf();
      const stopping = new AbortController();
      const media = client({ rateLimit: { group: fake.baseUrl, pending: 1 } });
      media.on('job:accepted', () => stopping.abort());
      const run = open(media, { save, signal: stopping.signal });
      const heard = await Promise.all(['1', '2', '3'].map((id) => run({ id, data: video() })));
      expect(heard.map(({ is }) => is)).toEqual(Array(3).fill(words.stopped));
      expect(fake.files).toHaveLength(1);
      expect(await run({ id: '4', data: video() })).toMatchObject({ is: words.stopped });
      expect(calls(fake)).toBe(1);
    });

    it('waits for the response to a sent call, and returns its job', async () => {
      const { fake, client } = service();
      const { saved, save } = shelf();
      const stopping = new AbortController();
      const media = client();
      media.on('request', () => stopping.abort());
      const stopped = await open(media, { save, signal: stopping.signal })({
        id: '1',
        data: video(),
      });
      expect(stopped).toMatchObject({ is: words.stopped });
      const next = await open(client(), { save })({ id: '1', data: video() });
      expect(next).toMatchObject({ is: 'done' });
      expect(saved).toHaveLength(1);
      expect(calls(fake)).toBe(1);
    });

    it('withdraws a claim that is being written, and returns the job unsent', async () => {
      const { fake, journal, client } = service();
      const { save } = shelf();
      const stopping = new AbortController();
      const slow: JournalStore = {
        ...journal,
        get: (key) => journal.get(key),
        list: (...args) => journal.list(...args),
        async swap(...args) {
          stopping.abort();
          await new Promise((resolve) => setTimeout(resolve, 50));
          return journal.swap(...args);
        },
      };
      const run = open(client({ journal: slow }), { save, signal: stopping.signal });
      expect(await run({ id: '1', data: video() })).toMatchObject({ is: words.stopped });
      expect(await journal.list('')).toEqual([]);
      expect(fake.files).toEqual([]);
      expect(await open(client(), { save })({ id: '1', data: video() })).toMatchObject({
        is: 'done',
      });
      expect(calls(fake)).toBe(1);
    });

    it('returns a job whose call was not sent', async () => {
      const { fake, client } = service();
      const { save } = shelf();
      const stopping = new AbortController();
      const media = client();
      fake.fail(videoEndpoint, { status: 429, times: 5 });
      media.on('request', () => stopping.abort());
      const run = open(media, { save, signal: stopping.signal });
      expect(await run({ id: '1', data: video() })).toMatchObject({ is: words.stopped });
      expect(fake.files).toEqual([]);
    });

    it('ends a job that may have been sent as unknown', async () => {
      const { fake, client } = service();
      const { save } = shelf();
      const stopping = new AbortController();
      const media = client();
      fake.fail(videoEndpoint, { loseAnswer: true });
      media.on('request', () => stopping.abort());
      const run = open(media, { save, signal: stopping.signal });
      expect(await run({ id: '1', data: video() })).toMatchObject({ is: words.hopeless });
    });

    it('lets a `save` that has begun finish', async () => {
      const { client } = service();
      const stopping = new AbortController();
      let isSaved = false;
      const save = async () => {
        stopping.abort();
        await Promise.resolve();
        isSaved = true;
      };
      const run = open(client(), { save, signal: stopping.signal });
      expect(await run({ id: '1', data: speech() })).toMatchObject({ is: 'done' });
      expect(isSaved).toBe(true);
    });
  });

  it('never sends a job again that may have been sent, however often the engine hands it out', async () => {
    const { fake, client } = service();
    const { saved, save } = shelf();
    fake.fail(videoEndpoint, { loseAnswer: true });
    for (const tries of [0, 1, 2]) {
      const heard = await open(client(), { save })({ id: '1', data: video(), tries });
      expect(heard).toMatchObject({ is: words.hopeless, error: expect.any(Error) as Error });
    }
    expect(calls(fake)).toBe(1);
    expect(saved).toEqual([]);
  });

  it('returns the job of another owner, and never requests it with its own key', async () => {
    const { fake, client } = service();
    const { saved, save } = shelf();
    const [one, other] = ['one', 'other'].map((group) => client({ rateLimit: { group } }));
    const job = { id: '1', data: video() };
    const stopping = new AbortController();
    one!.on('job:accepted', () => stopping.abort());
    await open(one!, { save, signal: stopping.signal })(job);
    const before = fake.requests.length;
    expect(await open(other!, { save })(job)).toMatchObject({ is: words.ofOther });
    expect(fake.requests).toHaveLength(before);
    const own = client({ rateLimit: { group: 'one' } });
    expect(await open(own, { save })(job)).toMatchObject({ is: 'done' });
    expect(saved).toHaveLength(1);
  });

  it.each<[string, unknown, string]>([
    ['a text', 'Why cats purr', '`data` must be the video or the speech itself'],
    ['nothing', undefined, '`data` must be the video or the speech itself'],
    ['a list', [video()], '`data` must be the video or the speech itself'],
    ['a video without a voice', { ...video(), voiceId: undefined }, 'voiceId'],
    ['a format that does not exist', speech({ format: 'ogg' as 'mp3' }), 'format'],
  ])('fails %s for good, before a request', async (_, data, message) => {
    const { fake, client } = service();
    const heard = await open(client(), { save: shelf().save })({ id: '1', data });
    expect(heard).toMatchObject({ is: words.hopeless });
    expect((heard as { error: Error }).error.message).toContain(message);
    expect(fake.requests).toEqual([]);
  });

  it('rejects other data under the id of a submitted job', async () => {
    const { fake, client } = service();
    const run = open(client(), { save: shelf().save });
    await run({ id: '1', data: speech() });
    const heard = await run({ id: '1', data: speech({ content: 'Good night!' }) });
    expect(heard).toMatchObject({ is: words.hopeless });
    expect((heard as { error: Error }).error.message).toContain('was used with other content');
    expect(calls(fake)).toBe(1);
  });

  it('waits while the service cannot be reached, from the start: an outage uses up no attempt', async () => {
    const { fake, client } = service();
    let refusals = 0;
    const fetch: typeof globalThis.fetch = (input, init) =>
      refusals++ < 20
        ? Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: refused }))
        : fake.fetch(input, init);
    // With the fake's clock, so that nobody waits.
    Object.defineProperties(fetch, Object.getOwnPropertyDescriptors(fake.fetch));
    const run = open(client({ fetch }), { save: shelf().save });
    const heard = await run({ id: '1', data: video() });
    expect(heard).toMatchObject({ is: 'done' });
  });

  it('waits while the journal cannot be reached', async () => {
    const { fake, journal, client } = service();
    let faults = 0;
    const ailing: JournalStore = {
      ...journal,
      swap: (...args) => journal.swap(...args),
      list: (...args) => journal.list(...args),
      get: (key) =>
        faults++ < 20 ? Promise.reject(new Error('down')) : Promise.resolve(journal.get(key)),
    };
    const heard = await open(client({ journal: ailing }), { save: shelf().save })({
      id: '1',
      data: video(),
    });
    expect(heard).toMatchObject({ is: 'done' });
    expect(calls(fake)).toBe(1);
  });

  it('rejects at once a client without a journal, another value than a client, and a missing `save`', () => {
    const { fake, client } = service();
    const { save } = shelf();
    const bare = new MediaClient(fake.options);
    const nobody = {} as never;
    expect(() => open(bare, { save })).toThrow('needs a journal');
    expect(() => open(nobody, { save })).toThrow('needs a `MediaClient`');
    expect(() => open(client(), {} as { save: typeof save })).toThrow('`save`');
  });
}

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
