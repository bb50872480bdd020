import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPostreelError, memoryJournal } from 'postreel';
import { attachment, saveTo } from 'postreel/node';
import { instrument, type InstrumentOptions } from 'postreel/otel';
import { pgBossSource } from 'postreel/pg-boss';
import { postgresJournal, withSchedulerLock } from 'postreel/postgres';
import { redisJournal, redisRateBudget } from 'postreel/redis';
import {
  createClock,
  createFakeMedia,
  createFakeMessaging,
  messagingBehaviors,
  startFakeServer,
  testJournal,
  type ClockOptions,
  type FakeMediaOptions,
  type FakeMessagingOptions,
  type FakeServerOptions,
  type JobSettings,
  type RateLimitOptions,
  type SeedPlan,
  type TestJournalOptions,
} from 'postreel/testing';
import { createTracker, type TrackerOptions } from 'postreel/tracker';
import { autoPage, type AutoPageOptions } from 'postreel/tracker/extras';
import { createNativeTracker, type NativeTrackerOptions } from 'postreel/tracker/native';
import { createTrackProxy, type TrackProxyOptions } from 'postreel/tracker/proxy';
import {
  createInbox,
  memorySeen,
  signWebhookUrl,
  verifyWebhook,
  type ExpiryOptions,
  type InboxOptions,
  type SignOptions,
  type VerifyOptions,
} from 'postreel/webhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TransferOptions } from '../../src/media/download/transfer-options.js';
import type { BullmqOptions } from '../../src/bullmq/source.js';
import type { AttachmentFields } from '../../src/node/files.js';
import type { PgBossOptions } from '../../src/pg-boss/source.js';
import type { PostgresJournalOptions } from '../../src/postgres/journal.js';
import type { LockOptions } from '../../src/postgres/scheduler-lock.js';
import type { RedisJournalOptions } from '../../src/redis/journal.js';
import type { RedisBudgetOptions } from '../../src/redis/rate-budget.js';
import publicNames from '../package/public-names.json' with { type: 'json' };
import { answering, mediaOver } from '../support/clients.js';
import { fakePage } from '../support/tracker/page.js';
import type { Fault } from '../../src/testing/core/faults.js';
import { holdLaw, type Subject } from './exceptions.js';
import { fails, subjectsOf, type Door, type Samples } from './option-subjects.js';

const door = <Options extends object>(one: Door<Options>) => subjectsOf(one);
/** These throw errors of JavaScript, in words of their own: they depend on nothing. */
const isReadable = (failure: unknown) =>
  isPostreelError(failure) ||
  (failure instanceof TypeError && /`\S+` (must|cannot) /.test(failure.message));

/** The same of a tracker, which saves the bytes of a quotation mark. */
const isPlain = (failure: unknown) =>
  failure instanceof TypeError &&
  /^\w+ (must be|must start|is missing|is in|needs|cannot be read|is for)/.test(failure.message);

const secret = 'a secret of at least 16 characters';
const signal = new AbortController().signal;
const seen = () => memorySeen();
const callback = (url: string) => ({ url, body: { success: false, data: { id: 'file_1' } } });
const client = { eval: () => Promise.resolve(null), evalsha: () => Promise.resolve(null) };
const pool = {
  query: () => Promise.resolve({ rows: [{ locked: true, pid: 1 }] }),
  on: () => undefined,
  removeListener: () => undefined,
  release: () => undefined,
};
const boss = {
  fetch: () => Promise.resolve([]),
  complete: () => Promise.resolve(),
  fail: () => Promise.resolve(),
  createQueue: () => Promise.resolve(),
  send: () => Promise.resolve(),
};

