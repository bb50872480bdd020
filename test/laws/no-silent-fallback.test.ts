import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  MediaClient,
  memoryJournal,
  MessagingClient,
  type ClientEvents,
  type JournalStore,
  type MediaOptions,
  type MediaQueue,
  type RateBudgetStore,
} from 'postreel';
import { fileJournal } from 'postreel/node';
import { instrument } from 'postreel/otel';
import { withSchedulerLock } from 'postreel/postgres';
import { createClock, createFakeMedia } from 'postreel/testing';
import { createInbox, memorySeen } from 'postreel/webhooks';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Inbox } from '../../src/core/types.js';
import { route } from '../../src/core/route.js';
import { withLock } from '../../src/node/file-lock.js';
import type { CallContext, TransportParts } from '../../src/transport/context.js';
import { Events } from '../../src/core/events.js';
import { Validator } from '../../src/transport/validation/validator.js';
import { messagingOver } from '../support/clients.js';
import { storeFaults } from '../support/laws/broken.js';
import { ended } from '../support/laws/settled.js';
import { tracked } from '../support/msw.js';
import { memoryStore } from '../support/transport/memory-store.js';
import { holdLaw, type Subject } from './exceptions.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

// Those of the places of pending jobs are tried below.
type Step = Exclude<keyof RateBudgetStore, PlaceStep>;
type PlaceStep = 'lease' | 'hold' | 'giveBack';
type Answer = () => Promise<Response>;

const contact = () => Promise.resolve(Response.json({ id: 'con_1', email: 'ann@example.com' }));
const lost = () =>
  Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
const refused = () =>
  Promise.resolve(Response.json({}, { status: 429, headers: { 'retry-after': '600' } }));

/** What a service must answer, a window apart, for each step to be made. */
const answersFor: Readonly<Record<Step, readonly Answer[]>> = {
  take: [contact],
  release: [contact],
  cancel: [lost],
  close: [refused],
};

const windowMs = 60_000;
const faults: Readonly<Record<string, () => Promise<never>>> = {
  rejects: () => Promise.reject(new Error('gone')),
  throws: () => {
    throw new Error('gone');
  },
};
/** What else can go wrong where a call waits for the answer. */
const faultsOfTake: Readonly<Record<string, () => Promise<unknown>>> = {
  hangs: () => new Promise(() => undefined),
  'answers nothing': () => Promise.resolve(),
  'answers numbers as text': () => Promise.resolve({ waitMs: '0' }),
  'answers no slots': () => Promise.resolve({ slots: [] }),
  'answers too many slots': () => Promise.resolve({ slots: ['one', 'two'] }),
};

let groups = 0;

/** The warnings of a client whose store fails in one step. */
async function warningsOf(step: Step, fault: () => Promise<unknown>): Promise<string[]> {
  const answers = [...answersFor[step]];
  const store = { ...memoryStore().store, [step]: fault };
  const client = new MessagingClient({
    apiKey: 'sk_law',
    baseUrl: 'https://messaging.test',
    retries: 0,
    rateLimit: { store, group: `law 7 ${++groups}` },
    fetch: () => (answers.shift() ?? contact)(),
  });
  const warnings: string[] = [];
  client.on('warning', ({ message }) => warnings.push(message));
  for (let call = 0; call < answersFor[step].length; call++) {
    void client.contacts.get('con_1').safe();
    await vi.advanceTimersByTimeAsync(windowMs + 1_000);
  }
  return warnings;
}

function subject(step: Step, fault: string, run: () => Promise<unknown>): Subject {
  return {
    name: `a store of the rate limit whose ${step}() ${fault}`,
    check: async () => {
      const warnings = await warningsOf(step, run);
      expect(warnings[0]).toMatch(/^The store of the rate limit .+\. .+\.$/);
    },
  };
}

/** A warning has a sentence of what failed, and one of what that means. */
const twoSentences = /^[A-Z].+\. .+\.$/s;

const film = {
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: 'Cats',
  voiceId: 'v',
} as const;

/** The warnings of a media client while some work of it goes on to its end. */
async function mediaWarnings(
  options: MediaOptions,
  work: (media: MediaClient) => Promise<unknown>,
): Promise<{ warnings: string[]; result: unknown }> {
  const fake = createFakeMedia({ clock: createClock({ now: () => Date.now() }) });
  const media = new MediaClient({
    apiKey: fake.apiKey,
    baseUrl: fake.baseUrl,
    fetch: tracked(fake.fetch),
    rateLimit: { group: `law 7 media ${++groups}` },
    ...options,
  });
  const warnings: string[] = [];
  media.on('warning', ({ message }) => warnings.push(message));
  const end = await ended(work(media));
  await vi.advanceTimersByTimeAsync(10_000); // a store that hangs is given up
  if ('error' in end) {
    throw end.error;
  }
  return { warnings, result: end.value };
}

