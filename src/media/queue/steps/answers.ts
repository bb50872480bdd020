import type { JobRecord } from '../../jobs/job.js';
import type { KnownJob } from '../../jobs/journal-types.js';
import { nameTaken } from '../names.js';
import { follow } from './checking.js';
import type { SlotEvidence } from './commands.js';
import type { Refusal } from './events.js';
import type { Entry, Flight } from './jobs.js';
import type { Draft, World } from './state.js';
import { countUnknownCall, releaseCalls } from './fuse.js';
import { endOutage, noteOutage } from './outage.js';
import { uncount } from './submitting.js';
import { putBack } from './waiting.js';

const maxPauseMs = 300_000;
const firstRetryMs = 5_000;
const maxRetryMs = 60_000;
const fewJobs = 5;
// So many jobs alone must get the same no before it is for all; a call of several counts as two.
const manyAlone = 5;

/** The service has taken the jobs of a call, or some of them. */
export function land(
  draft: Draft,
  jobs: readonly (JobRecord | null)[],
  error: unknown,
  world: World,
): void {
  const { flight } = draft;
  if (!flight) {
    return;
  }
  const own = jobs.slice(0, flight.entries.length);
  const fileIds = own.flatMap((job) => (job ? [job.fileId] : []));
  const uncertain = flight.entries.length - fileIds.length;
  draft.flight = undefined;
  draft.toldAt = world.now;
  draft.landedAt = world.now;
  draft.hasConnected = true;
  endOutage(draft, world.now, ['calls', 'checks']);
  draft.commands.push({ type: 'land', fileIds, uncertain });
  for (const [index, entry] of flight.entries.entries()) {
    const job = jobs[index];
    if (job) {
      follow(draft, entry, job, { now: world.now, isNew: true });
    } else {
      fail(draft, entry, error);
    }
  }
  if (fileIds.length > 0) {
    draft.commands.push({ type: 'slots', evidence: 'accepted', level: flight.level });
    hearYes(draft, flight.entries);
  }
}

/** A call has failed. */
export function refuse(draft: Draft, refusal: Refusal, world: World): void {
  const { flight } = draft;
  if (!flight) {
    return;
  }
  draft.flight = undefined;
  if (refusal.kind !== 'not-sent') {
    draft.toldAt = world.now;
    draft.hasConnected = true;
  }
  const isUnknown = refusal.kind === 'unknown' || refusal.mayBeHalfWay;
  const uncertain = isUnknown ? flight.entries.length : 0;
  draft.commands.push({ type: 'land', fileIds: [], uncertain });
  if (!isUnknown) {
    uncount(draft, flight.entries);
  }
  if (refusal.kind === 'unknown') {
    countUnknownCall(draft, world.now);
  } else if (refusal.kind !== 'not-sent') {
    releaseCalls(draft);
    endOutage(draft, world.now, ['calls', 'checks']);
  }
  const react = refusal.mayBeHalfWay ? endHalfWay : reactions[refusal.kind];
  react(draft, { flight, refusal, world });
}

/** Other runs of the queue were faster with some jobs. */
export function yieldNames(draft: Draft, taken: ReadonlyMap<string, KnownJob>, world: World): void {
  const { flight } = draft;
  if (!flight) {
    return;
  }
  draft.flight = undefined;
  draft.nextVideosAt = Number.NEGATIVE_INFINITY;
  draft.commands.push({ type: 'land', fileIds: [], uncertain: 0 });
  uncount(draft, flight.entries);
  for (const entry of flight.entries) {
    recall(draft, entry, taken.get(entry.name ?? ''), world.now);
  }
}

/** What a journal knows of a job decides what becomes of it. */
export function recall(draft: Draft, entry: Entry, known: KnownJob | undefined, now: number): void {
  const problem = nameTaken(entry, known);
  if (problem) {
    fail(draft, entry, problem);
  } else if (known?.state === 'accepted') {
    draft.commands.push({ type: 'hold', fileId: known.job.fileId });
    follow(draft, entry, known.job, { now, isNew: false });
  } else if (known) {
    const until = now + Math.max(0, draft.rules.claimMs - known.ageMs);
    draft.claimed.set(entry.index, { entry, until });
  } else {
    putBack(draft, [entry]);
  }
}

/** Fails every job that is not submitted. */
export function failWaiting(draft: Draft, error: unknown): void {
  for (const entry of draft.waiting.splice(0)) {
    fail(draft, entry, error);
  }
}

export function fail(draft: Draft, entry: Entry, error: unknown): void {
  draft.results++;
  draft.commands.push({ type: 'yield', entry, end: { type: 'error', job: undefined, error } });
}

interface Refused {
  readonly flight: Flight;
  readonly refusal: Refusal;
  readonly world: World;
}