const webhooks = (): Subject[] => [
  ...door<InboxOptions>({
    name: 'createInbox()',
    needs: { secret },
    samples: { secret, confirm: false, status: fails, seen: seen(), onError: fails },
    open: (options) => createInbox(options),
  }),
  ...door<SignOptions>({
    name: 'signWebhookUrl()',
    needs: { secret },
    samples: { secret, expiresIn: 1 },
    open: (options) => signWebhookUrl('https://shop.example/done', options),
  }),
  ...door<VerifyOptions>({
    name: 'verifyWebhook()',
    needs: { secret },
    samples: { secret, seen: seen(), now: 1 },
    open: async (options) =>
      verifyWebhook(callback(await createInbox({ secret }).url('https://shop.example/')), options),
  }),
  ...door<{ max?: number }>({
    name: 'memorySeen()',
    samples: { max: 1 },
    open: (options) => memorySeen(options),
  }),
  ...door<ExpiryOptions>({
    name: 'inbox.url()',
    samples: { expiresIn: 1 },
    open: (options) => createInbox({ secret }).url('https://shop.example/', options),
  }),
  ...door<{ signal?: AbortSignal }>({
    name: 'inbox.wait()',
    samples: { signal },
    open: async (options) => {
      const inbox = createInbox({ secret });
      await inbox.fetch(await callbackRequest(await inbox.url('https://shop.example/')));
      await inbox.wait('file_1', options);
    },
  }),
];

const callbackRequest = (url: string) => {
  const body = JSON.stringify({ success: false, data: { id: 'file_1' } });
  return Promise.resolve(new Request(url, { method: 'POST', body }));
};

const stores = (): Subject[] => [
  ...door<RedisBudgetOptions>({
    name: 'redisRateBudget()',
    samples: { prefix: 'p' },
    open: (options) => redisRateBudget(client, options),
  }),
  ...door<RedisJournalOptions>({
    name: 'redisJournal()',
    samples: { prefix: 'p' },
    open: (options) => redisJournal(client, options),
  }),
  ...door<PostgresJournalOptions>({
    name: 'postgresJournal()',
    samples: { name: 'n' },
    open: (options) => postgresJournal(pool, options),
  }),
  ...door<LockOptions>({
    name: 'withSchedulerLock()',
    samples: { signal },
    open: (options) =>
      withSchedulerLock(
        { connect: () => Promise.resolve(pool) },
        'n',
        () => Promise.resolve(),
        options,
      ),
  }),
  ...door<PgBossOptions>({
    name: 'pgBossSource()',
    samples: { unknown: 'q', jobOf: fails, schema: 'pgboss' },
    open: (options) => pgBossSource(boss, 'q', options),
  }),
  ...door<BullmqOptions>({
    name: 'bullmqSource()',
    needs: { connection: {} },
    samples: { connection: {}, prefix: 'p', unknown: 'q', jobOf: fails, lockMs: 1 },
    open: async (options) => {
      const { bullmqSource } = await import('postreel/bullmq');
      return bullmqSource('q', options);
    },
  }),
  ...door<InstrumentOptions>({
    name: 'instrument()',
    samples: { tracer: {}, meter: {} },
    open: async (options) => (await instrument(mediaOver(noFetch), options))(),
  }),
];

const noFetch = () => Promise.reject(new Error('no network'));
const bytes = () => new Response('bytes', { headers: { 'content-type': 'video/mp4' } });
const finished = { status: 'success', fileId: 'file_1', download: 'https://cdn.test/f.mp4' };
const { fetch: answers } = answering(() => finished);
const media = mediaOver(async (input, init) =>
  new Request(input, init).url.startsWith('https://cdn.test') ? bytes() : answers(input, init),
);
const folder = mkdtempSync(join(tmpdir(), 'postreel-law-'));
const transfer: Samples<TransferOptions> = { signal, onProgress: fails, timeout: 1, retries: 1 };

const files = (): Subject[] => [
  ...door<AttachmentFields>({
    name: 'attachment()',
    samples: { filename: 'f', contentType: 't' },
    open: (options) => attachment(join(folder, 'a.txt'), options),
  }),
  ...door<TransferOptions>({
    name: 'saveTo()',
    samples: transfer,
    open: async (options) =>
      saveTo(await media.waitForFile('file_1'), join(folder, 'f.mp4'), options),
  }),
  ...door<TransferOptions>({
    name: 'saveTo() of a queue',
    samples: transfer,
    open: (options) => saveTo(join(folder, '{fileId}.mp4'), options), // before a job is paid for
  }),
];

