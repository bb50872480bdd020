import { memoryJournal, pendingJobs, type JournalStore, type MediaJob } from 'postreel';
import { expect } from 'vitest';
import { systemClock } from '../../../src/core/async.js';
import { MediaJournal } from '../../../src/media/jobs/journal.js';
import { SendJournal } from '../../../src/messaging/emails/send-journal.js';
import fc from '../property.js';

/** A write to a store. */
export type JournalEntry = readonly [verb: 'putIfAbsent' | 'put', key: string, value: string];

/** What may happen to the calls of a journal; numbers choose among what is there. */
type Step =
  | { readonly do: 'claim'; readonly jobs: readonly number[]; readonly isNamed: boolean }
  | {
      readonly do: 'accept';
      readonly call: number;
      readonly holes: number;
      readonly extra: boolean;
    }
  | { readonly do: 'refuse' | 'dismiss' | 'resolve'; readonly call: number }
  | { readonly do: 'end'; readonly file: number; readonly how: (typeof endings)[number] }
  | { readonly do: 'mail'; readonly to: number; readonly ends: 'sent' | 'refused' | 'unknown' };

const endings = ['done', 'failed', 'canceled', 'saved', 'dismissed'] as const;
// Each begins like another one, or differs from it in one sign.
const names = ['job', 'job/1', 'job 1', 'Job', 'jo', 'j\u00f6b', 'x'.repeat(201), 'x'.repeat(202)];
const people = ['ann@example.com', 'ann@example.com.de', 'a@b.c', 'ANN@example.org'];
const projects = ['shop', 'shop/eu'];
const at = 1_800_000_000_000;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('claim' as const),
    jobs: fc.uniqueArray(fc.nat(names.length - 1), { minLength: 1, maxLength: 4 }),
    isNamed: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('accept' as const),
    call: fc.nat(9),
    holes: fc.nat(7),
    extra: fc.boolean(),
  }),
  fc.record({
    do: fc.constantFrom('refuse' as const, 'dismiss' as const, 'resolve' as const),
    call: fc.nat(9),
  }),
  fc.record({
    do: fc.constant('end' as const),
    file: fc.nat(20),
    how: fc.constantFrom(...endings),
  }),
  fc.record({
    do: fc.constant('mail' as const),
    to: fc.nat(people.length - 1),
    ends: fc.constantFrom('sent' as const, 'refused' as const, 'unknown' as const),
  }),
);

/** A history, and the places that its entries get when they arrive in another order. */
export const histories = fc.record({
  steps: fc.array(step, { minLength: 6, maxLength: 20 }),
  places: fc.array(fc.nat(), { minLength: 400, maxLength: 400 }),
  /** Which entries arrive twice. */
  twice: fc.array(fc.boolean(), { minLength: 400, maxLength: 400 }),
});
type History = typeof histories extends fc.Arbitrary<infer Value> ? Value : never;

/** A store whose time stands still. */
function still(store: JournalStore): JournalStore {
  return {
    putIfAbsent: (key, value) => store.putIfAbsent(key, value),
    put: (key, value) => store.put(key, value),
    get: (keys) => store.get(keys),
    list: (prefix, page) => store.list(prefix, page),
    delete: (keys) => store.delete(keys),
    flush: () => store.flush(),
    now: () => Promise.resolve(at),
  };
}

function mediaOf(store: JournalStore, project: string): MediaJournal {
  const keepMs = Number.POSITIVE_INFINITY;
  const onTrouble = (message: string) => {
    throw new Error(message);
  };
  return new MediaJournal({
    store: still(store),
    scope: project,
    clock: systemClock,
    keepMs,
    onTrouble,
  });
}

function mailsOf(store: JournalStore): SendJournal {
  const project = { baseUrl: 'https://messaging.test', group: undefined };
  const warn = (text: string) => {
    throw new Error(text);
  };
  return new SendJournal(still(store), project, { key: 'news', sendsUnknown: false, warn });
}

const jobOf = (prompt: string) =>
  ({ workflowType: 'idea', workflowFormat: 'video', prompt, voiceId: 'v' }) as MediaJob;

