import ky from 'ky';
import pRetry from 'p-retry';
import { isAbortOf } from '../../async/abort.js';
import { monotonicMs, sleep } from '../../async/timers.js';
import { isPostreelError, type PostreelError } from '../../errors/index.js';
import { factsOf, type CallContext, type RawAnswer, type TransportParts } from '../context.js';
import { longestPauseMs } from '../rate-limit/budget.js';
import type { RequestCarrier } from './http.js';
import { retryDelayMs } from './retry-policy.js';

// A call against a service that answers 429 for ever makes at most ten requests: the first one,
// one after each refusal that it waits out, and one with a renewed key.
const mostRefusals = 8;

/** Sends one attempt, numbered from 1, by something that carries its request. */
type SendAttempt = (number: number, carrier: RequestCarrier) => Promise<RawAnswer>;

/** The attempts after a first one that failed. Delays are ours: p-retry's own are zero. */
export class Retries {
  readonly #call: CallContext;
  readonly #attempt: SendAttempt;
  readonly #parts: TransportParts;
  readonly #longestMs: number;
  /** When the retries must be over, waits for the rate limit included. */
  readonly #endsAt: number;
  #refusals = 0;
  #mayHaveHappened = false;

  constructor(call: CallContext, attempt: SendAttempt, parts: TransportParts) {
    this.#call = call;
    this.#attempt = attempt;
    this.#parts = parts;
    this.#longestMs = longestPauseMs(parts.settings.windowMs);
    this.#endsAt = monotonicMs() + 5 * this.#longestMs;
  }

  async goOn(first: unknown): Promise<RawAnswer> {
    try {
      this.#remember(first);
      await this.#waitAfter(first, 1);
      return await this.#repeat(this.#call.retries - (counts(first) ? 1 : 0));
    } catch (failure) {
      return this.#settle(failure);
    }
  }

  // Whatever an attempt throws, an abort's reason included, comes out as it went in.
  async #repeat(retries: number): Promise<RawAnswer> {
    try {
      return await pRetry((number) => this.#attemptAgain(number + 1).catch(carry), {
        retries,
        minTimeout: 0,
        maxTimeout: 0,
        shouldConsumeRetry: ({ error }) => counts(reasonOf(error)),
        shouldRetry: async ({ error, attemptNumber }) => {
          await this.#waitAfter(reasonOf(error), attemptNumber + 1).catch(carry);
          return true;
        },
      });
    } catch (failure) {
      throw reasonOf(failure);
    }
  }

  async #attemptAgain(number: number): Promise<RawAnswer> {
    try {
      return await this.#attempt(number, kyCarrier);
    } catch (failure) {
      this.#remember(failure);
      throw failure;
    }
  }

  #remember(failure: unknown): void {
    this.#mayHaveHappened ||= isPostreelError(failure) && failure.outcome === 'unknown';
  }

  /** Waits before the next attempt; throws the failure when there must be none. */
  async #waitAfter(failure: unknown, attempt: number): Promise<void> {
    const delayMs = this.#delayAfter(failure, attempt);
    if (delayMs === undefined) {
      throw failure;
    }
    const { signal } = this.#call;
    const error = failure as PostreelError; // nothing else has a delay
    this.#parts.events.emit('retry', { ...factsOf(this.#call), attempt, delayMs, error });
    await sleep(delayMs, signal);
  }

  #delayAfter(failure: unknown, attempt: number): number | undefined {
    const { signal, deadlineAt, retries } = this.#call;
    if (retries <= 0 || isAbortOf(signal, failure) || !isPostreelError(failure)) {
      return undefined;
    }
    const delayMs = retryDelayMs(failure, attempt, this.#call, this.#parts.settings.windowMs);
    if (delayMs === undefined) {
      return undefined;
    }
    const mayWait = !isRefusal(failure) || ++this.#refusals <= mostRefusals;
    const fits = monotonicMs() + delayMs < Math.min(deadlineAt, this.#endsAt);
    if (mayWait && fits && delayMs <= this.#longestMs) {
      return delayMs;
    }
    // The caller can take over the wait that is too long for the call.
    if (failure.retryAfterMs === undefined) {
      Object.assign(failure, { retryAfterMs: Math.ceil(delayMs) });
    }
    return undefined;
  }

  // A delete that was lost and is then not found has happened. Any other end of a retry, an abort
  // included, says nothing about the attempt before it.
  #settle(failure: unknown): RawAnswer {
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
}

// ky's own retry, timeout and errors are off: which of them apply is decided for the whole call.
const kyCarrier: RequestCarrier = (url, send) =>
  ky(url, { retry: 0, timeout: false, throwHttpErrors: false, fetch: send });

/** Does a retry after this failure count? One that waits for the rate limit does not. */
function counts(failure: unknown): boolean {
  return !isPostreelError(failure) || !isRefusal(failure);
}

function isRefusal({ status }: PostreelError): boolean {
  return status === 429;
}

/** Carries any thrown value through p-retry, which rewraps what is not an error it knows. */
class Carrier extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('carried');
    this.reason = reason;
  }
}

function carry(reason: unknown): never {
  throw new Carrier(reason);
}

function reasonOf(failure: unknown): unknown {
  return failure instanceof Carrier ? failure.reason : failure;
}