const address = { publicKey: 'pk_test', baseUrl: 'https://service.test' };
const pageOptions = {
  ...address,
  proxy: false,
  namespace: 'n',
  email: 'ann@example.com',
  delivery: 'no-loss',
  retryAmbiguous: false,
  maxQueue: 1,
  maxBytes: 1,
  maxAge: 1,
  consent: 'granted',
  limit: { perSecond: 1, burst: 1 },
  beforeSend: fails,
  fetch: noFetch,
};
const storage = {
  keys: () => [],
  get: () => null,
  set: () => undefined,
  remove: () => undefined,
};

const tracking = (): Subject[] => [
  ...door<TrackerOptions>({
    name: 'createTracker()',
    isOwn: isPlain,
    nullIsAbsent: true,
    needs: { baseUrl: address.baseUrl, publicKey: 'pk_test' },
    samples: { ...pageOptions, storage: 'memory', honorGpc: true },
    // The origin of the page, no name, no contact.
    means: { baseUrl: ["''"], namespace: ["''"], email: ["''"] },
    open: (options) => tracked(() => createTracker(options)),
  }),
  ...door<NativeTrackerOptions>({
    name: 'createNativeTracker()',
    isOwn: isPlain,
    nullIsAbsent: true,
    needs: { baseUrl: address.baseUrl, publicKey: 'pk_test', storage: 'memory' },
    samples: { ...pageOptions, storage, onExit: fails, hasNetwork: fails },
    means: { namespace: ["''"], email: ["''"] }, // no name, no contact
    open: (options) => tracked(() => createNativeTracker(options)),
  }),
  ...door<{ perSecond?: number; burst?: number }>({
    name: 'limit',
    isOwn: isPlain,
    nullIsAbsent: true,
    samples: { perSecond: 1, burst: 1 },
    open: (limit) =>
      tracked(() => createTracker({ ...address, limit: limit as { perSecond: 1; burst: 1 } })),
  }),
  ...door<{ timeout?: number }>({
    name: 'tracker.flush()',
    isOwn: isPlain,
    nullIsAbsent: true,
    samples: { timeout: 1 },
    open: (options) =>
      tracked(
        () => createTracker(address),
        async (tracker) => {
          const flushed = tracker.flush(options);
          flushed.catch(() => undefined); // it is heard below
          await vi.advanceTimersByTimeAsync(6000);
          await flushed;
        },
      ),
  }),
  ...door<{ email?: string }>({
    name: 'tracker.track()',
    isOwn: isPlain,
    nullIsAbsent: true,
    samples: { email: 'ann@example.com' },
    means: { email: ["''"] }, // the contact of the tracker
    open: (options) =>
      tracked(
        () => createTracker(address),
        (tracker) => void tracker.track('y', {}, options),
      ),
  }),
  ...door<AutoPageOptions>({
    name: 'autoPage()',
    isOwn: isPlain,
    nullIsAbsent: true,
    samples: { event: 'e' },
    means: { event: ["''"] }, // the usual name
    open: (options) =>
      tracked(
        () => createTracker(address),
        (tracker) => autoPage(tracker, options)(),
      ),
  }),
  ...door<TrackProxyOptions>({
    name: 'createTrackProxy()',
    isOwn: isPlain,
    nullIsAbsent: true,
    needs: { apiKey: 'sk_test', baseUrl: address.baseUrl },
    samples: {
      apiKey: 'sk_test',
      baseUrl: address.baseUrl,
      authorize: fails,
      callerOf: fails,
      perCaller: 1,
      perMinute: 1,
      origins: [],
      timeout: 1,
      fetch: noFetch,
    },
    open: (options) =>
      createTrackProxy(options)(
        new Request('https://app.test/v1/track', {
          method: 'GET',
          headers: { 'Content-Type': 'application/json' },
        }),
      ),
  }),
];