async function filesOf(queue: MediaQueue): Promise<number> {
  let files = 0;
  for await (const { file } of queue) {
    files += file ? 1 : 0;
  }
  return files;
}

const inQueue = (media: MediaClient) =>
  filesOf(media.queue([film, { ...film, prompt: 'Dogs' }], { name: 'films' }));

/** The places of pending jobs: the queue counts by itself, or keeps them longer. */
function placeSubjects(): Subject[] {
  const wrong = {
    'answers nothing': () => Promise.resolve(),
    'answers a number': () => Promise.resolve(2),
  };
  const steps: Readonly<Record<PlaceStep, Readonly<Record<string, () => unknown>>>> = {
    lease: { ...storeFaults, ...wrong },
    hold: storeFaults,
    giveBack: storeFaults,
  };
  return Object.entries(steps).flatMap(([step, all]) =>
    Object.entries(all).map(([fault, run]) => ({
      name: `a store of the rate limit whose ${step}() ${fault}, for a queue`,
      check: async () => {
        const places = {
          lease: (_: string, count: number) =>
            Promise.resolve(Array.from({ length: count }, () => crypto.randomUUID())),
          hold: () => Promise.resolve(),
          giveBack: () => Promise.resolve(),
        };
        const store = { ...memoryStore().store, ...places, [step]: run } as RateBudgetStore; // on purpose
        const rateLimit = { store, group: `law 7 places ${++groups}` };
        const journal = memoryJournal();
        const { warnings, result } = await mediaWarnings({ rateLimit, journal }, inQueue);
        expect(result).toBe(2);
        expect(warnings).toHaveLength(1);
        expect(warnings[0]).toMatch(
          /^The store of the rate limit failed to (lease|hold|give back)/,
        );
        expect(warnings[0]).toMatch(twoSentences);
      },
    })),
  );
}

/** What was paid for, or mailed, goes on without a journal that fails behind it. */
function journalSubjects(): Subject[] {
  // The other verbs stand before the work, which does not go on without them: law 4 has those.
  const works: Readonly<Record<string, (journal: JournalStore) => Promise<unknown>>> = {
    'a queue': async (journal) => mediaWarnings({ journal }, inQueue),
    'a video': async (journal) =>
      mediaWarnings({ journal }, (media) => media.generate.video({ payload: [film] })),
    'a mailing': async (journal) => {
      const warnings: string[] = [];
      const answer = () => Promise.resolve(Response.json({ emails: [{ email: 'em_1' }] }));
      const messaging = messagingOver(answer, { journal });
      messaging.on('warning', ({ message }) => warnings.push(message));
      const message = { from: 'a@example.com', subject: 'Hi', body: 'Hi' };
      const people = ['ann@example.com', 'bea@example.com'];
      return { warnings, end: await ended(messaging.sendEach(people, message, { key: 'news' })) };
    },
  };
  return Object.entries(works).flatMap(([work, run]) =>
    Object.entries(storeFaults).flatMap(([fault, fail]) => ({
      name: `a journal whose put() ${fault}, for ${work}`,
      check: async () => {
        // Back after a while: what failed is written again.
        let fails = 6;
        const healthy = memoryJournal();
        const journal: JournalStore = {
          ...healthy,
          put: (key, value) => (fails-- > 0 ? fail() : healthy.put(key, value)),
        };
        const told = (await run(journal)) as { warnings: string[] };
        await vi.advanceTimersByTimeAsync(120_000);
        expect(told.warnings.length).toBeGreaterThan(0);
        expect(told.warnings.length, 'once an outage').toBeLessThanOrEqual(2);
        expect(told.warnings[0]).toMatch(/^The journal could not be read or written: .+\. .+\.$/);
      },
    })),
  );
}

