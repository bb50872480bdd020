/** Time and cancellation: aborts, timers, sleeps. Every wait in this package uses them. */

/** The longest delay of a timer: a longer one overflows and fires at once. */
export const maxDelayMs = 2 ** 31 - 1;

/**
 * The current time in milliseconds, which never goes back: the wall clock may be set back while a call
 * waits.
 */
export function monotonicMs(): number {
  return performance.now();
}

/** The clock of a client: that of the process, or that of a fake. */
export interface Clock {
  /** The current time in milliseconds, which never goes back. */
  now(): number;
  /** Runs a task once at that time; returns a function that cancels it. */
  at(time: number, task: () => void, options?: TaskOptions): () => void;
  /** Runs a task when a running operation exceeds its time limit; a fake's time waits for that operation. */
  limit(delayMs: number, task: () => void): () => void;
}

/** How a clock treats a scheduled task. */
export interface TaskOptions {
  /** Does the task keep the process alive until it has run? @default true */
  readonly keepsAlive?: boolean;
  /** Does a fake's time advance for the task? @default true */
  readonly movesTime?: boolean;
}

/** The clock of the process. */
export const systemClock: Clock = {
  now: monotonicMs,
  at(time, task, { keepsAlive = true } = {}) {
    const delayMs = Math.max(0, Math.ceil(time - monotonicMs()));
    const timer: unknown = setTimeout(task, Math.min(delayMs, maxDelayMs));
    if (!keepsAlive) {
      (timer as { unref?: () => void }).unref?.(); // a browser's timer is a number
    }
    return () => clearTimeout(timer as number); // as: the timer of setTimeout()
  },
  limit(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, maxDelayMs));
    return () => clearTimeout(timer);
  },
};

// The `fetch` of a fake carries the fake's clock under this symbol. It is registered globally, because a
// program may hold several copies of the package.
const clockOfFetch = Symbol.for('postreel.clock');

/** The clock for a client that uses this `fetch`. */
export function clockFor(fetch: typeof globalThis.fetch | undefined): Clock {
  return (fetch as { [clockOfFetch]?: Clock } | undefined)?.[clockOfFetch] ?? systemClock;
}

/** Makes the clients of a fake use its clock. */
export function withClock(fetch: typeof globalThis.fetch, clock: Clock): typeof globalThis.fetch {
  return Object.defineProperty(fetch, clockOfFetch, { value: clock });
}

// One listener per signal, however many calls share it: Node warns at eleven.
const listenersOf = new WeakMap<AbortSignal, AbortListeners>();

interface AbortListeners {
  readonly listeners: Set<() => void>;
  readonly run: () => void;
}

/**
 * Calls the listener once when the signal aborts, or at once if it already has. Returns a function that
 * stops listening.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal || signal.aborted) {
    if (signal) {
      listener();
    }
    return noop;
  }
  const watch = listenersOf.get(signal) ?? watchSignal(signal);
  // A new function, because the same listener may be added twice.
  const own = () => listener();
  watch.listeners.add(own);
  return () => {
    if (watch.listeners.delete(own) && watch.listeners.size === 0) {
      signal.removeEventListener('abort', watch.run);
      listenersOf.delete(signal);
    }
  };
}

function watchSignal(signal: AbortSignal): AbortListeners {
  const listeners = new Set<() => void>();
  const run = () => {
    listenersOf.delete(signal);
    [...listeners].forEach((one) => one());
  };
  signal.addEventListener('abort', run, { once: true });
  listenersOf.set(signal, { listeners, run });
  return { listeners, run };
}

/** The same promise, except that an abort rejects it at once with the signal's reason. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal ? new Timer(Infinity, signal, systemClock).withinThenStop(promise) : promise;
}

/** Is this failure the caller's abort? Its reason may be any value, including an error of this library. */
export function isAbortOf(signal: AbortSignal | undefined, failure: unknown): boolean {
  return signal !== undefined && signal.aborted && failure === signal.reason;
}

/**
 * Ends an operation when its time is up or the caller aborts. One controller does both, because
 * `AbortSignal.any` is slow. Without a limit and a caller's signal there is no controller.
 */