type AnyTracker = ReturnType<typeof createTracker>;

/** A page with a tracker that has an event. */
async function tracked(
  create: () => AnyTracker,
  use: (tracker: AnyTracker) => unknown = () => undefined,
): Promise<void> {
  const tracker = create();
  tracker.track('x', { plan: 'pro' });
  await use(tracker);
  tracker.dispose();
}

const first = (table: Readonly<Record<string, { readonly values: readonly unknown[] }>>) =>
  Object.fromEntries(Object.entries(table).map(([name, { values }]) => [name, values[0]]));

const world = first(messagingBehaviors) as Samples<typeof messagingBehaviors>;

const limits: Samples<RateLimitOptions> = {
  limit: 1,
  windowMs: 1,
  algorithm: 'fixed',
  headers: 'none',
  clockAheadMs: 0,
};
const jobSettings: Samples<JobSettings> = {
  statusField: 'status',
  done: 'd',
  failed: 'f',
  progress: 'none',
  perSecond: 1,
  keepMs: 1,
};

const testing = (): Subject[] => [
  ...door<ClockOptions>({
    name: 'createClock()',
    samples: { start: 0, mode: 'real', speed: 1, now: () => 0 },
    open: (options) => createClock(options).date(),
  }),
  ...door<FakeMessagingOptions>({
    name: 'createFakeMessaging()',
    isOwn: isReadable,
    samples: {
      ...world,
      baseUrl: 'https://f.test',
      clock: {},
      rateLimit: {},
      behavior: {},
      jobs: {},
      disableSignups: true,
      maxAttachmentBytes: 1,
      webhookFetch: noFetch,
    },
    open: (options) => createFakeMessaging(options).project,
  }),
  ...door<Partial<JobSettings>>({
    name: 'jobs',
    samples: jobSettings,
    open: (jobs) => createFakeMessaging({ jobs }).project,
  }),
  ...door<Partial<RateLimitOptions>>({
    name: 'rateLimit of a fake',
    samples: limits,
    open: (rateLimit) => createFakeMessaging({ rateLimit }).project,
  }),
  ...door<Partial<typeof world>>({
    name: 'behavior',
    samples: world,
    isOwn: isReadable,
    open: (behavior) => createFakeMessaging({ behavior: behavior as object }).project,
  }),
  ...door<Fault>({
    name: 'fake.fail()',
    samples: {
      status: 500,
      body: '',
      headers: {},
      retryAfter: 1,
      drop: true,
      loseAnswer: true,
      hang: true,
      slow: 1,
      truncate: true,
      stall: true,
      malformed: true,
      html: true,
      times: 1,
      after: 1,
      probability: 1,
    },
    // Any body is one, and `''` is a header without a value.
    means: { body: ['null', 'NaN', "''"], retryAfter: ["''"] },
    open: (fault) => createFakeMessaging().fail('*', fault),
  }),
  ...door<SeedPlan>({
    name: 'fake.seed()',
    samples: {
      contacts: 1,
      templates: 1,
      campaigns: 1,
      segments: 1,
      workflows: 1,
      events: 1,
      emails: 1,
    },
    open: (plan) => createFakeMessaging().seed(plan),
  }),
  ...door<FakeMediaOptions>({
    name: 'createFakeMedia()',
    isOwn: isReadable,
    samples: {
      behavior: {},
      baseUrl: 'https://f.test',
      cdnUrl: 'https://c.test',
      apiKey: 'k',
      clock: {},
      rateLimit: {},
      statusCounts: true,
      pendingLimit: 1,
      durations: fails,
      queueTime: '1s',
      fileBytes: 1,
      ranges: true,
      callback: noFetch,
      brandKits: [],
      paidPlan: true,
      maxExportMinutes: 1,
      errorShape: 'message',
      envelopes: 'never',
      statusField: 'status',
      progress: 'none',
      keepFor: 1,
      random: () => 0,
    },
    open: (options) => createFakeMedia(options).apiKey,
  }),
  ...door<FakeServerOptions>({
    name: 'startFakeServer()',
    samples: {
      port: 0,
      host: '127.0.0.1',
      messaging: {},
      media: {},
      page: fails,
      onEnd: fails,
      onAnswer: fails,
    },
    open: async (options) => (await startFakeServer(options)).close(),
  }),
  ...door<TestJournalOptions>({
    name: 'testJournal()',
    samples: { seed: 1, runs: 1 },
    open: (options) => {
      const journal = memoryJournal();
      return testJournal(() => journal, options);
    },
  }),
];

