import pRetry from 'p-retry';

/** Why a repeat is allowed, and how long to wait before it. */
export interface Repeat {
  readonly delayMs: number;
}

/** How failed attempts are repeated. */
export interface RetryPolicy {
  readonly retries: number;
  /** Decides about one failure; `undefined` gives up. */
  decide(failure: unknown, attempt: number): Repeat | undefined;
  /** Does a repeat after this failure count? A refusal to wait for does not. */
  counts(failure: unknown): boolean;
  /** Waits before the next attempt; rejects when the caller aborts. */
  wait(delayMs: number): Promise<void>;
}

/**
 * Runs an attempt again and again as the policy allows. Delays are ours: p-retry's own are zero.
 * Whatever an attempt throws, an abort's reason included, comes out as it went in.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  policy: RetryPolicy,
): Promise<T> {
  if (policy.retries <= 0) {
    return attempt(1);
  }
  try {
    return await pRetry((number) => attempt(number).catch(carry), {
      retries: policy.retries,
      minTimeout: 0,
      maxTimeout: 0,
      shouldConsumeRetry: (context) => policy.counts(reasonOf(context.error)),
      async shouldRetry(context) {
        const repeat = policy.decide(reasonOf(context.error), context.attemptNumber);
        if (!repeat) {
          return false;
        }
        await policy.wait(repeat.delayMs).catch(carry);
        return true;
      },
    });
  } catch (failure) {
    throw reasonOf(failure);
  }
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
