import type { QueueCommand } from './commands.js';
import type { Entry } from './jobs.js';
import type { Draft, World } from './state.js';
import { nextBatch, putBack, takeOut } from './waiting.js';

// A call for one slot is mostly a call wasted: the next one is about to come free.
const fewestFree = 2;
// A stream that has been quiet for so long is not about to fill the next call.
const quietMs = 1_000;
// A check that is not older need not be made again before a call.
const freshMs = 3_000;
// Workers that share slots think of a call every few seconds: they bring forward only the checks
// that are almost due, so that a file is still checked about every ten seconds.
const almostDueMs = 8_000;
const maxRefreshAgeMs = 5_000;
// Processes that share the slots of a project make a call a minute together, as one alone does.
const callEveryMs = 60_000;
const usualJobMs = 5 * 60_000;
const maxWithoutMs = 10 * 60_000;

/** Makes the next call when its time has come; the answer is when to ask again. */
export function submitNext(draft: Draft, world: World): number {
  const capacity = capacityOf(draft, world);
  noteCapacity(draft, capacity, world.now);
  const at = callTime(draft, world, capacity);
  if (at > world.now) {
    return at;
  }
  // The slots of a call that made nothing come free after this step: here they count as taken.
  if (draft.commands.some(makesNothing)) {
    return world.now;
  }
  // A call is rare: first see whether it can carry more.
  const refreshedAt = refresh(draft, world, capacity);
  if (refreshedAt !== undefined) {
    return refreshedAt;
  }
  const batch = withinCaps(draft, nextBatch(draft, Math.min(capacity, draft.maxPerCall)));
  if (batch.length === 0) {
    return draft.waiting.length > 0 ? world.now : Number.POSITIVE_INFINITY;
  }
  depart(draft, batch, world);
  return Number.POSITIVE_INFINITY;
}

/** Fewer slots were free than the call asked for: the other jobs go back. */
export function trim(draft: Draft, count: number, askAgainAt: number): void {
  const { inFlight } = draft;
  if (!inFlight || count >= inFlight.entries.length) {
    return;
  }
  const rest = inFlight.entries.slice(count);
  uncount(draft, rest);
  putBack(draft, rest);
  const entries = inFlight.entries.slice(0, count);
  draft.inFlight =
    count > 0 ? { entries, slotsAfter: inFlight.slotsAfter - rest.length } : undefined;
  if (count === 0) {
    draft.nextVideosAt = Number.NEGATIVE_INFINITY;
    draft.pausedUntil = Math.max(draft.pausedUntil, askAgainAt);
  }
}

/** Jobs that were not submitted after all. */
export function uncount(draft: Draft, entries: readonly Entry[]): void {
  draft.submitted -= entries.length;
  draft.submittedMinutes -= minutesOf(entries);
}

function makesNothing(command: QueueCommand): boolean {
  return command.type === 'assign-slots' && command.fileIds.length + command.uncertain === 0;
}

function capacityOf(draft: Draft, { freeSlots }: World): number {
  const inProgress = draft.running.size + (draft.inFlight?.entries.length ?? 0);
  return Math.min(draft.rules.concurrency - inProgress, freeSlots);
}

function noteCapacity(draft: Draft, capacity: number, now: number): void {
  if (capacity <= 0 || draft.waiting.length === 0) {
    draft.capacitySince = undefined;
  } else {
    draft.capacitySince ??= now;
  }
}

