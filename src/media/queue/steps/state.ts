import type { QueueCommand } from './commands.js';
import type { Entry, InFlightCall, RunningJob } from './jobs.js';

/** What a queue could not reach: the service, or the journal without which nothing is submitted. */
export interface Outage {
  /** What fails. Status checks may go on while no call can be made, as when the journal is gone. */
  readonly what: 'checks' | 'calls' | 'reading';
  readonly since: number;
  readonly error: unknown;
  readonly isReported: boolean;
}

/** The times and bounds that a queue keeps to, in milliseconds. */
export interface QueueRules {
  /** Jobs that may be in progress at one time, however many the service takes. */
  readonly concurrency: number;
  /** From one call with videos to the next. */
  readonly gapMs: number;
  /** How long a job ends as unknown after its last change of status or progress. */
  readonly stallMs: number;
  /** How long an outage is waited out. */
  readonly outageMs: number;
  /** How long calls are held back after lost answers before the queue gives up. */
  readonly unknownMs: number;
  /** How long one job may take. */
  readonly timeoutMs: number;
  /** When the whole queue gives up, on the clock of the events. */
  readonly deadlineAt: number;
  /** Is the rest of the input read all the same, so that each of its jobs has a result? */
  readonly readsPastDeadline: boolean;
  /** How long the claim of another run is waited for. */
  readonly claimMs: number;
  /** So many jobs alone get the same no before it is for all; a call of several counts as two. */
  readonly refusalsForAll: number;
  readonly maxJobs: number;
  readonly maxMinutes: number;
  /** Results that may lie there before no more is submitted. */
  readonly maxResults: number;
}

/** What the world is like when an event comes: the scheduler itself has no clock and no limits. */
export interface World {
  readonly now: number;
  /** Pending slots that are free, and taken, by the answers. */
  readonly freeSlots: number;
  readonly takenSlots: number;
  /** Slots that other processes of the project have, by the answers of their store. */
  readonly othersSlots?: number;
  /** So many jobs at one time the service has taken lately. */
  readonly maxAcceptedSlots: number;
  /** When a slot comes free by itself. */
  readonly nextSlotAt: number;
  /** Files of others that take slots; the queue checks them when it needs one. */
  readonly otherFiles: readonly string[];
  /** When the rate limit lets the next call through. */
  readonly callAt: number;
  /** Do status checks count towards the rate limit? */
  readonly checksCount: boolean;
}

/** The same refusal several times in a row. */
export interface Evidence {
  readonly answer: string;
  readonly count: number;
}

/** All that a queue knows. Never changed: each step makes a new one. */
export interface QueueState {
  readonly rules: QueueRules;
  readonly waiting: readonly Entry[];
  /** Jobs that another run has claimed: until when its answer is waited for. */
  readonly claimed: ReadonlyMap<number, { readonly entry: Entry; readonly until: number }>;
  readonly claimsAskedAt: number;
  readonly inFlight: InFlightCall | undefined;
  /** By the places of the jobs: two jobs may have one file. */
  readonly running: ReadonlyMap<number, RunningJob>;
  /** Finished files that are being saved. */
  readonly saving: ReadonlyMap<number, RunningJob>;
  /** Results that were not taken yet. */
  readonly results: number;
  readonly nextVideosAt: number;
  readonly pausedUntil: number;
  /** Until when the service itself asked to wait. */
  readonly askedUntil: number;
  readonly filledAt: number;
  /** Since when a slot has been free for the jobs that wait. */
  readonly capacitySince: number | undefined;
  /** When the last call was accepted. */
  readonly acceptedAt: number;
  /** What accepted jobs needed, and the longest of them: others like them will not be refused for it. */
  readonly granted: ReadonlySet<string>;
  readonly grantedDuration: number;
  /** The most jobs of the next call, after one that was refused or whose outcome is unknown. */
  readonly maxPerCall: number;
  /** Calls in a row whose answer was lost. */
  readonly unknownCalls: number;
  /** Since when no call is made, after too many of them. */
  readonly heldSince: number | undefined;
  /** Calls in a row that brought nothing. */
  readonly refusals: number;
  readonly refusedAt: number;
  readonly evidence: Evidence | undefined;
  /** Why every job that is not submitted is given up. */
  readonly refusal: { readonly error: unknown } | undefined;
  /** Since when no call has brought anything. */
  readonly unsuccessfulSince: number | undefined;
  readonly reportedAt: number;
  readonly hasConnected: boolean;
  readonly outage: Outage | undefined;
  readonly othersCheckedAt: number;
  /** Files that are checked before the next call, to fill it. */
  readonly refreshing: ReadonlySet<string>;
  readonly refreshedAt: number;
  readonly isReading: boolean;
  readonly isExhausted: boolean;
  readonly isPaused: boolean;
  readonly isDraining: boolean;
  readonly submitted: number;
  readonly submittedMinutes: number;
  readonly isOver: boolean;
}

/** A state on its way to the next one, and what is to be done. */
export type Draft = {
  -readonly [Field in keyof QueueState]: QueueState[Field] extends ReadonlyMap<
    infer Key,
    infer Value
  >
    ? Map<Key, Value>
    : QueueState[Field] extends ReadonlySet<infer Item>
      ? Set<Item>
      : QueueState[Field] extends readonly (infer Item)[]
        ? Item[]
        : QueueState[Field];
} & { readonly commands: QueueCommand[] };

const never = Number.NEGATIVE_INFINITY;

/** A queue before its first event. */
export function initialState(rules: QueueRules): QueueState {
  return {
    rules,
    waiting: [],
    claimed: new Map(),
    claimsAskedAt: never,
    inFlight: undefined,
    running: new Map(),
    saving: new Map(),
    results: 0,
    nextVideosAt: never,
    pausedUntil: never,
    askedUntil: never,
    filledAt: never,
    capacitySince: undefined,
    acceptedAt: never,
    granted: new Set(),
    grantedDuration: 0,
    maxPerCall: Number.POSITIVE_INFINITY,
    unknownCalls: 0,
    heldSince: undefined,
    refusals: 0,
    refusedAt: never,
    evidence: undefined,
    refusal: undefined,
    unsuccessfulSince: undefined,
    reportedAt: never,
    hasConnected: false,
    outage: undefined,
    othersCheckedAt: never,
    refreshing: new Set(),
    refreshedAt: never,
    isReading: false,
    isExhausted: false,
    isPaused: false,
    isDraining: false,
    submitted: 0,
    submittedMinutes: 0,
    isOver: false,
  };
}

export function draftOf(state: QueueState): Draft {
  return {
    ...state,
    waiting: [...state.waiting],
    claimed: new Map(state.claimed),
    running: new Map(state.running),
    saving: new Map(state.saving),
    refreshing: new Set(state.refreshing),
    granted: new Set(state.granted),
    commands: [],
  };
}