/** The values of every entry point that have no options, or whose options stand elsewhere. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  'test/laws/options.test.ts': ['postreel', 'postreel/messaging', 'postreel/media'],
  'no options': [
    'postreel/schemas',
    'WebhookVerificationError',
    'csvFile',
    'dnsRecords',
    'dnsTable',
    'dnsZone',
    'fileJournal',
    'fileRateBudgetStore',
    'fileWorkflowState',
    'imageFile',
    'mediaBehaviors',
    'messagingBehaviors',
    'transient',
    'TrackerProvider',
    'createTrackerHooks',
    'useTrackOnMount',
    'useTracker',
    'chain',
    'debug',
    'once',
    'sample',
    'stamp',
    'migratePostgres',
    'postgresMigration',
    'postgresRateBudget',
  ],
};

let page: ReturnType<typeof fakePage>;

beforeAll(() => {
  writeFileSync(join(folder, 'a.txt'), 'a');
  const real = process.getBuiltinModule.bind(process);
  vi.spyOn(process, 'getBuiltinModule').mockImplementation((name: string) =>
    name === 'node:http' ? { createServer: () => new Socket() } : real(name),
  );
  vi.doMock('bullmq', () => ({ Queue: Engine, Worker: Engine }));
});

afterAll(() => {
  vi.doUnmock('bullmq');
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** What BullMQ would connect with. */
class Engine {
  on = () => undefined;
  startStalledCheckTimer = () => Promise.resolve();
}

/** What the fake server would listen with. */
class Socket {
  once = () => this;
  listen = (_port: number, _host: string, listening: () => void) => listening();
  address = () => ({ port: 1 });
  closeAllConnections = () => undefined;
  close = (closed: () => void) => closed();
}

describe('law 1', () => {
  it('knows every function of every entry point', () => {
    const subjects = [webhooks, stores, files, tracking, testing].flatMap((list) => list());
    const known = new Set([
      ...subjects.map(({ name }) => /^\w+/.exec(name)?.[0]),
      ...Object.values(elsewhere).flat(),
    ]);
    const missing = Object.entries(publicNames)
      .filter(([entryPoint]) => !known.has(entryPoint))
      .flatMap(([entryPoint, { values }]) => values.map((name) => ({ entryPoint, name })))
      .filter(({ name }) => !known.has(name));
    expect(missing).toEqual([]);
  });

  it.each<[string, () => Subject[]]>([
    ['webhooks', webhooks],
    ['stores, engines and spans', stores],
    ['files', files],
    ['fakes', testing],
  ])('left out is left out: %s', async (name, subjects) => {
    await holdLaw(`law 1, left out is left out: ${name}`, subjects());
  });

  it("a fake server's clock that is undefined is the one that follows the wall", async () => {
    vi.useFakeTimers();
    const messaging = { clock: undefined } as object; // of JavaScript
    const server = await startFakeServer({ messaging });
    const { clock } = server.messaging.world;
    const before = clock.now();
    vi.advanceTimersByTime(1_000);
    expect(clock.now() - before).toBe(1_000);
    await server.close();
    vi.useRealTimers();
  });

  it('left out is left out: tracker', async () => {
    page = fakePage();
    vi.stubGlobal('location', { href: 'https://shop.test/', search: '' });
    vi.stubGlobal('history', { pushState: fails, replaceState: fails });
    try {
      await holdLaw('law 1, left out is left out: tracker', tracking());
    } finally {
      await page.close();
    }
  });
});
