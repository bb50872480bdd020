import { onAbort } from './abort.js';

/** A signal for one attempt: it aborts with its timer or with the caller's own signal. */
export interface AttemptTimer {
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** Did the timer end the attempt, and not the caller? */
  readonly timedOut: boolean;
  /** Rejects when the signal aborts; never resolves. */
  readonly aborted: Promise<never>;
  /** Clears the timer and lets go of the caller's signal. */
  stop(): void;
}

/** The longest delay of a timer: a longer one overflows and fires at once. */
export const longestDelayMs = 2 ** 31 - 1;

/** Starts the timer of one attempt. One controller does both jobs: `AbortSignal.any` is slow. */
export function startTimer(timeoutMs: number, caller: AbortSignal | undefined): AttemptTimer {
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = new Promise<never>((_, reject) => {
    // The caller's reason may be any value at all.
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => undefined);
  let timedOut = false;
  const stopListening = caller && onAbort(caller, () => controller.abort(caller.reason));
  const timer = Number.isFinite(timeoutMs)
    ? setTimeout(
        () => {
          timedOut = true;
          controller.abort();
        },
        Math.min(timeoutMs, longestDelayMs),
      )
    : undefined;
  return {
    signal,
    limitMs: timeoutMs,
    aborted,
    get timedOut() {
      return timedOut;
    },
    stop() {
      clearTimeout(timer);
      stopListening?.();
    },
  };
}

/** Sleeps; an abort ends it at once with the signal's reason. */
export function sleep(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = () => {
      stopListening();
      resolve();
    };
    const timer = setTimeout(wake, Math.min(delayMs, longestDelayMs));
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
  const timer = startTimer(limitMs, signal);
  try {
    return await Promise.race([promise, timer.aborted]);
  } catch (failure) {
    if (timer.signal.aborted) {
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
