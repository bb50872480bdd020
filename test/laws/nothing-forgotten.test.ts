import {
  MediaClient,
  MediaPool,
  memoryJournal,
  MessagingClient,
  PartialError,
  type JournalStore,
  type MessagingOptions,
  type PartialReport,
  type RateBudgetStore,
  type Report,
} from 'postreel';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { routes as mediaRoutes } from '../../src/media/routes.js';
import { routes as messagingRoutes } from '../../src/messaging/routes.js';
import { breaking, never, storeFaults } from '../support/laws/broken.js';
import { ended, reasons } from '../support/laws/settled.js';
import { manyService, type Fate } from '../support/messaging/many-service.js';
import { memoryStore } from '../support/transport/memory-store.js';
import { holdLaw, type Subject } from './exceptions.js';

// What is loaded with a first call must be there: files are not read on a fake clock.
beforeAll(async () => {
  for (const { rows, run } of manyCalls) {
    await run(clientOf(manyService()), rows.slice(0, 1) as never, {});
  }
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

type Service = ReturnType<typeof manyService>;

interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly from?: number | undefined;
  readonly timeout?: number | undefined;
  readonly retries?: number | undefined;
}

/** A call that changes many rows, each of which the service can name. */
interface ManyCall {
  readonly name: string;
  readonly rows: readonly unknown[];
  readonly keyOf: (row: unknown) => string;
  /** What is no row; each is refused by itself. */
  readonly bad: readonly unknown[];
  readonly run: (
    messaging: MessagingClient,
    rows: never,
    options: RunOptions,
  ) => Promise<Report<unknown>>;
}

const ids = Array.from({ length: 2_500 }, (_, at) => `con_${at}`);
const emails = Array.from({ length: 35 }, (_, at) => `p${at}@example.com`);
const textOf = (row: unknown) => row as string; // of these lists
// Three of them fill a file of an import.
const note = 'x'.repeat(1_500_000);
const message = { from: 'shop@example.com', subject: 'News', body: '<p>Hi</p>' };
const noIds = [null, undefined, '', NaN, {}];

const manyCalls: readonly ManyCall[] = [
  ...(['deleteAll', 'subscribeAll', 'unsubscribeAll'] as const).map((method) => ({
    name: `messaging.contacts.${method}`,
    rows: ids,
    keyOf: textOf,
    bad: noIds,
    run: (messaging: MessagingClient, rows: never, options: RunOptions) =>
      messaging.contacts[method](rows, options),
  })),
  {
    name: 'messaging.contacts.importAll',
    rows: emails.slice(0, 8).map((email) => ({ email, note })),
    keyOf: (row) => (row as { email: string }).email,
    bad: [null, undefined, {}, { email: '' }, { email: 'a@b.c', born: new Date(NaN) }],
    run: (messaging, rows, options) => messaging.contacts.importAll(rows, options),
  },
  {
    name: 'messaging.sendEach',
    rows: emails,
    keyOf: textOf,
    bad: [...noIds, 7, { email: null }, { email: 'a@b.c', data: { at: new Date(NaN) } }],
    run: (messaging, rows, options) => messaging.sendEach(rows, message, options),
  },
];

let groups = 0;

function clientOf(service: Service, options: MessagingOptions = {}) {
  return new MessagingClient({
    apiKey: 'sk_law',
    baseUrl: 'https://messaging.test',
    rateLimit: false,
    retries: 0,
    fetch: service.fetch,
    ...options,
  });
}

/** How a call ended, and what it says of its rows. */
interface Told {
  readonly report: PartialReport<unknown>;
  readonly early?: PartialError | undefined;
}

async function told(call: Promise<Report<unknown>>, count: number): Promise<Told> {
  const end = await ended(call);
  if ('value' in end) {
    return { report: { ...end.value, notReached: 0, resumeFrom: count } };
  }
  const { error } = end;
  if (!(error instanceof PartialError)) {
    throw new Error(`it ended with a bare ${String(error)}`);
  }
  return { report: error.result, early: error };
}

/** What is told of the rows is all of them, and what the service has seen. */
function expectTrue(
  { report }: Told,
  rows: readonly unknown[],
  { keyOf, acted }: { keyOf: (row: unknown) => string; acted: readonly string[] },
): void {
  const { done, failed, unknown, notReached, resumeFrom } = report;
  const listed = [...failed, ...unknown];
  const places = new Set(listed.map(({ index }) => index));
  expect(places.size, 'each row once').toBe(listed.length);
  expect(
    listed.every(({ row, index }) => Object.is(row, rows[index]) && index < resumeFrom),
    'rows are where they say',
  ).toBe(true);
  expect(done + listed.length, 'all that was reached').toBe(resumeFrom);
  expect(notReached ?? rows.length - resumeFrom, 'the rest').toBe(rows.length - resumeFrom);
  const times = (row: unknown) => acted.filter((key) => key === keyOf(row)).length;
  const isSeen = new Set(acted);
  const surely = rows.filter((_, index) => index < resumeFrom && !places.has(index));
  expect(
    surely.filter((row) => !isSeen.has(keyOf(row))),
    'done, but not seen',
  ).toEqual([]);
  const not = [...failed.map(({ row }) => row), ...rows.slice(resumeFrom)];
  expect(
    not.filter((row) => isSeen.has(keyOf(row))),
    'seen, but not done',
  ).toEqual([]);
  expect(acted.length, 'nothing twice').toBe(new Set(acted).size);
  expect(unknown.filter(({ row }) => times(row) > 1)).toEqual([]);
}

/** Runs a call that meets a fault, and goes on where it says: each row is done once, but the unknown. */
async function checkCall(
  call: ManyCall,
  {
    fate,
    source = (rows) => rows,
    client = {},
    options = {},
    rows = call.rows,
  }: {
    fate?: Fate;
    source?: (rows: readonly unknown[]) => unknown;
    client?: MessagingOptions;
    options?: RunOptions;
    rows?: readonly unknown[];
  },
): Promise<Told> {
  const service = manyService(fate);
  const keyOf = (row: unknown) => (call.bad.includes(row) ? 'none' : call.keyOf(row));
  const run = call.run(clientOf(service, client), source(rows) as never, options);
  const first = await told(run, rows.length);
  expectTrue(first, rows, { keyOf, acted: service.acted });
  const { resumeFrom, unknown } = first.report;
  const rest = manyService();
  const again = call.run(clientOf(rest), rows as never, { from: resumeFrom });
  const { report } = await told(again, rows.length);
  const acted = [...service.acted, ...rest.acted];
  const isOpen = new Set([...unknown, ...first.report.failed].map(({ row }) => row));
  const wanted = rows.filter((row) => !isOpen.has(row) && !call.bad.includes(row));
  expect(new Set(acted).size, 'nothing twice').toBe(acted.length);
  expect(
    wanted.filter((row) => !acted.includes(keyOf(row))),
    'never done',
  ).toEqual([]);
  expect(report.unknown).toEqual([]);
  return first;
}

/** A source that ends in the middle: it throws, or is silent from there on. */
function endingAt(at: number, end: () => Promise<never>) {
  return (rows: readonly unknown[]) => ({
    async *[Symbol.asyncIterator]() {
      yield* rows.slice(0, at);
      await end();
    },
  });
}

function subjectsOf(call: ManyCall): Subject[] {
  const half = Math.floor(call.rows.length / 2);
  const subjects: Subject[] = [];
  const add = (fault: string, check: () => Promise<unknown>) =>
    void subjects.push({ name: `${call.name}: ${fault}`, check });

  for (const [place, bad] of call.bad.entries()) {
    add(`bad row ${place}`, async () => {
      const rows = call.rows.toSpliced(half, 0, bad);
      const { report, early } = await checkCall(call, { rows });
      expect(early).toBeUndefined();
      expect(report.failed.map(({ index }) => index)).toEqual([half]);
    });
  }
  for (const reason of [new Error('broken'), 'broken', undefined, null]) {
    const kinds = {
      list: (rows: readonly unknown[]) => {
        const list = [...rows];
        list[Symbol.iterator] = function* () {
          yield* rows.slice(0, half);
          // eslint-disable-next-line @typescript-eslint/only-throw-error -- whatever is thrown
          throw reason;
        };
        return list;
      },
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever is thrown
      stream: endingAt(half, () => Promise.reject(reason)),
    };
    for (const [kind, source] of Object.entries(kinds)) {
      add(`a ${kind} that throws ${String(reason)}`, async () => {
        const { early, report } = await checkCall(call, { source });
        expect(early).toBeDefined();
        expect(early?.cause).toBe(reason);
        expect(report.notReached).toBe(
          kind === 'list' ? call.rows.length - report.resumeFrom : undefined,
        );
      });
    }
  }
  for (const [name, abort] of reasons) {
    const moments: Record<
      string,
      (controller: AbortController) => Parameters<typeof checkCall>[1]
    > = {
      'before it': (controller) => (abort(controller), {}),
      'before the service has a request': (controller) => ({
        fate: ({ count, act }) => (count === 1 ? (abort(controller), never()) : act()),
      }),
      'after the service has it': (controller) => ({
        fate: ({ count, act }) => {
          const answer = act();
          return count === 1 ? (abort(controller), never()) : answer;
        },
      }),
      'while the source is silent': (controller) => ({
        source: endingAt(half, () => {
          setTimeout(() => abort(controller), 60_000);
          return never();
        }),
      }),
    };
    for (const [moment, faultOf] of Object.entries(moments)) {
      add(`an abort with ${name} ${moment}`, async () => {
        const controller = new AbortController();
        const fault = faultOf(controller);
        const { early } = await checkCall(call, {
          ...fault,
          options: { signal: controller.signal },
        });
        expect(early).toBeDefined();
        expect(early?.cause).toBe(controller.signal.reason);
      });
    }
  }
  add('a request that takes too long', async () => {
    const fate: Fate = ({ count, act }) => {
      const answer = act();
      return count === 1 ? never() : answer;
    };
    const { report } = await checkCall(call, { fate, options: { timeout: 1_000 } });
    expect(report.unknown.length).toBeGreaterThan(0);
  });
  add('a key that is refused on the way', async () => {
    const refusal = () => Response.json({ error: 'no' }, { status: 401 });
    const { early } = await checkCall(call, {
      fate: ({ count, act }) => (count > 0 ? refusal() : act()),
    });
    expect(early?.cause).toMatchObject({ status: 401 });
  });
  for (const step of ['take', 'release'] as const) {
    for (const [fault, run] of Object.entries(storeFaults)) {
      add(`a store of the rate limit whose ${step}() ${fault}`, async () => {
        const store: RateBudgetStore = { ...memoryStore().store, [step]: run };
        const rateLimit = { store, group: `law 4 ${++groups}` };
        const { early, report } = await checkCall(call, { client: { rateLimit } });
        expect(early).toBeUndefined();
        expect(report.done).toBe(call.rows.length);
      });
    }
  }
  return subjects;
}

/** `sendEach()` with a journal that breaks in the middle: a run after it sends to the rest. */
function journalSubjects(): Subject[] {
  const verbs = ['putIfAbsent', 'put', 'get', 'now', 'flush'] as const;
  return verbs.flatMap((verb) =>
    Object.entries(storeFaults).map(([fault, fail]) => ({
      name: `messaging.sendEach: a journal whose ${verb}() ${fault}`,
      check: async () => {
        const memory = memoryJournal();
        const broken = breaking(memory, verb, fail, verb === 'flush' || verb === 'get' ? 0 : 12);
        const service = manyService();
        const run = (journal: JournalStore, from = 0) =>
          clientOf(service, { journal }).sendEach(emails, message, { key: 'news', from });
        const first = await told(run(broken), emails.length);
        expectTrue(first, emails, { keyOf: textOf, acted: service.acted });
        expect(first.early?.cause).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
        const second = await told(run(memory), emails.length);
        expect(second.early).toBeUndefined();
        expect(new Set(service.acted).size, 'nobody is mailed twice').toBe(service.acted.length);
        const open = second.report.unknown.map(({ row }) => row);
        expect(second.report.failed).toEqual([]);
        expect(
          emails.filter((email) => !service.acted.includes(email) && !open.includes(email)),
        ).toEqual([]);
      },
    })),
  );
}

/** A call that only reads, and yields what it has read. */
interface ManyRead {
  readonly name: string;
  readonly rows: readonly string[];
  /** How many rows one request is for. */
  readonly perRequest: number;
  /** How many rows are under way at once. */
  readonly atOnce: number;
  readonly run: (
    messaging: MessagingClient,
    rows: never,
    options: RunOptions,
  ) => AsyncIterable<unknown>;
}

const manyReads: readonly ManyRead[] = [
  {
    name: 'messaging.verifyAll',
    rows: emails,
    perRequest: 1,
    atOnce: 20,
    run: (messaging, rows, options) => messaging.verifyAll(rows, options),
  },
  {
    name: 'messaging.contacts.lookupAll',
    rows: ids.slice(0, 1_250).map((id) => `${id}@example.com`),
    perRequest: 500,
    atOnce: 500,
    run: (messaging, rows, options) => messaging.contacts.lookupAll(rows, options),
  },
];

function readSubjectsOf({ name, rows, perRequest, atOnce, run }: ManyRead): Subject[] {
  const half = Math.floor(rows.length / 2);
  const subjects: Subject[] = [];
  const add = (fault: string, check: () => Promise<unknown>) =>
    void subjects.push({ name: `${name}: ${fault}`, check });

  /** What was yielded before the end, and the end. */
  const read = async (source: unknown, service: Service, options: RunOptions = {}) => {
    const yielded: unknown[] = [];
    const drain = async () => {
      for await (const result of run(clientOf(service), source as never, options)) {
        yielded.push(result);
      }
    };
    const end = await ended(drain());
    const good = yielded.filter((result) => (result as { error?: unknown }).error === undefined);
    const seen = good.flatMap((result) => {
      const text = JSON.stringify(result);
      return rows.filter((row) => text.includes(`"${row}"`));
    });
    expect(seen, 'in order').toEqual(rows.filter((row) => seen.includes(row)));
    return { end, seen, yielded };
  };

  for (const reason of [new Error('broken'), 'broken', undefined, null]) {
    add(`a source that throws ${String(reason)}`, async () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever is thrown
      const source = endingAt(half, () => Promise.reject(reason))(rows);
      const { end, seen } = await read(source, manyService());
      expect(end).toHaveProperty('error');
      expect((end as { error: unknown }).error).toBe(reason);
      expect(seen).toEqual(rows.slice(0, half));
    });
  }
  for (const [reason, abort] of reasons) {
    for (const moment of ['before it', 'in a request', 'while the source is silent']) {
      add(`an abort with ${reason} ${moment}`, async () => {
        const controller = new AbortController();
        const silent = endingAt(half, () => {
          setTimeout(() => abort(controller), 60_000);
          return never();
        });
        if (moment === 'before it') {
          abort(controller);
        }
        const service = manyService(({ count, act }) =>
          moment === 'in a request' && count === 1 ? (abort(controller), never()) : act(),
        );
        const source = moment === 'while the source is silent' ? silent(rows) : rows;
        const { end, seen } = await read(source, service, { signal: controller.signal });
        expect(end).toHaveProperty('error');
        expect((end as { error: unknown }).error).toBe(controller.signal.reason);
        // What is under way when it comes is given up.
        const least =
          Math.floor((moment === 'while the source is silent' ? half : 0) / atOnce) * atOnce;
        expect(seen).toEqual(rows.slice(0, seen.length));
        expect(seen.length).toBeGreaterThanOrEqual(least);
      });
    }
  }
  add('a request that takes too long', async () => {
    const service = manyService(({ count, act }) => (count === 1 ? never() : act()));
    const { end, yielded } = await read(rows, service, { timeout: 1_000 });
    // One address is a result with an error; a lookup ends the rest, after what was found.
    expect('value' in end ? yielded.length : yielded.length * perRequest).toBe(
      'value' in end ? rows.length : perRequest,
    );
  });
  return subjects;
}

