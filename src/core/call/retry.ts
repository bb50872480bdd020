import pRetry, { type RetryContext } from 'p-retry';
import { isAbortOf, maxDelayMs, sleep } from '../async.js';
import { isPostreelError, isTransient, type PostreelError } from '../errors.js';
import type { PreparedCall } from './request.js';

// The backoff is 0.5 to 1 s, then 1 to 2 s, 2 to 4 s, and 4 to 8 s from then on.
const maxBackoffMs = 8_000;

// If a service answers 429 forever, a call makes at most ten requests: the first one, one after each 429
// that it waits out, and one with a renewed key.
const maxRefusals = 8;

/** The settings of the repetitions of a call. */
interface RetryTerms {
  readonly windowMs: number;
  /** Does the rate limit wait out a 429 for all calls? Then no call waits by itself. */
  readonly budgetWaits: boolean;
  readonly maxQueueMs: number;
  readonly onRetry: (facts: { attempt: number; delayMs: number; error: PostreelError }) => void;
}

/**
 * Makes attempts until one succeeds or the call must not be sent again. p-retry runs and counts the attempts.
 * The pauses use the client's clock, which a fake may provide. After a 429 the rate limit waits, as part of
 * the next attempt; this requires a retry that is left, but does not use it up.
 */
export async function repeat<Answer>(
  call: PreparedCall,
  attempt: (number: number) => Promise<Answer>,
  terms: RetryTerms,
): Promise<Answer> {
  const { signal, state, clock } = call;
  const longestMs = maxPauseMs(terms.windowMs);
  let endsAt: number | undefined; // set by the first failure
  let failure: unknown;
  let refusals = 0;
  const isRefused = () => isPostreelError(failure) && failure.status === 429;

  const next = async (number: number) => {
    try {
      return await attempt(number);
    } catch (thrown) {
      failure = thrown;
      state.mayHaveHappened ||= state.outcome === 'unknown';
      throw new Error('The attempt failed.', { cause: thrown }); // p-retry accepts only errors
    }
  };

  // Throws the failure if there must be no further attempt. Otherwise waits as long as the service asks.
  const beforeNext = async ({ attemptNumber, retriesConsumed, retriesLeft }: RetryContext) => {
    endsAt ??= Math.min(call.deadlineAt, clock.now() + 5 * longestMs);
    if (retriesLeft <= 0 || !isPostreelError(failure) || !mayRepeat(failure, call)) {
      throw failure;
    }
    const isWaitedOut = isRefused() && terms.budgetWaits;
    const askedMs = pauseMs(failure, attemptNumber, terms.windowMs);
    const delayMs = askedMs + (isRefused() ? 0 : backoffMs(retriesConsumed));
    const isTooLong = askedMs > Math.min(longestMs, isWaitedOut ? terms.maxQueueMs : Infinity);
    const isTooOften = isRefused() && ++refusals > maxRefusals;
    if (isTooLong || isTooOften || clock.now() + delayMs >= endsAt) {
      // Tell the caller how long to wait: the wait is too long for this call.
      const retryAfterMs = failure.retryAfterMs ?? Math.min(Math.ceil(delayMs), maxDelayMs);
      throw Object.assign(failure, { retryAfterMs });
    }
    terms.onRetry({ attempt: attemptNumber, delayMs, error: failure });
    if (!isWaitedOut) {
      await sleep(delayMs, signal, clock);
    }
  };

  try {
    return await pRetry(next, {
      retries: call.retries,
      minTimeout: 0, // `beforeNext` does the waiting
      shouldConsumeRetry: () => !isRefused(),
      onFailedAttempt: beforeNext,
    });
  } catch (thrown) {
    // The end of the repetitions, even by an abort, does not settle an earlier attempt with an unknown
    // outcome.
    const isOurs = isPostreelError(thrown) && !isAbortOf(signal, thrown);
    if (state.mayHaveHappened && call.changes) {
      state.outcome = 'unknown';
      throw isOurs ? Object.assign(thrown, { outcome: 'unknown' }) : thrown;
    }
    state.outcome = isOurs ? thrown.outcome : state.outcome;
    throw thrown;
  }
}

