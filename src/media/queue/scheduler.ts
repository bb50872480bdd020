import {
  fail,
  giveUp,
  giveUpWaiting,
  onCallAccepted,
  recall,
  onCallRefused,
  yieldNames,
} from './steps/answers.js';
import { checkDue, endLate, onChecked, onSaved } from './steps/checking.js';
import type { QueueCommand } from './steps/commands.js';
import type { QueueEvent, ReadEntry } from './steps/events.js';
import { heldUntil, releaseCalls } from './steps/fuse.js';
import type { Entry } from './steps/jobs.js';
import { endOutage, noteOutage, reportOutage } from './steps/outage.js';
import { draftOf, type Draft, type QueueState, type World } from './steps/state.js';
import { submitNext, trim } from './steps/submitting.js';
import { putBack } from './steps/waiting.js';

/** What a step of the scheduler comes to. */
export interface Step {
  readonly state: QueueState;
  readonly commands: readonly QueueCommand[];
}

const claimsEveryMs = 10_000;
const reportEveryMs = 60_000;

/**
 * One step of a queue: what it knows, what has happened and what the world is like now; out come
 * what it knows next and what is to be done. No clock, no promise, no I/O.
 */
export function step(state: QueueState, event: QueueEvent, world: World): Step {
  const draft = draftOf(state);
  handle(draft, event, world);
  proceed(draft, world);
  const { commands, ...next } = draft;
  return { state: next, commands };
}

/** What each event means, by its name. */
const handlers: {
  readonly [Type in QueueEvent['type']]: (
    draft: Draft,
    event: Extract<QueueEvent, { type: Type }>,
    world: World,
  ) => void;
} = {
  read: (draft, { entries }, { now }) => {
    draft.filledAt = now;
    endOutage(draft, now, ['reading']);
    entries.forEach((read) => take(draft, read, now));
  },
  unread: (draft, { error }, { now }) => {
    noteOutage(draft, 'reading', error, now);
    endClaims(draft, now - draft.rules.outageMs);
  },
  exhausted: (draft) => {
    draft.isExhausted = true;
    draft.isReading = false;
  },
  reading: (draft) => {
    draft.isReading = true;
  },
  trimmed: (draft, { count, askAgainMs }, { now }) => trim(draft, count, now + askAgainMs),
  accepted: (draft, { jobs, error }, world) => onCallAccepted(draft, jobs, error, world),
  'names-taken': (draft, { taken }, world) => yieldNames(draft, taken, world),
  'names-found': (draft, { found }, { now }) => onNamesFound(draft, found, now),
  refused: (draft, { refusal }, world) => onCallRefused(draft, refusal, world),
  checked: (draft, { fileId, seen }, world) => onChecked(draft, fileId, seen, world),
  saved: (draft, { index, error }) => onSaved(draft, index, error),
  taken: (draft) => {
    draft.results -= 1;
  },
  pause: (draft) => {
    draft.isPaused = true;
  },
  resume: (draft) => {
    draft.isPaused = false;
    releaseCalls(draft);
  },
  drain: (draft) => {
    draft.isDraining = true;
  },
  wake: () => undefined,
};

function handle(draft: Draft, event: QueueEvent, world: World): void {
  const react = handlers[event.type] as (draft: Draft, event: QueueEvent, world: World) => void; // the table's keys say which event is whose
  react(draft, event, world);
}

function take(draft: Draft, { entry, known, problem }: ReadEntry, now: number): void {
  if (problem !== undefined) {
    fail(draft, entry, problem);
  } else if (known) {
    recall(draft, entry, known, now);
  } else if (draft.refusal) {
    giveUp(draft, entry, draft.refusal.error);
  } else {
    putBack(draft, [entry]);
  }
}

function onNamesFound(
  draft: Draft,
  found: Extract<QueueEvent, { type: 'names-found' }>['found'],
  now: number,
): void {
  endOutage(draft, now, ['reading']);
  for (const [index, { entry }] of draft.claimed) {
    const known = found.get(entry.name ?? '');
    if (known?.state !== 'claimed') {
      draft.claimed.delete(index);
      recall(draft, entry, known, now);
    }
  }
  endClaims(draft, now);
}

/** Ends the jobs whose claim by another run was waited for until then. */
function endClaims(draft: Draft, then: number): void {
  for (const [index, { entry, until }] of draft.claimed) {
    if (until <= then) {
      draft.claimed.delete(index);
      endUnsubmitted(draft, entry, 'claimed');
    }
  }
}

