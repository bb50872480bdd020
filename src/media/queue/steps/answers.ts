import type { JobRecord } from '../../jobs/job.js';
import type { KnownJob } from '../../jobs/journal-types.js';
import { nameTaken } from '../names.js';
import { follow } from './checking.js';
import type { SlotEvidence } from './commands.js';
import type { Refusal } from './events.js';
import type { Entry, InFlightCall } from './jobs.js';
import type { Draft, World } from './state.js';
import { countUnknownCall, releaseCalls } from './fuse.js';
import { endOutage, noteOutage } from './outage.js';
import { uncount } from './submitting.js';
import { putBack } from './waiting.js';

const maxPauseMs = 300_000;
const firstRetryMs = 5_000;
const maxRetryMs = 60_000;
const fewJobs = 5;

/** The service has taken the jobs of a call, or some of them. */
export function onCallAccepted(
  draft: Draft,
  jobs: readonly (JobRecord | null)[],
  error: unknown,
  world: World,
): void {
  const { inFlight } = draft;
  if (!inFlight) {
    return;
  }
  const own = jobs.slice(0, inFlight.entries.length);
  const fileIds = own.flatMap((job) => (job ? [job.fileId] : []));
  const uncertain = inFlight.entries.length - fileIds.length;
  draft.inFlight = undefined;
  draft.reportedAt = world.now;
  draft.acceptedAt = world.now;
  draft.hasConnected = true;
  endOutage(draft, world.now, ['calls', 'checks']);
  draft.commands.push({ type: 'assign-slots', fileIds, uncertain });
  for (const [index, entry] of inFlight.entries.entries()) {
    const job = jobs[index];
    if (job) {
      follow(draft, entry, job, { now: world.now, isNew: true });
    } else {
      fail(draft, entry, error);
    }
  }
  if (fileIds.length > 0) {
    draft.commands.push({ type: 'slots', evidence: 'accepted', slotsAfter: inFlight.slotsAfter });
    noteSuccess(draft, inFlight.entries);
  }
}

/** A call has failed. */
export function onCallRefused(draft: Draft, refusal: Refusal, world: World): void {
  const { inFlight } = draft;
  if (!inFlight) {
    return;
  }
  draft.inFlight = undefined;
  if (refusal.kind !== 'not-sent') {
    draft.reportedAt = world.now;
    draft.hasConnected = true;
  }
  const isUnknown = refusal.kind === 'unknown' || refusal.mayBeHalfWay;
  const uncertain = isUnknown ? inFlight.entries.length : 0;
  draft.commands.push({ type: 'assign-slots', fileIds: [], uncertain });
  if (!isUnknown) {
    uncount(draft, inFlight.entries);
  }
  if (refusal.kind === 'unknown') {
    countUnknownCall(draft, world.now);
  } else if (refusal.kind !== 'not-sent') {
    releaseCalls(draft);
    endOutage(draft, world.now, ['calls', 'checks']);
  }
  const react = refusal.mayBeHalfWay ? endHalfWay : reactions[refusal.kind];
  react(draft, { inFlight, refusal, world });
}