/**
 * What is no endpoint's own method. Those that do many things are subjects of this law, here or in its
 * other files; a new one is in neither list and fails.
 */
const subjectsHere = [...manyCalls, ...manyReads].map(({ name }) => name);
const subjectsElsewhere = [
  'messaging.workflows.deploy',
  'messaging.campaigns.edit',
  'media.generate.longAudio',
  'media.waitForFiles',
  'media.queue',
  'pool.queue',
];
/** They change one thing, or nothing. */
const others = [
  ...['contacts.upsert', 'contacts.subscribe', 'contacts.unsubscribe', 'campaigns.sendNow'],
  ...['campaigns.schedule', 'contacts.findByEmail', 'contacts.fields.check', 'campaigns.preview'],
  ...['contacts.waitForImport', 'contacts.waitForBulkJob', 'campaigns.waitUntilSent'],
  ...['workflows.executions.wait', 'domains.waitUntilVerified', 'workflows.pull'],
  ...['templates.variables', 'templates.render', 'filters.where', 'filters.and', 'filters.or'],
  ...['with', 'request', 'on', 'once', 'off', 'rateLimit.state'],
]
  .map((name) => `messaging.${name}`)
  .concat(
    [
      ...['journal.pending', 'journal.acknowledge', 'journal.dismiss', 'journal.resolve'],
      ...['job', 'waitForFile', 'watch', 'plan', 'joinAudio', 'resumeAll'],
      ...['with', 'request', 'on', 'once', 'off', 'rateLimit.state'],
    ].map((name) => `media.${name}`),
  );

