import {
  LongAudioError,
  MediaClient,
  MediaPool,
  memoryJournal,
  type JournalStore,
  type MediaJob,
  type MediaOptions,
  type MediaQueue,
  type QueueOptions,
  type QueueResult,
  type RateBudgetStore,
} from 'postreel';
import { createClock, createFakeMedia, type FakeMedia } from 'postreel/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { breaking, never, storeFaults } from '../support/laws/broken.js';
import { ended, reasons, type End } from '../support/laws/settled.js';
import { speech, video } from '../support/media/fake-time.js';
import { tracked } from '../support/msw.js';
import { memoryStore } from '../support/transport/memory-store.js';
import { holdLaw, type Subject } from './exceptions.js';

// What is loaded with a first call must be there: files are not read on a fake clock.
beforeAll(async () => {
  const { media } = world();
  await media().plan([]);
  await drained(media().queue([]));
  await drained(new MediaPool([media()]).queue([]));
  await media()
    .generate.longAudio({ content: 'Hi', voiceId: 'v' })
    .catch(() => undefined);
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

let worlds = 0;

/** A fake service, and clients of it that share no limit with others. */
function world() {
  const fake = createFakeMedia({ clock: createClock({ now: () => Date.now() }) });
  const group = `law 4 media ${++worlds}`;
  /** How long the answers to paid calls are on their way. */
  const way = { ms: 0 };
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const answer = await fake.fetch(input, init);
    if (way.ms > 0 && init?.method === 'POST') {
      await arrived(way.ms, init.signal);
    }
    return answer;
  };
  const media = (options: MediaOptions = {}) =>
    new MediaClient({
      apiKey: fake.apiKey,
      baseUrl: fake.baseUrl,
      fetch: tracked(fetch),
      rateLimit: { group },
      ...options,
    });
  return { fake, media, group, way };
}

function arrived(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as `fetch` does
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

async function drained(queue: MediaQueue, into: QueueResult[] = []): Promise<QueueResult[]> {
  for await (const result of queue) {
    into.push(result);
  }
  return into;
}

const films: readonly MediaJob[] = Array.from({ length: 22 }, (_, at) =>
  video({ prompt: `Film ${at}` }),
);

interface ManyFiles {
  readonly name: string;
  readonly open: (media: MediaClient, jobs: never, options: QueueOptions) => MediaQueue;
}

const queues: readonly ManyFiles[] = [
  { name: 'media.queue', open: (media, jobs, options) => media.queue(jobs, options) },
  {
    name: 'pool.queue',
    open: (media, jobs, options) => new MediaPool([media]).queue(jobs, options),
  },
];

/** Nothing that is paid for is unknown to the caller, and nothing is told twice. */
async function expectKnown(
  fake: FakeMedia,
  results: readonly QueueResult[],
  queue: MediaQueue,
  media: MediaClient,
): Promise<void> {
  const told = results.flatMap(({ job, file }) => job?.fileId ?? file?.fileId ?? []);
  const running = queue.running.map(({ fileId }) => fileId);
  const listed = await ended(media.journal.pending());
  const inJournal = 'value' in listed ? listed.value.jobs.map(({ fileId }) => fileId) : [];
  const known = new Set([...told, ...running, ...inJournal]);
  expect(fake.files.map(({ fileId }) => fileId).filter((fileId) => !known.has(fileId))).toEqual([]);
  expect(new Set(results.map(({ index }) => index)).size).toBe(results.length);
}

/** Runs a queue that meets a fault; a second one with the same name makes the rest, and pays nothing twice. */
async function checkQueue(
  { open }: ManyFiles,
  {
    prepare = () => undefined,
    source = (jobs) => jobs,
    options = {},
    journal = memoryJournal(),
    healthy = journal,
    store,
    jobs = films,
  }: {
    prepare?: (fake: FakeMedia, way: { ms: number }) => unknown;
    source?: (jobs: readonly MediaJob[]) => unknown;
    options?: QueueOptions;
    journal?: JournalStore;
    healthy?: JournalStore;
    store?: RateBudgetStore;
    jobs?: readonly MediaJob[];
  },
): Promise<{ end: End<unknown>; results: QueueResult[]; fake: FakeMedia; again: QueueResult[] }> {
  const { fake, media, group, way } = world();
  prepare(fake, way);
  const first = media({ journal, rateLimit: { group, store } });
  const results: QueueResult[] = [];
  const queue = open(first, source(jobs) as never, { name: 'films', ...options });
  const end = await ended(drained(queue, results));
  // A call that has left comes to its end in spite of an abort.
  await vi.advanceTimersByTimeAsync(130_000);
  await expectKnown(fake, results, queue, media({ journal: healthy }));
  const again: QueueResult[] = [];
  const rest = open(media({ journal: healthy }), jobs as never, { name: 'films' });
  const second = await ended(drained(rest, again));
  expect(second).toHaveProperty('value');
  expect(new Set(again.map(({ index }) => index)).size).toBe(jobs.length);
  const made = again.filter(({ file }) => file).map(({ index }) => index);
  const unclear = again.filter(({ file }) => !file);
  expect(fake.files.length, 'nothing is paid for twice').toBeLessThanOrEqual(jobs.length);
  expect(fake.files.length).toBeGreaterThanOrEqual(made.length);
  return { end, results, fake, again: unclear };
}

function subjectsOf(call: ManyFiles): Subject[] {
  const half = films.length / 2;
  const subjects: Subject[] = [];
  const add = (fault: string, check: () => Promise<unknown>) =>
    void subjects.push({ name: `${call.name}: ${fault}`, check });

  for (const [place, bad] of [null, undefined, {}, 7, { ...video(), prompt: '' }].entries()) {
    add(`bad job ${place}`, async () => {
      const jobs = films.toSpliced(half, 0, bad as MediaJob);
      const { end, results, again } = await checkQueue(call, { jobs });
      expect(end).toHaveProperty('value');
      expect(results).toHaveLength(jobs.length);
      expect(results.filter(({ error }) => error).map(({ index }) => index)).toEqual([half]);
      expect(again.map(({ index }) => index)).toEqual([half]);
    });
  }
  for (const reason of [new Error('broken'), 'broken', undefined, null]) {
    const sources = {
      generator: function* (jobs: readonly MediaJob[]) {
        yield* jobs.slice(0, half);
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- whatever is thrown
        throw reason;
      },
      stream: async function* (jobs: readonly MediaJob[]) {
        yield* jobs.slice(0, half);
        await Promise.resolve();
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- whatever is thrown
        throw reason;
      },
    };
    for (const [kind, source] of Object.entries(sources)) {
      add(`a ${kind} that throws ${String(reason)}`, async () => {
        const { end, results, again } = await checkQueue(call, { source });
        expect(end).toHaveProperty('error');
        expect((end as { error: unknown }).error).toBe(reason);
        expect(results.filter(({ file }) => file)).toHaveLength(half);
        expect(again).toEqual([]);
      });
    }
  }
  for (const [name, abort] of reasons) {
    const moments: Readonly<
      Record<string, (of: AbortController) => Parameters<typeof checkQueue>[1]>
    > = {
      'before it': (controller) => (abort(controller), {}),
      'while a call is under way': (controller) => ({
        prepare: (fake) => {
          fake.fail('POST /v1/generate/video', { slow: 5_000 });
          setTimeout(() => abort(controller), 2_000);
        },
      }),
      'while an answer is on its way': (controller) => ({
        prepare: (_, way) => {
          way.ms = 5_000;
          setTimeout(() => abort(controller), 2_000);
        },
      }),
      'while the files are made': (controller) => ({
        prepare: () => setTimeout(() => abort(controller), 90_000),
      }),
      'while the source is silent': (controller) => ({
        prepare: () => setTimeout(() => abort(controller), 90_000),
        source: async function* (jobs) {
          yield* jobs.slice(0, half);
          await never();
        },
      }),
    };
    for (const [moment, faultOf] of Object.entries(moments)) {
      add(`an abort with ${name} ${moment}`, async () => {
        const controller = new AbortController();
        const fault = faultOf(controller);
        const { end, again } = await checkQueue(call, {
          ...fault,
          options: { signal: controller.signal },
        });
        expect(end).toHaveProperty('error');
        expect((end as { error: unknown }).error).toBe(controller.signal.reason);
        expect(again).toEqual([]);
      });
    }
  }
  add('a deadline', async () => {
    const { end, results, again } = await checkQueue(call, { options: { deadline: 90_000 } });
    expect(end).toHaveProperty('value');
    expect(results).toHaveLength(films.length);
    expect(again).toEqual([]);
  });
  for (const step of ['take', 'release', 'lease', 'hold', 'giveBack'] as const) {
    for (const [fault, run] of Object.entries(storeFaults)) {
      add(`a store of the rate limit whose ${step}() ${fault}`, async () => {
        const lease = {
          lease: (_: string, count: number) =>
            Promise.resolve(Array.from({ length: count }, () => crypto.randomUUID())),
          hold: () => Promise.resolve(),
          giveBack: () => Promise.resolve(),
        };
        const store: RateBudgetStore = { ...memoryStore().store, ...lease, [step]: run };
        const { end, results, again } = await checkQueue(call, { store });
        expect(end).toHaveProperty('value');
        expect(results.filter(({ file }) => file)).toHaveLength(films.length);
        expect(again).toEqual([]);
      });
    }
  }
  for (const verb of ['putIfAbsent', 'put', 'get', 'list', 'now', 'flush'] as const) {
    for (const fault of ['rejects', 'hangs']) {
      const fail = storeFaults[fault] ?? never;
      for (const from of call.name === 'media.queue' ? [0, 30] : [30]) {
        add(`a journal whose ${verb}() ${fault} from use ${from} on`, async () => {
          const healthy = memoryJournal();
          const journal = breaking(healthy, verb, fail, from);
          await checkQueue(call, { journal, healthy, options: { deadline: 2 * 3_600_000 } });
        });
      }
    }
  }
  return subjects;
}

const longText = 'A sentence of this text. '.repeat(1_300); // four parts

function longAudioSubjects(): Subject[] {
  const subjects: Subject[] = [];
  const add = (
    fault: string,
    {
      prepare,
      abort,
      most = 4,
    }: {
      prepare: (fake: FakeMedia) => unknown;
      abort?: (typeof reasons)[number][1];
      most?: number;
    },
  ) =>
    void subjects.push({
      name: `media.generate.longAudio: ${fault}`,
      check: async () => {
        const { fake, media } = world();
        const controller = new AbortController();
        const request = { ...speech(), content: longText };
        prepare(fake);
        if (abort) {
          setTimeout(() => abort(controller), 7_000);
        }
        const run = media().generate.longAudio(request, {
          signal: controller.signal,
          retries: 0,
          timeout: 20_000,
        });
        const { error } = (await ended(run)) as { error: LongAudioError };
        expect(error).toBeInstanceOf(LongAudioError);
        const known = error.jobs.map(({ fileId }) => fileId);
        expect(known).toEqual(fake.files.map(({ fileId }) => fileId).slice(0, known.length));
        // The part that may have been taken is said to be open.
        const open = fake.files.length - known.length;
        expect(open).toBeLessThanOrEqual(error.outcome === 'unknown' ? 1 : 0);
        expect(fake.files.length).toBeLessThanOrEqual(most);
        if (abort) {
          expect(error.cause).toBe(controller.signal.reason);
        }
      },
    });
  const audio = 'POST /v1/generate/audio';
  add('a part that is refused', {
    prepare: (fake) => fake.fail(audio, { status: 400, after: 1 }),
  });
  add('a part whose answer is lost', {
    prepare: (fake) => fake.fail(audio, { loseAnswer: true, after: 2 }),
  });
  add('a part that takes too long', {
    prepare: (fake) => fake.fail(audio, { slow: 60_000, after: 1 }),
  });
  for (const [name, abort] of reasons) {
    add(`an abort with ${name} in a part`, {
      prepare: (fake) => fake.fail(audio, { slow: 5_000, times: 4 }),
      abort,
      most: 2,
    });
  }
  return subjects;
}

function waitSubjects(): Subject[] {
  const settles = ['all', 'any', 'first-error'] as const;
  return reasons.flatMap(([reason, abort]) =>
    settles.map((settle) => ({
      name: `media.waitForFiles: an abort with ${reason} of the wait for ${settle}`,
      check: async () => {
        const { fake, media } = world();
        const client = media();
        const jobs = await ended(
          client.generate.video({ payload: films.slice(0, 5) as ReturnType<typeof video>[] }),
        );
        const fileIds = (jobs as { value: { fileId: string }[] }).value.map(({ fileId }) => fileId);
        const controller = new AbortController();
        const { signal } = controller;
        setTimeout(() => abort(controller), 30_000);
        const wait = client.waitForFiles(fileIds, { settle, signal } as { settle: 'any' });
        const end = await ended(wait);
        expect(end).toHaveProperty('error');
        expect((end as { error: unknown }).error).toBe(signal.reason);
        const asked = fake.requests.length;
        await vi.advanceTimersByTimeAsync(600_000);
        expect(fake.requests, 'nothing is asked for an abandoned wait').toHaveLength(asked);
        const again = (await ended(client.waitForFiles(fileIds))) as { value: unknown[] };
        expect(again.value).toHaveLength(5);
      },
    })),
  );
}

describe('law 4, nothing that was done is forgotten', () => {
  it.each(queues)('in $name', async (call) => {
    await holdLaw(`law 4, ${call.name}`, subjectsOf(call));
  });

  it('in a text of many parts, and in a wait for many files', async () => {
    await holdLaw('law 4, parts and waits', [...longAudioSubjects(), ...waitSubjects()]);
  });
});
