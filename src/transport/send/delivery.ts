import type { RequestOptions } from '../../contract/call.js';
import { isPostreelError, type PostreelError } from '../../errors/index.js';
import type { Arrival, Journey, Surroundings } from './attempt.js';
import { monotonicMs } from '../../async/clock.js';
import { longestPauseMs } from '../rate-limit/budget.js';
import { repeatDelayMs } from './retry-policy.js';
import { withRetries } from './retry.js';
import { isAbortOf } from '../../async/abort.js';
import { sleep } from '../../async/timers.js';

/** How a call may be repeated. */
export interface DeliveryPolicy {
  readonly retries: number;
  readonly options: RequestOptions;
}

/** Sends a call until it has an answer or must not be sent again. */
export async function deliver(
  send: (attempt: number) => Promise<Arrival>,
  journey: Journey,
  around: Surroundings,
  policy: DeliveryPolicy,
): Promise<Arrival> {
  const history = { mayHaveHappened: false };
  try {
    return await withRetries((number) => send(number).catch(remember(history)), {
      retries: policy.retries,
      decide: decider(journey, around, policy),
      counts: (failure) => !isPostreelError(failure) || failure.status !== 429,
      wait: (delayMs) => sleep(delayMs, journey.signal),
    });
  } catch (failure) {
    return settleFailure(failure, journey, history.mayHaveHappened);
  }
}

function remember(history: { mayHaveHappened: boolean }): (failure: unknown) => never {
  return (failure) => {
    history.mayHaveHappened ||= isPostreelError(failure) && failure.outcome === 'unknown';
    throw failure;
  };
}

function decider(
  journey: Journey,
  { windowMs, events }: Surroundings,
  policy: DeliveryPolicy,
): (failure: unknown, attempt: number) => { delayMs: number } | undefined {
  const allowsUnknown = policy.options.retry?.unknownOutcome ?? false;
  const longestMs = longestPauseMs(windowMs);
  let leftMs = 5 * longestMs;
  return (failure, attempt) => {
    if (isAbortOf(journey.signal, failure)) {
      return undefined;
    }
    const delayMs = repeatDelayMs(failure, attempt, { ...journey, allowsUnknown, windowMs });
    if (delayMs === undefined) {
      return undefined;
    }
    const error = failure as PostreelError; // nothing else has a delay
    const fitsDeadline = monotonicMs() + delayMs < journey.deadlineAt;
    if (!fitsDeadline || delayMs > longestMs || delayMs > leftMs) {
      // The caller can take over the wait that is too long for the call.
      if (error.retryAfterMs === undefined) {
        Object.assign(error, { retryAfterMs: Math.ceil(delayMs) });
      }
      return undefined;
    }
    leftMs -= delayMs;
    const { route, path } = journey;
    events.emit('retry', { method: route.method, path, attempt, delayMs, error });
    return { delayMs };
  };
}

// A delete that was lost and is then not found has happened. Any other end of a repeat, an abort
// included, says nothing about the attempt before it.
function settleFailure(failure: unknown, journey: Journey, mayHaveHappened: boolean): Arrival {
  const { route, state } = journey;
  const isOurs = isPostreelError(failure) && !isAbortOf(journey.signal, failure);
  if (mayHaveHappened && isOurs && route.method === 'DELETE' && failure.status === 404) {
    state.outcome = undefined;
    return { body: undefined, response: new Response(null, { status: 204 }) };
  }
  if (mayHaveHappened && route.changes) {
    if (isOurs) {
      Object.assign(failure, { outcome: 'unknown' });
    }
    state.outcome = 'unknown';
  } else if (isOurs) {
    state.outcome = failure.outcome;
  }
  throw failure;
}
