import pRetry, { type RetryContext } from 'p-retry';
import { isAbortOf, maxDelayMs, sleep } from './async.js';
import { isPostreelError, isTransient, type PostreelError } from './errors.js';
import type { PreparedCall } from './request.js';

// Between half of a second and one, one and two, two and four, and so on.
const maxBackoffMs = 8_000;

// A call against a service that answers 429 for ever makes at most ten requests: the first one,
// one after each refusal that it waits out, and one with a renewed key.
const maxRefusals = 8;

/** What a repetition needs to know of its surroundings. */
interface RetryTerms {
  readonly windowMs: number;
  /** Does the rate limit sit out a 429, for all calls? Then no call waits by itself. */
  readonly budgetWaits: boolean;
  readonly maxQueueMs: number;
  readonly onRetry: (facts: { attempt: number; delayMs: number; error: PostreelError }) => void;
}

/**
 * Makes attempts until one has an answer or the call must not be sent again. p-retry takes over when the
 * first one has failed and counts the others; between them passes the time of the client's clock, which may
 * be a fake's. After a 429 the rate limit waits, with the next attempt; that needs a retry that is left, but
 * uses none up.
 */
export async function repeat<Answer>(
  call: PreparedCall,
  attempt: (number: number) => Promise<Answer>,
  terms: RetryTerms,
): Promise<Answer> {
  try {
    return await attempt(1);
  } catch (failure) {
    return repeatAfter(failure, call, attempt, terms);
  }
}

async function repeatAfter<Answer>(
  first: unknown,
  call: PreparedCall,
  attempt: (number: number) => Promise<Answer>,
  terms: RetryTerms,
): Promise<Answer> {
  const { signal, state, clock } = call;
  const longestMs = maxPauseMs(terms.windowMs);
  const endsAt = Math.min(call.deadlineAt, clock.now() + 5 * longestMs);
  let failure: unknown;
  let refusals = 0;
  const isRefused = () => isPostreelError(failure) && failure.status === 429;

  const next = async (number: number) => {
    try {
      if (number === 1) {
        throw first;
      }
      return await attempt(number);
    } catch (thrown) {
      failure = thrown;
      state.mayHaveHappened ||= state.outcome === 'unknown';
      throw new Error('The attempt failed.', { cause: thrown }); // for p-retry, which takes errors only
    }
  };

  // Throws the failure when there must be no other attempt; else waits as long as the service asks.
  const beforeNext = async ({ attemptNumber, retriesConsumed, retriesLeft }: RetryContext) => {
    if (retriesLeft <= 0 || !isPostreelError(failure) || !mayRepeat(failure, call)) {
      throw failure;
    }
    const isWaitedOut = isRefused() && terms.budgetWaits;
    const askedMs = pauseMs(failure, attemptNumber, terms.windowMs);
    const delayMs = askedMs + (isRefused() ? 0 : backoffMs(retriesConsumed));
    const isTooLong = askedMs > Math.min(longestMs, isWaitedOut ? terms.maxQueueMs : Infinity);
    const isTooOften = isRefused() && ++refusals > maxRefusals;
    if (isTooLong || isTooOften || clock.now() + delayMs >= endsAt) {
      // The caller can take over a wait that is too long for the call.
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
      minTimeout: 0, // `beforeNext` has waited
      shouldConsumeRetry: () => !isRefused(),
      onFailedAttempt: beforeNext,
    });
  } catch (thrown) {
    // Any end of a repetition, an abort included, proves nothing about the attempt before it.
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

/** How long this failure asks to wait; a 429 that names no time asks for a window. */
export function pauseMs(failure: PostreelError, attempt: number, windowMs: number): number {
  return failure.status === 429
    ? pauseAfterRefusalMs(failure.retryAfterMs ?? windowMs, attempt)
    : (failure.retryAfterMs ?? 0);
}

/**
 * The longest pause that a call sits out when the service asks for one: a 429 that names no time,
 * and several in a row. Whether to wait longer is up to the caller.
 */
export function maxPauseMs(windowMs: number): number {
  return Math.max(2 * windowMs, 60_000);
}

/**
 * How long nothing is sent after a 429: what the service asks for, and at least 0.25 s, 0.5 s, 1 s … up
 * to a minute, since a service may answer "now" and refuse again.
 */
function pauseAfterRefusalMs(askedMs: number, attempt: number): number {
  return Math.max(askedMs, Math.min(60_000, 250 * 2 ** (attempt - 1)));
}

// ---- Retry-After

/**
 * How long the service asks to wait, in milliseconds, and never longer than a timer lasts: `Retry-After`,
 * after a 429 also one of the reset headers, which come with every answer. `undefined` when there is none,
 * or none that can be read.
 */
export function retryAfterMs(
  headers: Headers,
  status: number,
  nowMs: number = Date.now(),
): number | undefined {
  const names = ['retry-after', ...(status === 429 ? resetHeaders : [])];
  // A point in time is by the service's clock, and so is `Date`: ours may be hours off.
  const sentAt = dateIn(headers.get('date') ?? '') ?? nowMs;
  const delays = names.map((name) => delayIn(headers.get(name)?.trim() ?? '', sentAt));
  const delayMs = delays.find((delay) => delay !== undefined);
  return delayMs === undefined ? undefined : Math.min(Math.max(0, delayMs), maxDelayMs);
}

const resetHeaders = ['ratelimit-reset', 'x-ratelimit-reset'];

// `7`, `7.5`, a point in time in seconds or milliseconds since 1970, or a date.
function delayIn(text: string, sentAt: number): number | undefined {
  if (!/^\d+(\.\d+)?$/.test(text)) {
    const date = dateIn(text);
    return date === undefined ? undefined : date - sentAt;
  }
  const value = Number(text);
  // Services disagree whether a reset is a delay or a point in time; the size tells them apart.
  if (value > 1e11) {
    return value - sentAt;
  }
  return value > 1e9 ? value * 1000 - sentAt : value * 1000;
}

// The three forms of RFC 9110, and ISO 8601 with a zone. `Date.parse` alone makes "after 60" a year.
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
  // The third form has no zone, and means GMT.
  const date = Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(date) ? undefined : date;
}