/** Listeners, loggers and what is behind them, such as OpenTelemetry. */
function listenerSubjects(): Subject[] {
  const contactAnswer = () => Promise.resolve(Response.json({ id: 'con_1', email: 'a@b.c' }));
  const throwing = () => {
    throw new Error('sk_secret in a message');
  };
  const faultsOfListener: Readonly<Record<string, () => never>> = {
    throws: throwing,
    // As an async function does, which is taken for a listener all the same.
    'rejects later': () => Promise.reject(new Error('sk_secret in a message')) as never,
  };
  const events = ['call:start', 'call:end', 'request', 'response', 'warning'] as const;
  const run = async (prepare: (client: MessagingClient) => unknown, options = {}) => {
    const warnings: string[] = [];
    const messaging = messagingOver(contactAnswer, options);
    messaging.on('warning', ({ message }) => warnings.push(message));
    messaging.on('call:end', () => undefined); // without one a call has no beginning either
    await prepare(messaging);
    for (let call = 0; call < 3; call++) {
      const own = { emial: 'x' } as object; // a field that is not known: a warning of its own
      expect(await ended(messaging.contacts.get('con_1'))).toHaveProperty('value');
      await ended(messaging.contacts.update('con_1', own));
    }
    return warnings.filter((message) => /failed/.test(message));
  };
  const expectOnce = (warnings: readonly string[]) => {
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(twoSentences);
    expect(warnings[0]).not.toMatch(/sk_secret/);
  };
  return [
    ...events.flatMap((event) =>
      Object.entries(faultsOfListener).map(([fault, listener]) => ({
        name: `a listener of ${event} that ${fault}`,
        check: async () => expectOnce(await run((client) => client.on(event, listener))),
      })),
    ),
    {
      name: 'a logger that throws',
      check: async () =>
        expectOnce(await run(() => undefined, { logger: { debug: throwing, warn: throwing } })),
    },
    {
      name: 'a tracer of OpenTelemetry that throws',
      check: async () => {
        const tracer = { startSpan: throwing, startActiveSpan: throwing };
        expectOnce(await run((client) => instrument(client, { tracer })));
      },
    },
    {
      name: 'a meter of OpenTelemetry that throws',
      check: async () => {
        const instruments = { record: throwing, add: throwing };
        const meter = { createHistogram: () => instruments, createCounter: () => instruments };
        const warnings = await run((client) => instrument(client, { meter: meter as never }));
        expect(warnings.length).toBeGreaterThan(0);
        expect(warnings.length, 'once for each listener').toBeLessThanOrEqual(3);
      },
    },
  ];
}

/** An inbox that fails behind a wait; a store of nonces that fails behind an inbox. */
function webhookSubjects(): Subject[] {
  const secret = 'a secret of sixteen characters';
  return [
    ...Object.entries({ rejects: storeFaults['rejects'], throws: storeFaults['throws'] }).map(
      ([fault, wait]) => ({
        name: `an inbox whose wait() ${fault}`,
        check: async () => {
          const { warnings } = await mediaWarnings({}, async (media) => {
            const [job] = await media.generate.video({ payload: [film] });
            return job?.waitForFile({ inbox: { wait } as Inbox }); // on purpose
          });
          expect(warnings).toEqual([
            expect.stringMatching(/^The inbox .+\. .+status checks alone\.$/),
          ]);
        },
      }),
    ),
    ...Object.entries(storeFaults).flatMap(([fault, fail]) =>
      (['claim', 'release'] as const).map((verb) => ({
        name: `a store of nonces whose ${verb}() ${fault}`,
        check: async () => {
          const told: unknown[] = [];
          const seen = { ...memorySeen(), [verb]: fail };
          const inbox = createInbox({ secret, seen, onError: (error) => told.push(error) });
          inbox.on(() => {
            throw new Error('not now');
          });
          const body = { success: true, data: { id: 'file_1', file: 'https://cdn.example/1' } };
          const url = await inbox.url('https://shop.example/done');
          const headers = { 'content-type': 'application/json' };
          const request = new Request(url, { method: 'POST', headers, body: JSON.stringify(body) });
          // Signatures are checked in another thread.
          const end = await ended(tracked(() => inbox.fetch(request), 200)(url));
          expect(told.length, 'its end is told').toBeGreaterThan(0);
          // What was not handled is not acknowledged, so that the service sends it again.
          expect((end as { value: Response }).value.status).toBe(500);
        },
      })),
    ),
  ];
}

/** What is told to the process: these have no client. */
async function processWarnings(work: () => Promise<unknown>): Promise<string[]> {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  try {
    await work();
    return warn.mock.calls.map(([message]) => String(message));
  } finally {
    warn.mockRestore();
  }
}