const reactions: Readonly<Record<Refusal['kind'], (draft: Draft, refused: Refused) => void>> = {
  limit(draft, { flight, refusal, world }) {
    putBack(draft, flight.entries);
    // So few fit any cap: then it is the number of calls that was too high.
    if (flight.level > fewJobs || draft.refusals >= 2) {
      learn(draft, 'refused', flight);
    }
    pause(draft, refusal, world);
  },
  rejected(draft, refused) {
    const { flight } = refused;
    if (flight.entries.length > 1) {
      // None was made, and one of them is at fault.
      putBack(draft, flight.entries);
      draft.maxPerCall = Math.ceil(flight.entries.length / 2);
    } else if (mayBeFull(refused)) {
      doubt(draft, refused);
    } else {
      failAlone(draft, refused);
    }
  },
  'rejected-call'(draft, { flight, refusal }) {
    const brand = flight.entries[0]?.brand;
    const others = draft.waiting.filter((entry) => entry.brand === brand);
    draft.waiting = draft.waiting.filter((entry) => entry.brand !== brand);
    for (const entry of [...flight.entries, ...others]) {
      fail(draft, entry, refusal.error);
    }
  },
  'rejected-client'(draft, { flight, refusal }) {
    failAll(draft, flight.entries, refusal.error);
  },
  'not-sent'(draft, { flight, refusal, world }) {
    // Before the first answer it is a typing error as likely as an outage.
    if (!draft.hasConnected) {
      failAll(draft, flight.entries, refusal.error);
      return;
    }
    noteOutage(draft, 'calls', refusal.error, world.now);
    putBack(draft, flight.entries);
    draft.nextVideosAt = Number.NEGATIVE_INFINITY;
    draft.refusedAt = world.now;
    const delayMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(draft.refusals, 8));
    noteBarren(draft, refusal, world, delayMs);
  },
  unknown(draft, { flight, refusal, world }) {
    for (const entry of flight.entries) {
      fail(draft, entry, refusal.error);
    }
    // What is lost like this is paid for: the next calls risk less.
    draft.maxPerCall = Math.ceil(flight.entries.length / 4);
    pause(draft, refusal, world);
  },
};

// Which of its jobs were made is not known, so none is submitted again. The next ones go alone.
function endHalfWay(draft: Draft, { flight, refusal, world }: Refused): void {
  for (const entry of flight.entries) {
    fail(draft, entry, refusal.error);
  }
  draft.maxPerCall = 1;
  if (refusal.kind === 'limit') {
    learn(draft, 'refused', flight);
    pause(draft, refusal, world);
  } else {
    note(draft, refusal, 2);
  }
}

// While slots are not known to be free, a no may be about them and not about the jobs.
function mayBeFull({ flight, world }: Refused): boolean {
  const others = flight.level - flight.entries.length;
  return others > 0 && flight.level > world.provenSlots;
}

function doubt(draft: Draft, { flight, refusal, world }: Refused): void {
  learn(draft, 'doubted', flight);
  pause(draft, refusal, world);
  putBack(
    draft,
    flight.entries.map((entry) => ({ ...entry, refusals: (entry.refusals ?? 0) + 1 })),
  );
}

function failAlone(draft: Draft, { flight, refusal }: Refused): void {
  learn(draft, 'cleared', flight);
  if (note(draft, refusal, 1) >= manyAlone) {
    failAll(draft, flight.entries, refusal.error);
    return;
  }
  for (const entry of flight.entries) {
    fail(draft, entry, refusal.error);
  }
}

/** Counts the same answer in a row. */
function note(draft: Draft, { answer }: Refusal, weight: number): number {
  const before = draft.evidence?.answer === answer ? draft.evidence.count : 0;
  draft.evidence = { answer, count: before + weight };
  return draft.evidence.count;
}

function failAll(draft: Draft, entries: readonly Entry[], error: unknown): void {
  draft.refusal = { error };
  for (const entry of entries) {
    fail(draft, entry, error);
  }
  failWaiting(draft, error);
}

function pause(draft: Draft, refusal: Refusal, world: World): void {
  const { gapMs } = draft.rules;
  draft.refusedAt = world.now;
  if (refusal.retryAfterMs !== undefined) {
    draft.askedUntil = world.now + refusal.retryAfterMs;
  }
  const growingMs = Math.min(
    maxPauseMs,
    gapMs * 1.5 ** Math.max(0, Math.min(draft.refusals - 2, 8)),
  );
  noteBarren(draft, refusal, world, refusal.retryAfterMs ?? growingMs);
}

function noteBarren(draft: Draft, { error }: Refusal, { now }: World, delayMs: number): void {
  draft.refusals++;
  draft.pausedUntil = now + delayMs;
  draft.barrenSince ??= now;
  if (now - draft.barrenSince >= draft.rules.outageMs) {
    failAll(draft, [], error);
  }
}

/** Something works: what was learned from refusals is over. */
function hearYes(draft: Draft, entries: readonly Entry[]): void {
  releaseCalls(draft);
  draft.refusals = 0;
  draft.evidence = undefined;
  draft.barrenSince = undefined;
  for (const { needs, duration } of entries) {
    const isNews =
      duration > draft.grantedDuration || needs.some((need) => !draft.granted.has(need));
    needs.forEach((need) => draft.granted.add(need));
    draft.grantedDuration = Math.max(draft.grantedDuration, duration);
    if (isNews) {
      draft.nextVideosAt = Number.NEGATIVE_INFINITY; // it went alone: the others need not wait for it
    }
  }
  // After a refusal calls grow step by step: what is refused half-way is lost.
  const grown = draft.maxPerCall * 2;
  draft.maxPerCall = grown > draft.rules.concurrency ? Number.POSITIVE_INFINITY : grown;
}

function learn(draft: Draft, evidence: SlotEvidence, { level }: Flight): void {
  draft.commands.push({ type: 'slots', evidence, level });
}