/** Other runs of the queue were faster with some jobs. */
export function yieldNames(draft: Draft, taken: ReadonlyMap<string, KnownJob>, world: World): void {
  const { inFlight } = draft;
  if (!inFlight) {
    return;
  }
  draft.inFlight = undefined;
  draft.nextVideosAt = Number.NEGATIVE_INFINITY;
  draft.commands.push({ type: 'assign-slots', fileIds: [], uncertain: 0 });
  uncount(draft, inFlight.entries);
  for (const entry of inFlight.entries) {
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

/** Gives up every job that is not submitted. */
export function giveUpWaiting(draft: Draft, reason: unknown): void {
  for (const entry of draft.waiting.splice(0)) {
    giveUp(draft, entry, reason);
  }
}

/** Ends a job that was not submitted. */
export function giveUp(draft: Draft, entry: Entry, reason: unknown): void {
  draft.results++;
  draft.commands.push({ type: 'yield', entry, end: { type: 'given-up', job: undefined, reason } });
}

export function fail(draft: Draft, entry: Entry, error: unknown): void {
  draft.results++;
  draft.commands.push({ type: 'yield', entry, end: { type: 'error', job: undefined, error } });
}

interface Refused {
  readonly inFlight: InFlightCall;
  readonly refusal: Refusal;
  readonly world: World;
}

const reactions: Readonly<Record<Refusal['kind'], (draft: Draft, refused: Refused) => void>> = {
  limit(draft, { inFlight, refusal, world }) {
    putBack(draft, inFlight.entries);
    // So few fit any cap: then it is the number of calls that was too high.
    if (inFlight.slotsAfter > fewJobs || draft.refusals >= 2) {
      learn(draft, 'refused', inFlight);
    }
    pause(draft, refusal, world);
  },
  rejected(draft, refused) {
    const { inFlight } = refused;
    if (inFlight.entries.length > 1) {
      // None was made, and one of them is at fault.
      putBack(draft, inFlight.entries);
      draft.maxPerCall = Math.ceil(inFlight.entries.length / 2);
    } else if (mayBeFull(refused)) {
      putOff(draft, refused);
    } else {
      failAlone(draft, refused);
    }
  },
  'rejected-call'(draft, refused) {
    const { inFlight, refusal } = refused;
    const brand = inFlight.entries[0]?.brand;
    if (brand === undefined) {
      reactions.rejected(draft, refused); // only its words are about a kit
      return;
    }
    const others = draft.waiting.filter((entry) => entry.brand === brand);
    draft.waiting = draft.waiting.filter((entry) => entry.brand !== brand);
    for (const entry of [...inFlight.entries, ...others]) {
      fail(draft, entry, refusal.error);
    }
  },
  'rejected-client'(draft, { inFlight, refusal }) {
    failAll(draft, inFlight.entries, refusal.error);
  },
  'not-sent'(draft, { inFlight, refusal, world }) {
    // Before the first answer it is a typing error as likely as an outage.
    if (!draft.hasConnected) {
      failAll(draft, inFlight.entries, refusal.error);
      return;
    }
    noteOutage(draft, 'calls', refusal.error, world.now);
    putBack(draft, inFlight.entries);
    draft.nextVideosAt = Number.NEGATIVE_INFINITY;
    draft.refusedAt = world.now;
    const delayMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(draft.refusals, 8));
    noteUnsuccessful(draft, refusal, world, delayMs);
  },
  unknown(draft, { inFlight, refusal, world }) {
    for (const entry of inFlight.entries) {
      fail(draft, entry, refusal.error);
    }
    // What is lost like this is paid for: the next calls risk less.
    draft.maxPerCall = Math.ceil(inFlight.entries.length / 4);
    pause(draft, refusal, world);
  },
};

// Which of its jobs were made is not known, so none is submitted again. The next ones go alone.
function endHalfWay(draft: Draft, { inFlight, refusal, world }: Refused): void {
  for (const entry of inFlight.entries) {
    fail(draft, entry, refusal.error);
  }
  draft.maxPerCall = 1;
  if (refusal.kind === 'limit') {
    learn(draft, 'refused', inFlight);
    pause(draft, refusal, world);
  } else {
    note(draft, refusal, 2);
  }
}

// While slots are not known to be free, a no may be about them and not about the jobs.
function mayBeFull({ inFlight, world }: Refused): boolean {
  const others = inFlight.slotsAfter - inFlight.entries.length;
  return others > 0 && inFlight.slotsAfter > world.maxAcceptedSlots;
}

function putOff(draft: Draft, { inFlight, refusal, world }: Refused): void {
  learn(draft, 'maybe-full', inFlight);
  pause(draft, refusal, world);
  putBack(
    draft,
    inFlight.entries.map((entry) => ({ ...entry, refusals: (entry.refusals ?? 0) + 1 })),
  );
}

function failAlone(draft: Draft, { inFlight, refusal }: Refused): void {
  learn(draft, 'not-full', inFlight);
  if (note(draft, refusal, 1) >= draft.rules.refusalsForAll) {
    failAll(draft, inFlight.entries, refusal.error);
    return;
  }
  for (const entry of inFlight.entries) {
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
  giveUpWaiting(draft, error);
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
  const { retryAfterMs = growingMs } = refusal;
  noteUnsuccessful(draft, refusal, world, Math.max(retryAfterMs, firstRetryMs));
}

function noteUnsuccessful(draft: Draft, { error }: Refusal, { now }: World, delayMs: number): void {
  draft.refusals++;
  draft.pausedUntil = now + delayMs;
  draft.unsuccessfulSince ??= now;
  if (now - draft.unsuccessfulSince >= draft.rules.outageMs) {
    failAll(draft, [], error);
  }
}

/** Something works: what was learned from refusals is over. */
function noteSuccess(draft: Draft, entries: readonly Entry[]): void {
  releaseCalls(draft);
  draft.refusals = 0;
  draft.evidence = undefined;
  draft.unsuccessfulSince = undefined;
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

function learn(draft: Draft, evidence: SlotEvidence, { slotsAfter }: InFlightCall): void {
  draft.commands.push({ type: 'slots', evidence, slotsAfter });
}