/** The entries that a history of calls writes. */
async function entriesOf(steps: readonly Step[]): Promise<JournalEntry[]> {
  const memory = memoryJournal();
  const entries: JournalEntry[] = [];
  const store: JournalStore = {
    ...memory,
    putIfAbsent(key, value) {
      entries.push(['putIfAbsent', key, value]);
      return memory.putIfAbsent(key, value);
    },
    put(key, value) {
      entries.push(['put', key, value]);
      return memory.put(key, value);
    },
  };
  const journals = projects.map((project) => mediaOf(store, project));
  const mails = mailsOf(store);
  const open: { journal: MediaJournal; call: string; count: number }[] = [];
  const files: { journal: MediaJournal; fileId: string }[] = [];
  let calls = 0;
  const pick = <T>(list: readonly T[], number: number) => list[number % Math.max(1, list.length)];
  for (const one of steps) {
    if (one.do === 'claim') {
      const journal = journals[calls % journals.length] ?? mediaOf(store, '');
      const call = `call ${calls++}`;
      const jobs = one.jobs.map((number) => {
        const name = names[number] ?? '';
        return { name: one.isNamed ? journal.nameOf('films', name) : undefined, job: jobOf(name) };
      });
      const taken = await journal.claim(call, jobs, { owner: 'us', retriesFailed: true });
      if (taken === undefined) {
        open.push({ journal, call, count: jobs.length });
      }
    } else if (one.do === 'mail') {
      const email = people[one.to] ?? '';
      const known = await mails.find([email]);
      if (!known.has(email) && (await mails.claim(email)) && one.ends !== 'unknown') {
        await (one.ends === 'sent' ? mails.accept(email, 'file_1') : mails.refuse(email));
      }
    } else if (one.do === 'end') {
      const file = pick(files, one.file);
      const { how } = one;
      if (file && (how === 'saved' || how === 'dismissed')) {
        await file.journal.settle(file.fileId, how);
      } else if (file && how !== 'saved' && how !== 'dismissed') {
        await file.journal.finish(file.fileId, how);
      }
    } else {
      const found = pick(open, one.call);
      if (!found) {
        continue;
      }
      const { journal, call, count } = found;
      const fileIds = Array.from(
        { length: count },
        (_, place) => `file_${call.length}${calls}${place}`,
      );
      open.splice(open.indexOf(found), 1);
      if (one.do === 'accept') {
        const records = fileIds.map((fileId, place) =>
          (one.holes >> place) % 2 === 1 && place > 0 ? null : { fileId, kind: 'video' as const },
        );
        const extra = one.extra
          ? [{ fileId: `${fileIds[0] ?? ''}_more`, kind: 'video' as const }]
          : [];
        await journal.accept(call, records, extra);
        const known = [...records.flatMap((record) => record ?? []), ...extra];
        files.push(...known.map(({ fileId }) => ({ journal, fileId })));
      } else if (one.do === 'refuse') {
        await journal.refuse(call);
      } else if (one.do === 'dismiss') {
        await journal.dismiss(call);
      } else {
        await journal.resolve(call, fileIds);
      }
    }
  }
  return entries;
}

function entriesOfClaims(entries: readonly JournalEntry[]): (readonly [string, string])[] {
  return entries.flatMap(([verb, key, value]) => (verb === 'put' ? [] : [[key, value] as const]));
}

/** All that a program can read of a journal. */
async function stateOf(store: JournalStore): Promise<unknown> {
  const ofProjects = await Promise.all(
    projects.map(async (project) => {
      const journal = mediaOf(store, project);
      const all = names.map((name) => journal.nameOf('films', name));
      const [pending, known, retried] = await Promise.all([
        journal.pending(),
        journal.find(all),
        journal.find(all, true),
      ]);
      return { pending: sorted(pending), known: [...known], retried: [...retried] };
    }),
  );
  const mailed = [...(await mailsOf(store).find(people))];
  return { ofProjects, mailed, all: sorted(await pendingJobs(store)) };
}

// All happens at one time here, and the same time is no order.
function sorted({ jobs, finished, unknown }: Awaited<ReturnType<typeof pendingJobs>>) {
  const text = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort();
  return { jobs: text(jobs), finished: text(finished), unknown: text(unknown) };
}

/**
 * Writes the entries of a history in another order, some twice, with reads and restarts in between:
 * what is read at the end must be what the history itself comes to.
 */
export async function expectToCommute(
  { steps, places, twice }: History,
  open: () => JournalStore | Promise<JournalStore>,
  isAtOnce = false,
): Promise<number> {
  const entries = await entriesOf(steps);
  const memory = memoryJournal();
  for (const [verb, key, value] of entries) {
    await memory[verb](key, value);
  }
  const wanted = await stateOf(memory);
  const shuffled = [...entries, ...entries.filter((_, index) => twice[index])]
    .map((entry, index) => ({ entry, place: places[index] ?? index }))
    .sort((one, other) => one.place - other.place);
  let store = await open();
  if (isAtOnce) {
    await Promise.all(shuffled.map(({ entry: [verb, key, value] }) => store[verb](key, value)));
  } else {
    for (const { entry, place } of shuffled) {
      const [verb, key, value] = entry;
      await store[verb](key, value);
      if (place % 7 === 0) {
        await stateOf(store);
      }
      if (place % 5 === 0) {
        store = await open();
      }
    }
  }
  const last = await open();
  expect(await stateOf(last)).toEqual(wanted);
  // The first claim stands but for what is put over it, and nothing is put with two values.
  const puts = entries
    .filter(([verb]) => verb === 'put')
    .map(([, key, value]) => [key, value] as const);
  const values = new Map([...entriesOfClaims(entries), ...puts]);
  expect(puts.filter(([key, value]) => values.get(key) !== value)).toEqual([]);
  const stored = (await last.list('')).map(({ key, value }) => [key, value] as const);
  expect(new Map(stored)).toEqual(values);
  return shuffled.length;
}
