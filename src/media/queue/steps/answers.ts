import type { JobRecord } from '../../jobs/job.js';
import type { KnownJob } from '../../jobs/journal-types.js';
import { nameTaken } from '../names.js';
import { follow } from './checking.js';
import type { SlotEvidence } from './commands.js';
import type { Refusal } from './events.js';
import type { Entry, Flight } from './jobs.js';
import type { Draft, World } from './state.js';
import { isProbing, uncount } from './submitting.js';
import { putBack, putBackInHalves } from './waiting.js';

const maxPauseMs = 300_000;
const firstRetryMs = 5_000;
const maxRetryMs = 60_000;
const fewJobs = 5;
// So many jobs alone must get the same no before it is for all: of a request that was refused as a
// whole and in halves, and of jobs that were never together.
const manySingles = { probing: 3, apart: 5 };

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
    hearYes(draft);
  }
}

/** A call has failed. */
export function refuse(draft: Draft, refusal: Refusal, world: World): void {
  const { flight } = draft;
  if (!flight) {
    return;
  }
  draft.flight = undefined;
  draft.toldAt = world.now;
  draft.hasConnected ||= refusal.kind !== 'not-sent';
  const isUnknown = refusal.kind === 'unknown';
  const uncertain = isUnknown ? flight.entries.length : 0;
  draft.commands.push({ type: 'land', fileIds: [], uncertain });
  if (!isUnknown) {
    uncount(draft, flight.entries);
  }
  reactions[refusal.kind](draft, { flight, refusal, world });
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
    if (mayBeFull(refused)) {
      doubt(draft, refused);
    } else {
      isolate(draft, refused);
    }
  },
  'rejected-call'(draft, { flight, refusal }) {
    for (const entry of flight.entries) {
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

// While slots are not known to be free, a no may be about them and not about the jobs.
function mayBeFull({ flight, world }: Refused): boolean {
  const others = flight.level - flight.entries.length;
  return others > 0 && flight.level > world.provenSlots;
}

function doubt(draft: Draft, { flight, refusal, world }: Refused): void {
  learn(draft, 'doubted', flight);
  pause(draft, refusal, world);
  if (flight.entries.length > 1) {
    putBackInHalves(draft, flight.entries);
  } else {
    putBack(draft, regrouped(draft, flight.entries));
  }
}

function isolate(draft: Draft, { flight, refusal }: Refused): void {
  const { entries } = flight;
  const { answer, error } = refusal;
  const before = draft.evidence?.answer === answer ? draft.evidence : undefined;
  const isSingle = entries.length === 1;
  const wasProbing = isProbing(draft);
  const singles = (before?.singles ?? 0) + (isSingle ? 1 : 0);
  const batches = (before?.batches ?? 0) + (isSingle ? 0 : 1);
  draft.evidence = { answer, batches, singles };
  if (!isSingle) {
    putBackInHalves(draft, entries);
    return;
  }
  learn(draft, 'cleared', flight);
  const many = wasProbing ? manySingles.probing : manySingles.apart;
  if (singles >= many) {
    failAll(draft, entries, error);
    return;
  }
  for (const entry of entries) {
    fail(draft, entry, error);
  }
  if (wasProbing) {
    spread(draft, entries[0]?.group);
  }
}

// The next one that goes alone is not a neighbour of the last one.
function spread(draft: Draft, group: number | undefined): void {
  const rest = draft.waiting.filter((entry) => entry.group === group && group !== undefined);
  draft.waiting = draft.waiting.filter((entry) => !rest.includes(entry));
  putBack(draft, regrouped(draft, rest));
}

function regrouped(draft: Draft, entries: readonly Entry[]): Entry[] {
  const group = ++draft.groups;
  return entries.map((entry) => ({ ...entry, group }));
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
function hearYes(draft: Draft): void {
  draft.refusals = 0;
  draft.evidence = undefined;
  draft.barrenSince = undefined;
  draft.maxPerCall = Number.POSITIVE_INFINITY;
}

function learn(draft: Draft, evidence: SlotEvidence, { level }: Flight): void {
  draft.commands.push({ type: 'slots', evidence, level });
}
