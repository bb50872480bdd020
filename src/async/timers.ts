import { onAbort } from './abort.js';

/** The longest delay of a timer: a longer one overflows and fires at once. */
export const maxDelayMs = 2 ** 31 - 1;

/**
 * Ends one attempt when its time is up or the caller aborts. One controller does both jobs, since
 * `AbortSignal.any` is slow; where nothing can end the attempt there is none.
 */
export class AttemptTimer {
  /** Aborts with the timer or with the caller's own signal. */
  readonly signal: AbortSignal | undefined;
  readonly limitMs: number;
  readonly #controller: AbortController | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #stopListening: (() => void) | undefined;
  #timedOut = false;
  #reject: ((reason: unknown) => void) | undefined;

  constructor(limitMs: number, caller: AbortSignal | undefined) {
    this.limitMs = limitMs;
    const hasLimit = Number.isFinite(limitMs);
    if (!hasLimit && !caller) {
      return;
    }
    this.#controller = new AbortController();
    this.signal = this.#controller.signal;
    if (hasLimit) {
      this.#timer = setTimeout(AttemptTimer.#end, Math.min(limitMs, maxDelayMs), this);
    }
    if (caller) {
      this.#stopListening = onAbort(caller, () => this.#abort(caller.reason));
    }
  }

  /** Did the timer end the attempt, and not the caller? */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** The same promise, but it rejects with the signal's reason when the signal aborts first. */
  within<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this;
    if (!signal) {
      return promise;
    }
    return new Promise<T>((resolve, reject) => {
      promise.then(resolve, reject);
      if (signal.aborted) {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
        reject(signal.reason);
      }
      this.#reject = reject;
    });
  }

  /** Clears the timer and lets go of the caller's signal. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#stopListening?.();
  }

  // Static: a function of its own for each attempt would cost more than the timer.
  static readonly #end = (timer: AttemptTimer): void => {
    timer.#timedOut = true;
    timer.#abort();
  };

  #abort(reason?: unknown): void {
    this.#controller?.abort(reason);
    this.#reject?.(this.signal?.reason);
  }
}

/** Sleeps; an abort ends it at once with the signal's reason. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      stopListening();
      resolve();
    };
    const timer = setTimeout(wake, Math.min(delayMs, maxDelayMs));
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer);
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
      reject(signal?.reason);
    });
  });
}

/**
 * The same promise, but it fails when it takes too long or the signal aborts; what comes later
 * goes to `onLate`.
 */
export async function answerWithin<T>(
  promise: Promise<T>,
  limitMs: number,
  { onLate, signal }: { onLate: (value: T) => void; signal: AbortSignal | undefined },
): Promise<T> {
  const timer = new AttemptTimer(limitMs, signal);
  try {
    return await timer.within(promise);
  } catch (failure) {
    if (timer.signal?.aborted) {
      promise.then(onLate).catch(() => undefined);
    }
    throw timer.timedOut ? new Error(`No answer within ${limitMs} ms.`) : failure;
  } finally {
    timer.stop();
  }
}

/**
 * Does every request have an I/O context of its own, as in Cloudflare's workers and Vercel's edge?
 * There a timer or an answer of one request must never resume another: that one would hang.
 */
export function hasIoContexts(): boolean {
  return 'WebSocketPair' in globalThis || 'EdgeRuntime' in globalThis;
}

/** A number from 0 up to 1. */
export type RandomSource = () => number;

/** Milliseconds that only go forward: the wall clock may be set back while a call waits. */
export function monotonicMs(): number {
  return performance.now();
}