/** May the call be sent again after this failure? */
function mayRepeat(failure: PostreelError, call: PreparedCall): boolean {
  if (isAbortOf(call.signal, failure)) {
    return false;
  }
  const allowsUnknown = call.options.retry?.unknownOutcome ?? false;
  if (failure.status === 429) {
    return failure.outcome !== 'unknown' || allowsUnknown;
  }
  const isHarmless = failure.outcome === 'not-sent' || call.route.repeatable || allowsUnknown;
  return isHarmless && isTransient(failure);
}

function backoffMs(retriesConsumed: number): number {
  const longestMs = Math.min(maxBackoffMs, 1_000 * 2 ** retriesConsumed);
  return (longestMs / 2) * (1 + Math.random());
}

/** How long to wait after this failure, in milliseconds. After a 429 that names no time, one window. */
export function pauseMs(failure: PostreelError, attempt: number, windowMs: number): number {
  return failure.status === 429
    ? pauseAfterRefusalMs(failure.retryAfterMs ?? windowMs, attempt)
    : (failure.retryAfterMs ?? 0);
}

/**
 * The longest pause, in milliseconds, that a call waits out when the service asks for one: long enough for a
 * 429 that names no time, and for several in a row. Whether to wait longer is up to the caller.
 */
export function maxPauseMs(windowMs: number): number {
  return Math.max(2 * windowMs, 60_000);
}

/**
 * How long to send nothing after a 429, in milliseconds: as long as the service asks, and at least 0.25 s,
 * 0.5 s, 1 s … up to a minute, because a service may answer "now" and then refuse again.
 */
function pauseAfterRefusalMs(askedMs: number, attempt: number): number {
  return Math.max(askedMs, Math.min(60_000, 250 * 2 ** (attempt - 1)));
}

// ---- Retry-After

/**
 * How long the service asks to wait, in milliseconds, and never longer than a timer can run. Reads
 * `Retry-After`; after a 429 also the reset headers, which are part of every response. `undefined` if there
 * is no such header, or none that can be read.
 */
export function retryAfterMs(
  headers: Headers,
  status: number,
  nowMs: number = Date.now(),
): number | undefined {
  const names = ['retry-after', ...(status === 429 ? resetHeaders : [])];
  // A point in time is by the service's clock, and so is `Date`: the local clock may be hours off.
  const sentAt = dateIn(headers.get('date') ?? '') ?? nowMs;
  const delays = names.map((name) => delayIn(headers.get(name)?.trim() ?? '', sentAt));
  const delayMs = delays.find((delay) => delay !== undefined);
  return delayMs === undefined ? undefined : Math.min(Math.max(0, delayMs), maxDelayMs);
}

const resetHeaders = ['ratelimit-reset', 'x-ratelimit-reset'];

// Reads `7`, `7.5`, a point in time in seconds or milliseconds since 1970, or a date.
function delayIn(text: string, sentAt: number): number | undefined {
  if (!/^\d+(\.\d+)?$/.test(text)) {
    const date = dateIn(text);
    return date === undefined ? undefined : date - sentAt;
  }
  const value = Number(text);
  // Services disagree whether a reset is a delay or a point in time. The size of the number tells them
  // apart.
  if (value > 1e11) {
    return value - sentAt;
  }
  return value > 1e9 ? value * 1000 - sentAt : value * 1000;
}

// The three forms of RFC 9110, and ISO 8601 with a zone. `Date.parse` alone reads "after 60" as a year.
const dateForms = [
  /^[a-z]{3}, \d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d (gmt|utc)$/i,
  /^[a-z]{6,9}, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d gmt$/i,
  /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i,
  /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d(\.\d+)?(z|[+-]\d\d:\d\d)$/i,
];

function dateIn(text: string): number | undefined {
  if (!dateForms.some((form) => form.test(text))) {
    return undefined;
  }
  // The third form has no zone, and is in GMT.
  const date = Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(date) ? undefined : date;
}