export class Timer {
  /** Aborts when the time is up or the caller aborts. */
  readonly signal: AbortSignal | undefined;
  readonly limitMs: number;
  /** Did the time limit end the operation, and not the caller? */
  timedOut = false;
  readonly #controller: AbortController | undefined;
  readonly #stopTimer: (() => void) | undefined;
  readonly #stopListening: (() => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  constructor(limitMs: number, caller: AbortSignal | undefined, clock: Clock) {
    this.limitMs = limitMs;
    const hasLimit = Number.isFinite(limitMs);
    if (!hasLimit && !caller) {
      return;
    }
    this.#controller = new AbortController();
    this.signal = this.#controller.signal;
    if (hasLimit) {
      this.#stopTimer = clock.limit(limitMs, () => {
        this.timedOut = true;
        this.#abort();
      });
    }
    if (caller) {
      this.#stopListening = onAbort(caller, () => this.#abort(caller.reason));
    }
  }

  /** The same promise, except that it rejects with the signal's reason if the signal aborts first. */
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

  /** Like `within()`, for the last promise that is timed: stops the timer afterwards. */
  withinThenStop<T>(promise: Promise<T>): Promise<T> {
    return this.within(promise).finally(() => this.stop());
  }

  /** Clears the timer and stops listening to the caller's signal. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopListening?.();
  }

  #abort(reason?: unknown): void {
    this.#controller?.abort(reason);
    this.#reject?.(this.signal?.reason);
  }
}

/** Sleeps. An abort rejects at once with the signal's reason. */
export function sleep(
  delayMs: number,
  signal: AbortSignal | undefined,
  clock = systemClock,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopTimer = clock.at(clock.now() + delayMs, () => {
      stopListening();
      resolve();
    });
    const stopListening = onAbort(signal, () => {
      stopTimer();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
      reject(signal?.reason);
    });
  });
}

/** The limits of a wait for an answer. */
interface AnswerTerms<T> {
  /** Receives an answer that arrives too late. */
  readonly onLate: (value: T) => void;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
}

/** The same promise, except that it rejects after `limitMs` or when the signal aborts. */
export async function answerWithin<T>(
  promise: Promise<T>,
  limitMs: number,
  { onLate, signal, clock = systemClock }: AnswerTerms<T>,
): Promise<T> {
  const timer = new Timer(limitMs, signal, clock);
  try {
    return await timer.withinThenStop(promise);
  } catch (failure) {
    if (timer.signal?.aborted) {
      promise.then(onLate).catch(noop);
    }
    throw timer.timedOut ? new Error(`No answer within ${limitMs} ms.`) : failure;
  }
}

/** Calls a callback of the caller. If it throws, or rejects later, only `onError` receives the error. */
export function callSafely(
  callback: () => unknown,
  onError: (error: unknown) => void = noop,
): void {
  try {
    const result = callback();
    if (typeof result === 'object' && result !== null && 'then' in result) {
      (result as PromiseLike<unknown>).then(undefined, onError); // an async function fails later
    }
  } catch (error) {
    onError(error);
  }
}

/** A one-slot notification: wakes the waiter, or the next one if nobody is waiting. */
export class Notifier {
  #isNotified = false;
  #wake: () => void = noop;

  notify(): void {
    this.#isNotified = true;
    this.#wake();
  }

  /** Resolves after `notify()`, or after `maxMs`. */
  async wait(maxMs = Number.POSITIVE_INFINITY, clock = systemClock): Promise<void> {
    let stopTimer: (() => void) | undefined;
    if (!this.#isNotified) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (Number.isFinite(maxMs)) {
          stopTimer = clock.at(clock.now() + Math.max(1, maxMs), resolve);
        }
      });
    }
    stopTimer?.();
    this.#isNotified = false;
  }
}

function noop(): void {
  // nothing to do
}

// Read at import, so that fake timers in a user's tests cannot block the code that waits here.
const { setImmediate: immediate, setTimeout: later } = globalThis;

/** Resolves after one turn of the event loop. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    // Fake timers may have been installed before the import, but they never replace MessageChannel.
    if (typeof immediate === 'function' && !('clock' in immediate)) {
      immediate(resolve);
    } else if (typeof MessageChannel === 'function') {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(undefined);
    } else {
      later(resolve, 0);
    }
  });
}
