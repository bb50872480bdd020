import { isAbortOf } from '../../async/abort.js';
import { AttemptTimer, monotonicMs } from '../../async/timers.js';
import { parseExactly } from '../../contract/ids.js';
import { maxCloseMs } from '../../contract/rate-budget-store.js';
import {
  isPostreelError,
  RateLimitError,
  type Outcome,
  type PostreelError,
} from '../../errors/index.js';
import { secretsOf } from '../auth/call-secrets.js';
import { cleanCause } from '../auth/redact.js';
import {
  factsOf,
  type Attempt,
  type CallContext,
  type RawAnswer,
  type TransportParts,
} from '../context.js';
import { notSentInTime } from '../deadline.js';
import type { Budget, Slot } from '../rate-limit/budget.js';
import { jsonText } from '../request/body.js';
import { classify, requestIdOf } from '../response/classify.js';
import {
  connectionError,
  isConnectFault,
  neverHandedOver,
  timeoutError,
  unusableResponse,
} from '../response/network-error.js';
import { letGo, readText } from '../response/read.js';
import { pauseAfterRefusalMs } from '../response/retry-after.js';
import { UnusableResponse, type Sending } from './http.js';

// Far more than any answer of these services; an endless body must end somewhere.
const maxAnswerBytes = 256 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
// A paid answer that is later than this will not come.
const maxLateMs = 5 * 60_000;

/** Waits for a slot of the rate limit, sends the request once and reads what comes back. */
export async function attempt(
  one: Attempt,
  given: CallContext,
  parts: TransportParts,
): Promise<RawAnswer> {
  const { number, key } = one;
  let call = given;
  const budget = budgetFor(call, key, parts);
  const acquired = budget && acquire(budget, number, call, parts);
  const slot = acquired instanceof Promise ? await acquired : acquired; // nearly always there is room
  if (call.signal?.aborted) {
    slot?.cancel(); // in the very moment of its turn
  }
  call.signal?.throwIfAborted();
  if (call.input.beforeSending) {
    const body = await runBeforeSending(call.input.beforeSending, slot, call);
    if (body !== undefined) {
      call = { ...call, request: { ...call.request, body: jsonText(body) } };
    }
  }
  const remainingMs = call.deadlineAt - monotonicMs();
  if (remainingMs <= 0) {
    slot?.cancel();
    throw notSentInTime(call);
  }
  const limitMs = Math.min(call.timeoutMs, remainingMs);
  return new Exchange(one, call, { limitMs, slot, budget, parts }).run();
}

async function runBeforeSending(
  beforeSending: () => Promise<unknown>,
  slot: Slot | undefined,
  { signal }: CallContext,
): Promise<unknown> {
  try {
    const body = await beforeSending();
    signal?.throwIfAborted();
    return body;
  } catch (failure) {
    slot?.cancel();
    throw failure;
  }
}

/** The rate budget that a call is charged to, if any. */
export function budgetFor(
  call: CallContext,
  key: string | null,
  { budgets, keyring }: TransportParts,
): Budget | undefined {
  return call.isCharged ? budgets.for(key ?? keyring.current) : undefined;
}

function acquire(
  budget: Budget,
  number: number,
  { route, path, signal, priority, deadlineAt }: CallContext,
  { settings, events }: TransportParts,
): Slot | Promise<Slot> {
  signal?.throwIfAborted();
  return budget.acquire({
    method: route.method,
    path,
    signal,
    priority,
    isRepeat: number > 1,
    maxWaitMs: Math.min(settings.maxQueueMs, deadlineAt - monotonicMs()),
    ...(settings.maxQueueMs < deadlineAt - monotonicMs() && { limitedBy: 'maxQueueMs' }),
    onWait: (event) => events.emit('throttled', event),
    onWarning: (message) => events.emit('warning', { method: route.method, path, message }),
  });
}

interface ExchangeParts {
  readonly limitMs: number;
  readonly slot: Slot | undefined;
  readonly budget: Budget | undefined;
  readonly parts: TransportParts;
}

/** One request and its answer. */
class Exchange {
  readonly #attempt: Attempt;
  readonly #call: CallContext;
  readonly #with: ExchangeParts;
  readonly #timer: AttemptTimer;
  readonly #startedAt = monotonicMs();
  #sending: Sending | undefined;
  /** Ends a request whose answer is read to its end. */
  readonly #lateSignal: AbortSignal | undefined;
  #response: Response | undefined;
  #requestId: string | undefined;

  constructor(attempt: Attempt, call: CallContext, parts: ExchangeParts) {
    this.#attempt = attempt;
    this.#call = call;
    this.#with = parts;
    this.#timer = new AttemptTimer(parts.limitMs, call.signal);
    this.#lateSignal = call.input.onLate && AbortSignal.timeout(maxLateMs);
  }

