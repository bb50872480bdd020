/**
 * Time and ends: aborts, timers, sleeps. Everything that waits in this package is made of these.
 */

/** The longest delay of a timer: a longer one overflows and fires at once. */
export const maxDelayMs = 2 ** 31 - 1;

/** Milliseconds that only go forward: the wall clock may be set back while a call waits. */
export function monotonicMs(): number {
  return performance.now();
}

/** The time that a client goes by: the process's own, or that of a fake. */
export interface Clock {
  /** Milliseconds that only go forward. */
  now(): number;
  /** Runs a task once at that time; returns a way to stop it. */
  at(time: number, task: () => void, options?: TaskOptions): () => void;
  /** The same for the time limit of something that runs meanwhile: a fake's time waits for that. */
  limit(delayMs: number, task: () => void): () => void;
}

/** How a clock treats a task that is run later. */
export interface TaskOptions {
  /** Does the task keep the process alive until it has run? @default true */
  readonly keepsAlive?: boolean;
  /** Does a fake's time move on for the task? @default true */
  readonly movesTime?: boolean;
}

/** The process's own time. */
export const systemClock: Clock = {
  now: monotonicMs,
  at(time, task, { keepsAlive = true } = {}) {
    const delayMs = Math.max(0, Math.ceil(time - monotonicMs()));
    const timer: unknown = setTimeout(task, Math.min(delayMs, maxDelayMs));
    if (!keepsAlive) {
      (timer as { unref?: () => void }).unref?.(); // a browser's timer is a number
    }
    return () => clearTimeout(timer as number); // as setTimeout() gave it
  },
  limit(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, maxDelayMs));
    return () => clearTimeout(timer);
  },
};

// Under it the `fetch` of a fake carries the fake's clock; of the registry, for all copies of the package.
const clockOfFetch = Symbol.for('postreel.clock');

/** The clock for a client that sends with this `fetch`. */
export function clockFor(fetch: typeof globalThis.fetch | undefined): Clock {
  return (fetch as { [clockOfFetch]?: Clock } | undefined)?.[clockOfFetch] ?? systemClock;
}

/** Lets the clients of a fake go by its clock. */
export function withClock(fetch: typeof globalThis.fetch, clock: Clock): typeof globalThis.fetch {
  return Object.defineProperty(fetch, clockOfFetch, { value: clock });
}

/**
 * Does every request have an I/O context of its own, as in Cloudflare's workers and Vercel's edge?
 * There a timer or an answer of one request must never resume another: that one would hang.
 */
export function hasIoContexts(): boolean {
  return 'WebSocketPair' in globalThis || 'EdgeRuntime' in globalThis;
}

// One listener per signal, however many calls share it: Node warns at eleven.
const watched = new WeakMap<AbortSignal, Watch>();

interface Watch {
  readonly listeners: Set<() => void>;
  readonly run: () => void;
}

/** Calls back once when the signal aborts, at once if it has; returns a way to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal || signal.aborted) {
    if (signal) {
      listener();
    }
    return noop;
  }
  const watch = watched.get(signal) ?? watchOf(signal);
  // A function of its own: the same listener may be there twice.
  const own = () => listener();
  watch.listeners.add(own);
  return () => {
    if (watch.listeners.delete(own) && watch.listeners.size === 0) {
      signal.removeEventListener('abort', watch.run);
      watched.delete(signal);
    }
  };
}

function watchOf(signal: AbortSignal): Watch {
  const listeners = new Set<() => void>();
  const run = () => {
    watched.delete(signal);
    [...listeners].forEach((one) => one());
  };
  signal.addEventListener('abort', run, { once: true });
  watched.set(signal, { listeners, run });
  return { listeners, run };
}

/** The same promise, but an abort rejects at once with the signal's reason. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal ? new Timer(Infinity, signal, systemClock).last(promise) : promise;
}

/** Is this failure the caller's abort? Its reason may be any value, an error of ours included. */
export function isAbortOf(signal: AbortSignal | undefined, failure: unknown): boolean {
  return signal !== undefined && signal.aborted && failure === signal.reason;
}

/**
 * Ends something when its time is up or the caller aborts. One controller does both jobs, since
 * `AbortSignal.any` is slow; where nothing can end it there is none.
 */
export class Timer {
  /** Aborts with the timer or with the caller's own signal. */
  readonly signal: AbortSignal | undefined;
  readonly limitMs: number;
  /** Did the timer end it, and not the caller? */
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

  /** The same for the last thing that is timed. */
  last<T>(promise: Promise<T>): Promise<T> {
    return this.within(promise).finally(() => this.stop());
  }

  /** Clears the timer and lets go of the caller's signal. */
  stop(): void {
    this.#stopTimer?.();
    this.#stopListening?.();
  }

  #abort(reason?: unknown): void {
    this.#controller?.abort(reason);
    this.#reject?.(this.signal?.reason);
  }
}

/** Sleeps; an abort ends it at once with the signal's reason. */
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

/** What may end the wait for an answer. */
interface AnswerTerms<T> {
  /** Takes what comes later. */
  readonly onLate: (value: T) => void;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
}

/** The same promise, but it fails when it takes too long or the signal aborts. */
export async function answerWithin<T>(
  promise: Promise<T>,
  limitMs: number,
  { onLate, signal, clock = systemClock }: AnswerTerms<T>,
): Promise<T> {
  const timer = new Timer(limitMs, signal, clock);
  try {
    return await timer.last(promise);
  } catch (failure) {
    if (timer.signal?.aborted) {
      promise.then(onLate).catch(noop);
    }
    throw timer.timedOut ? new Error(`No answer within ${limitMs} ms.`) : failure;
  }
}

/** Calls a callback of the caller: what it throws, or rejects with later, goes to `onError` only. */
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

/** A one-slot signal: it wakes the waiter, or the next one if none is waiting. */
export class Notifier {
  #isNotified = false;
  #wake: () => void = noop;

  notify(): void {
    this.#isNotified = true;
    this.#wake();
  }

  /** Resolves after `notify()`, or after so long. */
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

// Taken at import, so that fake timers in a user's tests cannot stop what waits for it.
const { setImmediate: immediate, setTimeout: later } = globalThis;

/** A turn of the event loop. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    // Fake timers may have been there before the import; they never fake messages.
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
