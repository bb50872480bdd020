import pRetry, { type RetryContext } from 'p-retry';
import { isAbortOf } from '../../async/abort.js';
import { maxDelayMs, monotonicMs, sleep } from '../../async/timers.js';
import { isRepeatable } from '../../contract/route.js';
import { isPostreelError, type PostreelError } from '../../errors/index.js';
import { isTransient } from '../../errors/transient.js';
import { factsOf, type CallContext, type RawAnswer, type TransportParts } from '../context.js';
import { maxPauseMs } from '../rate-limit/budget.js';
import type { CallKey } from '../auth/call-key.js';
import { pauseAfterRefusalMs } from '../response/retry-after.js';
import { attempt, budgetFor } from './attempt.js';

// Between half of a second and one, one and two, two and four … up to eight.
const backoff = { minTimeout: 500, factor: 2, maxTimeout: 8_000, randomize: true } as const;

// A call against a service that answers 429 for ever makes at most ten requests: the first one,
// one after each refusal that it waits out, and one with a renewed key.
const maxRefusals = 8;

/**
 * Makes attempts until one has an answer or the call must not be sent again. p-retry counts them and
 * backs off; a 429 closes the rate budget, where the next attempt waits. It needs a retry that is left,
 * but uses none up.
 */
export async function sendWithRetries(
  call: CallContext,
  key: CallKey,
  parts: TransportParts,
): Promise<RawAnswer> {
  const retries = new Retries(call, key, parts);
  try {
    return await pRetry((number) => retries.attempt(number), {
      ...backoff,
      retries: call.retries,
      ...(call.signal && { signal: call.signal }),
      onFailedAttempt: (context) => retries.beforeNext(context),
      shouldConsumeRetry: () => !retries.isRefused,
    });
  } catch (failure) {
    return retries.end(failure);
  }
}

/** May the call be sent again after this failure? */
export function mayRetry(
  failure: PostreelError,
  { route, input, isHandledOneByOne, options }: CallContext,
): boolean {
  const allowsUnknown = options.retry?.unknownOutcome ?? false;
  if (failure.status === 429) {
    return !isHandledOneByOne || allowsUnknown;
  }
  const isHarmless =
    failure.outcome === 'not-sent' || isRepeatable(route, input.body) || allowsUnknown;
  return isHarmless && isTransient(failure);
}

/** What the attempts of one call have come to so far. */
class Retries {
  readonly #call: CallContext;
  readonly #key: CallKey;
  readonly #parts: TransportParts;
  readonly #maxPauseMs: number;
  /** When the retries must be over, waits for the rate limit included. */
  readonly #endsAt: number;
  #answer: RawAnswer | undefined;
  #failure: unknown;
  #refusals = 0;
  #mayHaveHappened = false;

  constructor(call: CallContext, key: CallKey, parts: TransportParts) {
    this.#call = call;
    this.#key = key;
    this.#parts = parts;
    this.#maxPauseMs = maxPauseMs(parts.settings.windowMs);
    this.#endsAt = Math.min(call.deadlineAt, monotonicMs() + 5 * this.#maxPauseMs);
  }

  /** Did the last attempt end in a 429? */
  get isRefused(): boolean {
    return isPostreelError(this.#failure) && this.#failure.status === 429;
  }

  async attempt(number: number): Promise<RawAnswer> {
    try {
      this.#answer = await this.#attemptWithKey(number);
      return this.#answer;
    } catch (failure) {
      this.#failure = failure;
      this.#mayHaveHappened ||= isPostreelError(failure) && failure.outcome === 'unknown';
      throw failure;
    }
  }

  /**
   * Throws the failure when there must be no other attempt. Else waits as long as the service asks, and
   * p-retry backs off after it; after a 429 the budget waits instead, with the next attempt.
   */
  async beforeNext(context: RetryContext): Promise<void> {
    const { attemptNumber, retriesConsumed, retriesLeft } = context;
    const failure = this.#failure;
    const { signal } = this.#call;
    if (signal?.aborted && context.error !== failure) {
      throw signal.reason; // aborted between two attempts
    }
    const isFinal =
      retriesLeft <= 0 ||
      !isPostreelError(failure) ||
      isAbortOf(signal, failure) ||
      !mayRetry(failure, this.#call);
    if (isFinal) {
      throw failure;
    }
    const askedMs = this.#askedMs(failure, attemptNumber);
    const backoffMs = this.isRefused ? 0 : maxBackoffMs(retriesConsumed);
    const delayMs = askedMs + backoffMs;
    if (!this.#mayWait(askedMs) || monotonicMs() + delayMs >= this.#endsAt) {
      // The caller can take over a wait that is too long for the call.
      if (failure.retryAfterMs === undefined) {
        Object.assign(failure, { retryAfterMs: Math.min(Math.ceil(delayMs), maxDelayMs) });
      }
      throw failure;
    }
    const facts = { ...factsOf(this.#call), attempt: attemptNumber };
    this.#parts.events.emit('retry', { ...facts, delayMs, error: failure });
    if (!this.isRefused || !this.#hasBudget) {
      await sleep(askedMs, signal);
    }
  }

  /**
   * How the call ends. A delete that was lost and is then not found has happened. Any other end of a
   * retry, an abort included, proves nothing about the attempt before it.
   */
  end(failure: unknown): RawAnswer {
    if (this.#answer) {
      return this.#answer; // the abort came with it
    }
    const { route, state, signal } = this.#call;
    const isOurs = isPostreelError(failure) && !isAbortOf(signal, failure);
    const mayHaveHappened = this.#mayHaveHappened;
    if (mayHaveHappened && isOurs && route.method === 'DELETE' && failure.status === 404) {
      state.outcome = undefined;
      const response = new Response(null, { status: 204 });
      return { body: undefined, response, requestId: undefined };
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

  #askedMs(failure: PostreelError, attempt: number): number {
    const { windowMs } = this.#parts.settings;
    return this.isRefused
      ? pauseAfterRefusalMs(failure.retryAfterMs ?? windowMs, attempt)
      : (failure.retryAfterMs ?? 0);
  }

  #mayWait(askedMs: number): boolean {
    if (this.isRefused && ++this.#refusals > maxRefusals) {
      return false;
    }
    const maxQueueMs =
      this.isRefused && this.#hasBudget ? this.#parts.settings.maxQueueMs : Infinity;
    return askedMs <= Math.min(this.#maxPauseMs, maxQueueMs);
  }

  get #hasBudget(): boolean {
    return budgetFor(this.#call, this.#key.value, this.#parts) !== undefined;
  }

  async #attemptWithKey(number: number): Promise<RawAnswer> {
    try {
      return await attempt({ number, key: this.#key.value }, this.#call, this.#parts);
    } catch (failure) {
      if (!(await this.#key.isRenewedAfter(failure))) {
        throw failure;
      }
    }
    return attempt({ number, key: this.#key.value }, this.#call, this.#parts);
  }
}

function maxBackoffMs(retriesConsumed: number): number {
  return Math.min(backoff.maxTimeout, 2 * backoff.minTimeout * backoff.factor ** retriesConsumed);
}
