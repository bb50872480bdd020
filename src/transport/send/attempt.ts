import { isAbortOf } from '../../async/abort.js';
import { monotonicMs, startTimer, type AttemptTimer } from '../../async/timers.js';
import { longestCloseMs } from '../../contract/rate-budget-store.js';
import { isPostreelError, RateLimitError, type PostreelError } from '../../errors/index.js';
import { cleanCause } from '../auth/redact.js';
import type { Attempt, CallContext, RawAnswer, TransportParts } from '../context.js';
import type { Budget, Slot } from '../rate-limit/budget.js';
import { classify, requestIdOf } from '../response/classify.js';
import { connectionError, notSentInTime, timeoutError } from '../response/network-error.js';
import { readText } from '../response/read.js';
import { exchange, type OutgoingRequest } from './http.js';

// Far more than any answer of these services; an endless body must end somewhere.
const longestAnswerBytes = 256 * 1024 * 1024;
const longestErrorBytes = 64 * 1024;

/** Waits for a slot of the rate limit, sends the request once and reads what comes back. */
export async function attempt(
  { number, key }: Attempt,
  call: CallContext,
  parts: TransportParts,
): Promise<RawAnswer> {
  const budget = call.isCharged ? parts.budgets.for(key ?? parts.keyring.current) : undefined;
  const slot = budget && (await acquire(budget, number, call, parts));
  if (call.signal?.aborted) {
    slot?.cancel(); // in the very moment of its turn
  }
  call.signal?.throwIfAborted();
  const remainingMs = call.deadlineAt - monotonicMs();
  if (remainingMs <= 0) {
    slot?.cancel();
    throw notSentInTime(call);
  }
  const timer = startTimer(Math.min(call.timeoutMs, remainingMs), call.signal);
  const one = new Exchange({ number, key }, call, { timer, slot, budget, parts });
  return one.run();
}

async function acquire(
  budget: Budget,
  number: number,
  { route, path, signal, priority, deadlineAt }: CallContext,
  { settings, events }: TransportParts,
): Promise<Slot> {
  signal?.throwIfAborted();
  return budget.acquire({
    method: route.method,
    path,
    signal,
    priority,
    isRepeat: number > 1,
    maxWaitMs: Math.min(settings.maxQueueMs, deadlineAt - monotonicMs()),
    onWait: (event) => events.emit('throttled', event),
  });
}

interface ExchangeParts {
  readonly timer: AttemptTimer;
  readonly slot: Slot | undefined;
  readonly budget: Budget | undefined;
  readonly parts: TransportParts;
}

/** One request and its answer. */
class Exchange {
  readonly #attempt: Attempt;
  readonly #call: CallContext;
  readonly #with: ExchangeParts;
  readonly #startedAt = monotonicMs();
  #response: Response | undefined;
  #requestId: string | undefined;

  constructor(attempt: Attempt, call: CallContext, parts: ExchangeParts) {
    this.#attempt = attempt;
    this.#call = call;
    this.#with = parts;
  }

  async run(): Promise<RawAnswer> {
    const { state } = this.#call;
    this.#with.parts.events.emit('request', this.#event());
    state.hasLeft = true;
    try {
      const response = await this.#head();
      const body = await this.#body(response);
      state.outcome = undefined;
      return { body, response, requestId: this.#requestId };
    } catch (fault) {
      throw this.#explain(fault);
    } finally {
      this.#end();
    }
  }

  async #head(): Promise<Response> {
    const { timer, parts, slot } = this.#with;
    const request = withKey(this.#call.request, this.#attempt.key);
    const answer = exchange(request, timer.signal, parts.settings.fetch);
    try {
      this.#response = await Promise.race([answer, timer.aborted]);
    } catch (fault) {
      // A fetch that does not hear an abort must not leave its answer open either.
      answer.then((late) => late.body?.cancel()).catch(() => undefined);
      throw fault;
    }
    this.#requestId = requestIdOf(this.#response.headers, this.#attempt.key);
    if (this.#response.status !== 429) {
      slot?.accepted();
    }
    return this.#response;
  }

  async #body(response: Response): Promise<unknown> {
    const { timer, budget, parts } = this.#with;
    const limit = response.ok ? longestAnswerBytes : longestErrorBytes;
    const reading = Promise.race([readText(response, limit, timer.signal), timer.aborted]);
    const text = await reading.catch((fault: unknown) => this.#withoutBody(response, fault));
    const { key } = this.#attempt;
    try {
      return classify({ response, text, key, requestId: this.#requestId }, this.#call);
    } catch (failure) {
      if (failure instanceof RateLimitError) {
        const askedMs = failure.retryAfterMs ?? parts.settings.windowMs;
        budget?.close(Math.min(askedMs, longestCloseMs));
      }
      throw failure;
    }
  }

  // The status line of a refusal decides, even when its body is lost.
  #withoutBody(response: Response, fault: unknown): string {
    if (response.ok || this.#isAborted(fault)) {
      throw fault;
    }
    return '';
  }

  #isAborted(fault: unknown): boolean {
    const { signal } = this.#call;
    const isAbort = isAbortOf(signal, fault) || (!isPostreelError(fault) && signal?.aborted);
    return isAbort === true && !this.#with.timer.timedOut;
  }

  // An abort leaves with the caller's own reason; everything else becomes one of our errors.
  #explain(fault: unknown): unknown {
    const { signal, state } = this.#call;
    if (this.#isAborted(fault)) {
      state.outcome = 'unknown';
      return signal?.reason;
    }
    const failure = this.#failureOf(fault);
    state.outcome = failure.outcome;
    return failure;
  }

  #failureOf(fault: unknown): PostreelError {
    const { timer } = this.#with;
    const { key } = this.#attempt;
    const { headers } = this.#call.request;
    if (isPostreelError(fault)) {
      return fault;
    }
    if (!timer.timedOut) {
      return connectionError(cleanCause(fault, key, headers['cookie']), this.#call);
    }
    return timeoutError(timer.limitMs, this.#call);
  }

  #end(): void {
    const { timer, slot, parts } = this.#with;
    const { outcome } = this.#call.state;
    timer.stop();
    if (outcome === 'not-sent') {
      slot?.cancel();
    } else if (this.#response) {
      slot?.release();
    } else {
      slot?.abandon();
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
    const { route, path } = this.#call;
    return { method: route.method, path, attempt: this.#attempt.number };
  }
}

function withKey(request: OutgoingRequest, key: string | null): OutgoingRequest {
  if (key === null) {
    return request;
  }
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } };
}