/** The methods of a client and its resources that are no row of a table of routes. */
function helpersOf(of: object, path: string, rows: object | undefined): string[] {
  const names = new Set<string>();
  for (let level = of; level !== Object.prototype; level = Object.getPrototypeOf(level) as object) {
    Object.getOwnPropertyNames(level).forEach((name) => names.add(name));
  }
  names.delete('constructor');
  return [...names].flatMap((name) => {
    const value: unknown = Reflect.get(of, name);
    const row: unknown = rows && Reflect.get(rows, name);
    if (typeof value === 'function') {
      const isRow = typeof row === 'object' && row !== null && 'method' in row;
      return isRow ? [] : [`${path}.${name}`];
    }
    return typeof value === 'object' && value !== null
      ? helpersOf(value, `${path}.${name}`, row as object | undefined)
      : [];
  });
}

describe('law 4, nothing that was done is forgotten', () => {
  it('in calls that change many rows', async () => {
    await holdLaw('law 4, calls that change many', [
      ...manyCalls.flatMap(subjectsOf),
      ...journalSubjects(),
    ]);
  });

  it('in calls that read many rows', async () => {
    await holdLaw('law 4, calls that read many', manyReads.flatMap(readSubjectsOf));
  });

  it('in every call that there is', () => {
    const media = new MediaClient({ apiKey: 'k', baseUrl: 'https://media.test' });
    const helpers = [
      ...helpersOf(clientOf(manyService()), 'messaging', messagingRoutes),
      ...helpersOf(media, 'media', mediaRoutes),
      ...helpersOf(new MediaPool([media]), 'pool', undefined),
    ];
    const known = [...subjectsHere, ...subjectsElsewhere, ...others];
    expect(helpers.filter((name) => !known.includes(name))).toEqual([]);
    expect(known.filter((name) => !helpers.includes(name))).toEqual([]);
  });
});
