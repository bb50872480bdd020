import { monotonicMs, answerWithin, maxDelayMs } from './timers.js';

/** The time that waits go by: the process's own, or a test's. */
export interface Clock {
  /** Milliseconds that only go forward. */
  now(): number;
  /** Runs a task once at that time; returns a way to stop it. Keeps the process alive meanwhile. */
  at(time: number, task: () => void): () => void;
  /** The same promise, but it fails when it takes too long; what comes later goes to `onLate`. */
  within<T>(promise: Promise<T>, limitMs: number, onLate: (value: T) => void): Promise<T>;
}

// Never aborted: a store is given its full time.
const never = new AbortController().signal;

/** The process's own time. */
export const systemClock: Clock = {
  now: monotonicMs,
  at(time, task) {
    const delayMs = Math.min(Math.max(0, Math.ceil(time - monotonicMs())), maxDelayMs);
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  },
  within: (promise, limitMs, onLate) => answerWithin(promise, limitMs, { onLate, signal: never }),
};
