import type { Entry } from './steps/jobs.js';

/** A job in progress. */
export interface Running {
  readonly minutes: number;
  /** `undefined` for a job of an earlier run. */
  readonly startedAt: number | undefined;
}

/** What a queue still has before it. */
export interface Ahead {
  readonly running: Iterable<Running>;
  readonly waiting: readonly Entry[];
  /** How many jobs may be in progress at one time. */
  readonly slots: number;
  /** How long so many calls take with the rate limit. */
  readonly callsMs: (count: number) => number;
}

/** Estimates how long a queue still takes, from how long its files took so far. */
export class QueueEstimate {
  #minutes = 0;
  #tookMs = 0;

  /** A file is finished. */
  learn({ minutes, startedAt }: Running, now: number): void {
    if (startedAt !== undefined) {
      this.#minutes += minutes;
      this.#tookMs += now - startedAt;
    }
  }

  /** `undefined` before the first file is finished. */
  leftMs({ running, waiting, slots, callsMs }: Ahead, now: number): number | undefined {
    const jobs = [...running];
    if (jobs.length + waiting.length === 0) {
      return 0;
    }
    if (this.#minutes === 0) {
      return undefined;
    }
    const perMinuteMs = this.#tookMs / this.#minutes;
    const left = jobs.map(({ minutes, startedAt = now }) =>
      Math.max(0, minutes * perMinuteMs - (now - startedAt)),
    );
    const work = sum(left) + sum(waiting.map(({ minutes }) => minutes)) * perMinuteMs;
    return Math.max(work / slots, callsMs(callsFor(waiting, slots)), ...left);
  }
}

// A text goes by itself; videos share a call.
function callsFor(waiting: readonly Entry[], slots: number): number {
  const videos = waiting.filter(({ kind }) => kind === 'video').length;
  return waiting.length - videos + Math.ceil(videos / slots);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