  async run(): Promise<RawAnswer> {
    const { state } = this.#call;
    const { events } = this.#with.parts;
    if (events.isObserved('request')) {
      events.emit('request', this.#event());
    }
    state.hasLeft = true;
    state.outcome = 'unknown';
    try {
      const response = await this.#head();
      const text = await this.#text(response);
      const body = this.#classify(response, text);
      state.outcome = undefined;
      return { body, response, requestId: this.#requestId };
    } finally {
      this.#end();
    }
  }

  async #head(): Promise<Response> {
    const { parts, slot } = this.#with;
    const { key } = this.#attempt;
    const timer = this.#timer;
    try {
      const { request, signal } = this.#call;
      const end = { signal: this.#fetchSignal, hasCallerSignal: signal !== undefined };
      this.#sending = parts.http(request, key, end);
      this.#response = await timer.within(this.#sending.answer);
    } catch (fault) {
      const late = this.#sending?.answer;
      if (this.#lateSignal) {
        const text = late?.then((one) => readText(one, maxAnswerBytes, this.#lateSignal));
        this.#readLate(text ?? Promise.resolve(''));
        throw this.#explain(fault);
      }
      // A fetch that ignores an abort must not leave its answer open either.
      late?.then(letGo).catch(() => undefined);
      throw this.#explain(fault);
    }
    this.#requestId = requestIdOf(this.#response.headers, this.#call, key);
    if (this.#response.status !== 429) {
      slot?.accepted();
    }
    return this.#response;
  }

  async #text(response: Response): Promise<string> {
    const limit = response.ok ? maxAnswerBytes : maxErrorBytes;
    const text = readText(response, limit, this.#fetchSignal);
    try {
      return await this.#timer.within(text);
    } catch (fault) {
      this.#readLate(text);
      // The status line of a refusal decides, even when its body is lost.
      if (response.ok || this.#isAborted(fault)) {
        throw this.#explain(fault);
      }
      return '';
    }
  }

  // The response to a paid call is read to the end, even when its caller no longer waits.
  #readLate(text: Promise<string>): void {
    const { onLate } = this.#call.input;
    text.then((late) => onLate?.(parseExactly(late))).catch(() => undefined); // no ids in it
  }

  get #fetchSignal(): AbortSignal | undefined {
    return this.#lateSignal ?? this.#timer.signal;
  }

  #classify(response: Response, text: string): unknown {
    const { budget, parts } = this.#with;
    const { key, number } = this.#attempt;
    try {
      const { origin: keyOrigin } = parts.keyring;
      const received = { response, text, key, keyOrigin, requestId: this.#requestId };
      return classify(received, this.#call);
    } catch (failure) {
      if (failure instanceof RateLimitError) {
        const askedMs = failure.retryAfterMs ?? parts.settings.windowMs;
        budget?.close(Math.min(pauseAfterRefusalMs(askedMs, number), maxCloseMs));
      }
      this.#call.state.outcome = isPostreelError(failure) ? failure.outcome : 'unknown';
      throw failure;
    }
  }

  #isAborted(fault: unknown): boolean {
    const { signal } = this.#call;
    const isAbort = isAbortOf(signal, fault) || (!isPostreelError(fault) && signal?.aborted);
    return isAbort === true && !this.#timer.timedOut;
  }

  // An abort leaves with the caller's own reason; everything else becomes one of our errors.
  #explain(fault: unknown): unknown {
    const outcome = this.#outcomeOf(fault);
    this.#call.state.outcome = outcome;
    return this.#isAborted(fault) ? this.#call.signal?.reason : this.#failureOf(fault, outcome);
  }

  #failureOf(fault: unknown, outcome: Outcome): PostreelError {
    const timer = this.#timer;
    if (timer.timedOut) {
      return timeoutError(timer.limitMs, this.#call, outcome);
    }
    if (fault instanceof UnusableResponse) {
      return unusableResponse(fault.message, this.#call);
    }
    const cause = cleanCause(fault, ...secretsOf(this.#call, this.#attempt.key));
    const departure = this.#sending?.departure;
    return departure
      ? connectionError(cause, this.#call, { outcome, connectFault: departure.connectFault })
      : neverHandedOver(cause, this.#call);
  }

  // No fault after the head of an answer proves that nothing was sent, whatever it is called.
  #outcomeOf(fault: unknown): Outcome {
    const departure = this.#sending?.departure;
    if (!departure) {
      return 'not-sent'; // `fetch` never had it
    }
    const isGivenUp = this.#timer.signal?.aborted ?? false;
    if (this.#lateSignal && isGivenUp) {
      return 'unknown'; // it is not taken back, and may still leave
    }
    const hasLeft = this.#response ? true : departure.after(fault, isGivenUp);
    return (hasLeft ?? !isConnectFault(fault, this.#call.request.url)) ? 'unknown' : 'not-sent';
  }

  #end(): void {
    const { slot, parts } = this.#with;
    const { outcome } = this.#call.state;
    this.#timer.stop();
    this.#sending?.departure?.stop();
    if (outcome === 'not-sent') {
      slot?.cancel();
    } else if (this.#response) {
      slot?.release();
    } else {
      slot?.abandon();
    }
    if (!parts.events.isObserved('response')) {
      return;
    }
    parts.events.emit('response', {
      ...this.#event(),
      status: this.#response?.status,
      durationMs: monotonicMs() - this.#startedAt,
      requestId: this.#requestId,
      outcome,
    });
  }

  #event() {
    return { ...factsOf(this.#call), attempt: this.#attempt.number };
  }
}