/** A journal on the disk that cannot be made smaller; a scheduler's lock that cannot be taken. */
function nodeSubjects(): Subject[] {
  return [
    {
      name: 'a journal on the disk that cannot be rewritten',
      check: async () => {
        vi.useRealTimers();
        const folder = await mkdtemp(join(tmpdir(), 'postreel-law-'));
        const path = join(folder, 'journal');
        await mkdir(`${path}.tmp`); // where the new one would be written
        const journal = fileJournal(path);
        const told = await processWarnings(async () => {
          await journal.put('a', 'x'.repeat(1_200_000));
          await journal.put('a', 'x'.repeat(2_400_000));
          await journal.put('a', '1');
        });
        expect(await fileJournal(path).get(['a'])).toEqual(new Map([['a', '1']]));
        await rm(folder, { recursive: true });
        expect(told).toEqual([expect.stringMatching(/^The journal .+ could not be .+\. .+\.$/)]);
      },
    },
    {
      name: "a scheduler's lock whose connection breaks",
      check: async () => {
        vi.useFakeTimers();
        let fails = 3;
        const gone = new Error('connect postgres://me:secret@db.test');
        const pool = {
          query: () => (fails-- > 0 ? Promise.reject(gone) : Promise.resolve({ rows: [] })),
          on: () => undefined,
          removeListener: () => undefined,
          release: () => undefined,
        };
        const told = await processWarnings(async () => {
          const connect = () => Promise.resolve(pool);
          const done = withSchedulerLock({ connect }, 'videos', () => Promise.resolve('done'));
          await vi.advanceTimersByTimeAsync(10_000);
          expect(await done).toBe('done');
        });
        expect(told).toEqual([expect.stringMatching(/^The scheduler lock `videos` .+\. .+\.$/)]);
        expect(told[0]).not.toContain('secret');
      },
    },
  ];
}

/** The lock of a process that cannot be asked whether it lives is taken over after a minute. */
function lockSubjects(): Subject[] {
  return [
    {
      name: 'a lock that another container has left',
      check: async () => {
        vi.useRealTimers();
        const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
        const folder = await mkdtemp(join(tmpdir(), 'postreel-law-'));
        const path = join(folder, 'file');
        await mkdir(`${path}.lock`);
        await writeFile(join(`${path}.lock`, 'container-17-1-claim'), '');
        vi.useFakeTimers({ toFake: ['performance'] });
        const waiting = withLock(path, () => Promise.resolve());
        await new Promise((resolve) => setTimeout(resolve, 50));
        expect(warn).not.toHaveBeenCalled();
        vi.advanceTimersByTime(61_000);
        await waiting;
        vi.useRealTimers();
        const told = warn.mock.calls.map(([message]) => String(message));
        warn.mockRestore();
        await rm(folder, { recursive: true });
        expect(told).toEqual([expect.stringMatching(/^A lock on .+ is taken over: .+\.$/)]);
      },
    },
  ];
}

/** Checks of answers that cannot be made. */
function validatorSubjects(): Subject[] {
  return [
    {
      name: 'checks of answers that cannot be loaded',
      check: async () => {
        const warnings: string[] = [];
        const events = new Events<ClientEvents>(undefined);
        events.on('warning', ({ message }: { message: string }) => void warnings.push(message));
        events.on('mismatch', () => undefined);
        const validator = new Validator({
          events,
          settings: { validation: { requests: 'off', responses: 'event' } },
          loadSchemas: () => Promise.reject(new Error('the chunk is gone')),
        } as unknown as TransportParts); // all that it reads
        const call = {
          route: route('GET /one'),
          path: '/one',
          input: {},
          state: {},
          deadlineAt: Number.POSITIVE_INFINITY,
        } as unknown as CallContext; // as above
        await validator.checkAnswer(call, {});
        await validator.checkAnswer(call, {});
        expect(warnings).toEqual([expect.stringMatching(twoSentences)]);
      },
    },
  ];
}

it('no fallback in silence: what fails and is gone on without is a warning', async () => {
  const steps = Object.keys(answersFor) as Step[]; // as: the keys of the table
  const subjects = [
    ...steps.flatMap((step) =>
      Object.entries(faults).map(([fault, run]) => subject(step, fault, run)),
    ),
    ...Object.entries(faultsOfTake).map(([fault, run]) => subject('take', fault, run)),
  ];
  await holdLaw('law 7, stores of the rate limit', subjects);
});

it('no fallback in silence: queues, journals, listeners, webhooks and checks', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  await holdLaw('law 7, queues, journals, listeners, webhooks and checks', [
    ...placeSubjects(),
    ...journalSubjects(),
    ...listenerSubjects(),
    ...webhookSubjects(),
    ...validatorSubjects(),
    ...nodeSubjects(),
    ...lockSubjects(),
  ]);
});