/** Does what can be done now, and says when to ask again. */
function proceed(draft: Draft, world: World): void {
  const { now } = world;
  if (draft.isPaused || (draft.waiting.length === 0 && !draft.inFlight)) {
    draft.unsuccessfulSince = undefined; // nothing is refused now
  }
  if (draft.refusal) {
    giveUpWaiting(draft, draft.refusal.error);
  }
  const times = [endLate(draft, now), endWaiting(draft, now)];
  recallCall(draft, now);
  times.push(submitNext(draft, world), checkDue(draft, world), askForClaims(draft, now));
  times.push(reportOutage(draft, now), reportWait(draft, now, world));
  if (draft.waiting.length > 0) {
    times.push(world.nextSlotAt);
  }
  const heldTo = heldUntil(draft);
  const isGivenUp = heldTo <= now && !isDone(draft);
  if (!isBusy(draft) && (isDone(draft) || isGivenUp)) {
    draft.isOver = true;
    draft.commands.push({ type: 'end', isGivenUp });
    return;
  }
  // What is past holds nothing back: a file may be saved for long after the last call.
  if (heldTo > now) {
    times.push(heldTo);
  }
  const at = Math.min(...times);
  if (Number.isFinite(at)) {
    // Never at once: fractions of a millisecond, added and subtracted, can come out a hair early.
    draft.commands.push({ type: 'wake', at: Math.max(at, now + 1) });
  }
}

// A call may wait for minutes where other processes use the rate limit up.
function recallCall(draft: Draft, now: number): void {
  const { inFlight, isPaused, isDraining, rules } = draft;
  const isOver = isPaused || isDraining || rules.deadlineAt <= now;
  if (inFlight && isOver) {
    draft.commands.push({ type: 'recall-call' });
  }
}

// The caller's time for the whole queue is up: what is not submitted never will be.
function endWaiting(draft: Draft, now: number): number {
  if (draft.rules.deadlineAt > now) {
    return draft.rules.deadlineAt;
  }
  for (const entry of draft.waiting.splice(0)) {
    endUnsubmitted(draft, entry, 'late');
  }
  for (const { entry } of draft.claimed.values()) {
    endUnsubmitted(draft, entry, 'claimed-late');
  }
  draft.claimed.clear();
  draft.isDraining ||= !draft.rules.readsPastDeadline;
  return Number.POSITIVE_INFINITY;
}

function endUnsubmitted(draft: Draft, entry: Entry, type: 'claimed' | 'claimed-late' | 'late') {
  draft.results++;
  draft.commands.push({ type: 'yield', entry, end: { type, job: undefined } });
}

function askForClaims(draft: Draft, now: number): number {
  if (draft.claimed.size === 0) {
    return Number.POSITIVE_INFINITY;
  }
  // Asked once when the wait for a claim is over, and not without end where nothing answers.
  const ends = [...draft.claimed.values()].map(({ until }) => until);
  const next = Math.min(...ends.filter((until) => until > draft.claimsAskedAt));
  const at = Math.min(draft.claimsAskedAt + claimsEveryMs, next);
  if (at > now && draft.claimsAskedAt > Number.NEGATIVE_INFINITY) {
    return at;
  }
  draft.claimsAskedAt = now;
  const names = [...draft.claimed.values()].flatMap(({ entry }) => entry.name ?? []);
  draft.commands.push({ type: 'find', names });
  return now + claimsEveryMs;
}

// A queue that cannot call says so each minute.
function reportWait(draft: Draft, now: number, world: World): number {
  const isWaiting = draft.waiting.length + draft.claimed.size > 0;
  const isIdle = !isWaiting || draft.isPaused || draft.isDraining;
  if (isIdle && !draft.outage?.isReported) {
    draft.reportedAt = now;
    return Number.POSITIVE_INFINITY;
  }
  if (draft.inFlight) {
    return Number.POSITIVE_INFINITY; // it comes back: with an answer, or because a store has no slot
  }
  if (now - draft.reportedAt >= reportEveryMs) {
    if (draft.reportedAt > Number.NEGATIVE_INFINITY) {
      const until = Math.max(draft.pausedUntil, world.callAt, draft.nextVideosAt, now);
      draft.commands.push({ type: 'report-wait', waitMs: until - now });
    }
    draft.reportedAt = now;
  }
  return draft.reportedAt + reportEveryMs;
}

function isBusy({ inFlight, running, saving, isOver }: Draft): boolean {
  return inFlight !== undefined || running.size + saving.size > 0 || isOver;
}

/** Is there nothing left to submit? */
function isDone({ isExhausted, waiting, claimed, isDraining }: Draft): boolean {
  return (isExhausted && waiting.length + claimed.size === 0) || isDraining;
}
