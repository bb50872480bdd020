import pRetry, { type RetryContext } from 'p-retry';
import { isAbortOf, maxDelayMs, sleep } from '../async.js';
import { isPostreelError, isTransient, type PostreelError } from '../errors.js';
import type { PreparedCall } from './request.js';
import { maxPauseMs, pauseMs } from './retry-after.js';

// The backoff is 0.5 to 1 s, then 1 to 2 s, 2 to 4 s, and 4 to 8 s from then on.
const maxBackoffMs = 8_000;

// If a service always answers 429, a call makes at most ten requests: the first one, 8 repetitions, and one with
// a renewed key.
const maxRefusals = 8;

/** The settings of the repetitions of a call. */
interface RetryTerms {
  readonly windowMs: number;
  /** Does the rate limit pause all calls after a 429? Then the call itself does not pause. */
  readonly budgetWaits: boolean;
  readonly maxQueueMs: number;
  readonly onRetry: (facts: {
    attempt: number;
    delayMs: number;
    error: PostreelError;
  }) => Promise<void> | undefined;
}

/**
 * Makes attempts until one succeeds or the call must not be sent again. p-retry runs and counts the attempts.
 * The pauses use the client's clock, which a fake may provide. After a 429 there is no pause here if the client
 * has a rate limit: the next attempt waits until the rate limit grants its slot. A call is sent again after a
 * 429 only if it has a retry left, but the 429 does not use up that retry.
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
    await terms.onRetry({ attempt: attemptNumber, delayMs, error: failure });
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
    // If the outcome of any attempt is unknown, the outcome of the call is unknown, however the last attempt
    // or an abort ended the call.
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
