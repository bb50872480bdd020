import type { Route } from '../../contract/route.js';
import type { ClientEvents } from '../../contract/events.js';
import { longestCloseMs } from '../../contract/rate-budget-store.js';
import { isPostreelError, RateLimitError, type PostreelError } from '../../errors/index.js';
import type { CallState } from '../call.js';
import { cleanCause } from '../auth/clean-cause.js';
import { monotonicMs } from '../../async/clock.js';
import type { Events } from '../events.js';
import { exchange, type OutgoingRequest } from './http.js';
import { notInTime } from './in-time.js';
import { connectionError, judge, requestIdOf, timeoutError } from '../response/classify.js';
import type { Budget, Slot } from '../rate-limit/budget.js';
import { readText } from '../response/read.js';
import { isAbortOf } from '../../async/abort.js';
import { startTimer, type AttemptTimer } from '../../async/timers.js';

/** One call on its way: what does not change from attempt to attempt. */
export interface Journey {
  readonly route: Route;
  /** The path with its parameters filled in, without the query. */
  readonly path: string;
  readonly isPartial: boolean;
  readonly isCharged: boolean;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** When the call must be over, on the monotonic clock; Infinity without a deadline. */
  readonly deadlineAt: number;
  readonly priority: 'interactive' | 'bulk';
  readonly maxQueueMs: number;
  readonly state: CallState;
}

/** What an attempt needs from its client. */
export interface Surroundings {
  readonly budget: Budget | undefined;
  readonly windowMs: number;
  readonly events: Events<ClientEvents>;
  readonly fetch: typeof globalThis.fetch | undefined;
  /** Goes on being used by later attempts; a refreshed key replaces it. */
  key: string | null;
}

/** The good end of an attempt. */
export interface Arrival {
  readonly body: unknown;
  readonly response: Response;
}

// Far more than any answer of these services; an endless body must end somewhere.
const longestAnswerBytes = 256 * 1024 * 1024;
const longestErrorBytes = 64 * 1024;

/** Waits for a turn, sends the request once and judges what comes back. */
export async function attempt(
  request: OutgoingRequest,
  number: number,
  journey: Journey,
  around: Surroundings,
): Promise<Arrival> {
  const slot = await turn(journey, around, number > 1);
  if (journey.signal?.aborted) {
    slot?.cancel();
  } // in the very moment of its turn
  journey.signal?.throwIfAborted();
  const startedAt = monotonicMs();
  const remainingMs = journey.deadlineAt - startedAt;
  if (remainingMs <= 0) {
    slot?.cancel();
    throw notInTime(journey);
  }
  const event = { method: journey.route.method, path: journey.path, attempt: number };
  around.events.emit('request', event);
  journey.state.hasLeft = true;
  const timer = startTimer(Math.min(journey.timeoutMs, remainingMs), journey.signal);
  let response: Response | undefined;
  let neverLeft = false;
  try {
    response = await headOf(request, timer, around.fetch);
    if (response.status !== 429) {
      slot?.accepted();
    }
    const arrival = await receive(response, timer, journey, around);
    journey.state.outcome = undefined;
    return arrival;
  } catch (fault) {
    const failure = explain(fault, timer, journey, around.key);
    neverLeft = journey.state.outcome === 'not-sent';
    throw failure;
  } finally {
    timer.stop();
    if (neverLeft) {
      slot?.cancel();
    } else if (response) {
      slot?.release();
    } else {
      slot?.abandon();
    }
    around.events.emit('response', {
      ...event,
      status: response?.status,
      durationMs: monotonicMs() - startedAt,
      requestId: response ? requestIdOf(response.headers, around.key) : undefined,
      outcome: journey.state.outcome,
    });
  }
}

async function turn(
  journey: Journey,
  { budget, events }: Surroundings,
  isRepeat: boolean,
): Promise<Slot | undefined> {
  journey.signal?.throwIfAborted();
  if (!budget || !journey.isCharged) {
    return undefined;
  }
  const { signal, priority, path } = journey;
  return budget.acquire({
    method: journey.route.method,
    path,
    signal,
    priority,
    isRepeat,
    maxWaitMs: Math.min(journey.maxQueueMs, journey.deadlineAt - monotonicMs()),
    onWait: (event) => events.emit('throttled', event),
  });
}

async function headOf(
  request: OutgoingRequest,
  timer: AttemptTimer,
  fetch: typeof globalThis.fetch | undefined,
): Promise<Response> {
  const answer = exchange(request, timer.signal, fetch);
  // A fetch that does not hear an abort must not leave its answer open either.
  const letGo = (late: Response) => late.body?.cancel();
  return Promise.race([answer, timer.aborted]).catch((fault: unknown) => {
    answer.then(letGo).catch(() => undefined);
    throw fault;
  });
}

async function receive(
  response: Response,
  timer: AttemptTimer,
  journey: Journey,
  { key, budget, windowMs }: Surroundings,
): Promise<Arrival> {
  const limit = response.ok ? longestAnswerBytes : longestErrorBytes;
  const text = await Promise.race([readText(response, limit, timer.signal), timer.aborted]);
  try {
    return { body: judge({ response, text, key }, journey), response };
  } catch (failure) {
    if (failure instanceof RateLimitError) {
      budget?.close(Math.min(failure.retryAfterMs ?? windowMs, longestCloseMs));
    }
    throw failure;
  }
}

// An abort leaves with the caller's own reason; everything else becomes one of our errors.
function explain(
  fault: unknown,
  timer: AttemptTimer,
  journey: Journey,
  key: string | null,
): unknown {
  const { signal, state } = journey;
  const isAbort = isAbortOf(signal, fault) || (!isPostreelError(fault) && signal?.aborted);
  if (isAbort && !timer.timedOut) {
    state.outcome = 'unknown';
    return signal?.reason;
  }
  const failure = failureOf(fault, timer, journey, key);
  state.outcome = failure.outcome;
  return failure;
}

function failureOf(
  fault: unknown,
  timer: AttemptTimer,
  journey: Journey,
  key: string | null,
): PostreelError {
  if (isPostreelError(fault)) {
    return fault;
  }
  if (!timer.timedOut) {
    return connectionError(cleanCause(fault, key), journey);
  }
  return timeoutError(timer.limitMs, journey, timer.limitMs < journey.timeoutMs);
}
