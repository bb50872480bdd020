import type { RequestOptions } from '../contract/call.js';
import { isPostreelError, type PostreelError } from '../errors/index.js';
import type { Arrival, Journey, Surroundings } from './attempt.js';
import { monotonicMs } from './clock.js';
import { longestPauseMs } from './patience.js';
import { repeatDelayMs } from './repeat.js';
import { withRetries } from './retry.js';
import { sleep } from './timeout.js';

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
    const delayMs = repeatDelayMs(failure, attempt, { ...journey, allowsUnknown, windowMs });
    if (delayMs === undefined || delayMs > longestMs || delayMs > leftMs) return undefined;
    if (monotonicMs() + delayMs >= journey.deadlineAt) return undefined;
    leftMs -= delayMs;
    const { route, path } = journey;
    const error = failure as PostreelError; // nothing else has a delay
    events.emit('retry', { method: route.method, path, attempt, delayMs, error });
    return { delayMs };
  };
}

// A delete that was lost and is then not found has happened. Any other refusal of a repeat says
// nothing about the attempt before it.
function settleFailure(failure: unknown, journey: Journey, mayHaveHappened: boolean): Arrival {
  if (!mayHaveHappened || !isPostreelError(failure)) throw failure;
  if (journey.route.method === 'DELETE' && failure.status === 404) {
    journey.state.outcome = undefined;
    return { body: undefined, response: new Response(null, { status: 204 }) };
  }
  if (journey.route.changes && failure.outcome !== 'unknown') {
    Object.assign(failure, { outcome: 'unknown' });
    journey.state.outcome = 'unknown';
  }
  throw failure;
}