function callTime(draft: Draft, world: World, capacity: number): number {
  const { rules, waiting } = draft;
  const [first] = waiting;
  const isHeld = draft.isPaused || draft.heldSince !== undefined;
  const isStopped = isHeld || draft.isDraining || draft.inFlight !== undefined;
  // The results are not taken: no use in making more of them.
  if (isStopped || !first || capacity <= 0 || draft.results >= rules.maxResults) {
    return Number.POSITIVE_INFINITY;
  }
  const isFilling = draft.isReading && waiting.length < capacity;
  const at = Math.max(
    world.now,
    world.callAt,
    draft.pausedUntil,
    isFilling ? draft.filledAt + quietMs : world.now,
  );
  // A text goes by itself: no other would fill its call.
  if (first.kind === 'audio' || at > world.now || isShared(world)) {
    return at;
  }
  const { now, freeSlots, takenSlots } = world;
  const fewest = Math.min(fewestFree, waiting.length, rules.concurrency, freeSlots + takenSlots);
  const capacityAt = capacity >= fewest ? now : (draft.capacitySince ?? now) + rules.gapMs;
  return Math.max(capacityAt, draft.nextVideosAt);
}

function isShared({ othersSlots = 0 }: World): boolean {
  return othersSlots > 0;
}

// Their store alone knows how many slots are free: it is asked every few seconds, and so many are
// about what comes free in the time of a call, no matter which jobs had them.
function fewestShared(draft: Draft, { now, freeSlots, takenSlots }: World): number {
  if (draft.acceptedAt <= now - maxWithoutMs) {
    return 1;
  }
  const slots = freeSlots + takenSlots;
  const fewest = Math.ceil((slots * callEveryMs) / usualJobMs);
  return Math.max(fewestFree, Math.min(fewest, Math.ceil(slots / 2)));
}

function refresh(draft: Draft, world: World, capacity: number): number | undefined {
  const { now, checksCount } = world;
  if (draft.refreshing.size > 0) {
    const until = draft.refreshedAt + maxRefreshAgeMs;
    return until > now ? until : undefined;
  }
  if (
    checksCount ||
    draft.waiting.length <= capacity ||
    draft.refreshedAt > now - maxRefreshAgeMs
  ) {
    return undefined;
  }
  const since = now - (isShared(world) ? almostDueMs : freshMs);
  const stale = [...draft.running].filter(
    ([, { job, checkedAt, followedAt, isChecking }]) =>
      job.kind === 'video' && !isChecking && Math.max(checkedAt, followedAt) < since,
  );
  if (stale.length === 0) {
    return undefined;
  }
  draft.refreshedAt = now;
  for (const [index, running] of stale) {
    draft.refreshing.add(running.job.fileId);
    draft.running.set(index, { ...running, isChecking: true });
  }
  draft.commands.push({ type: 'check', fileIds: [...draft.refreshing] });
  return now + maxRefreshAgeMs;
}

// What goes beyond the caller's caps is not submitted.
function withinCaps(draft: Draft, batch: readonly Entry[]): Entry[] {
  const { maxJobs, maxMinutes } = draft.rules;
  const within: Entry[] = [];
  for (const entry of batch) {
    const jobs = draft.submitted + within.length + 1;
    const minutes = draft.submittedMinutes + minutesOf(within) + entry.minutes;
    if (jobs <= maxJobs && minutes <= maxMinutes) {
      within.push(entry);
    } else {
      takeOut(draft, [entry]);
      draft.results++;
      draft.commands.push({ type: 'yield', entry, end: { type: 'capped', job: undefined } });
    }
  }
  return within;
}

function depart(draft: Draft, entries: readonly Entry[], world: World): void {
  takeOut(draft, entries);
  draft.inFlight = { entries, slotsAfter: world.takenSlots + entries.length };
  draft.submitted += entries.length;
  draft.submittedMinutes += minutesOf(entries);
  draft.capacitySince = undefined;
  if (entries.some(({ kind }) => kind === 'video')) {
    draft.nextVideosAt = world.now + draft.rules.gapMs;
  }
  const isCarrying = entries.some(({ kind }) => kind === 'video') && isShared(world);
  const atLeast = isCarrying ? Math.min(entries.length, fewestShared(draft, world)) : 1;
  draft.commands.push({ type: 'submit', entries, atLeast });
}

function minutesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { minutes }) => sum + minutes, 0);
}
