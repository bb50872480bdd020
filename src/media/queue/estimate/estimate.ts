import type { Entry } from '../steps/jobs.js';
import { forecast, type QueueForecast } from './forecast.js';
import { PaceSpread, type PaceSample } from './pace.js';

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
  /** When the next call may be made, from now. */
  readonly nextCallMs: number;
  /** From one call with videos to the next. */
  readonly gapMs: number;
  /** Jobs of a list that have not been read yet. */
  readonly unread: number;
}

// Later jobs tell more about what is to come than the first ones of a long queue.
const maxSamples = 300;
// What a longer queue takes is in proportion.
const maxPlayed = 300;

/** Guesses how long a queue still takes, from how long its files took so far. */
export class QueueEstimate {
  #minutes = 0;
  #tookMs = 0;
  #finished: readonly PaceSample[] = [];

  /** A file is finished. */
  learn({ minutes, startedAt }: Running, now: number): void {
    if (startedAt === undefined) {
      return;
    }
    this.#minutes += minutes;
    this.#tookMs += now - startedAt;
    const sample = { pace: (now - startedAt) / minutes, isFinished: true };
    this.#finished = [...this.#finished, sample].slice(-maxSamples);
  }

  /** How the time that is left may turn out, by what is known now, worked out when it is asked for. */
  forecast(ahead: Ahead, now: number): () => QueueForecast | undefined {
    const finished = this.#finished;
    return () => (finished.length > 0 ? forecastOf(ahead, finished, now) : undefined);
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

function forecastOf(ahead: Ahead, finished: readonly PaceSample[], now: number): QueueForecast {
  const { waiting, slots, nextCallMs, unread } = ahead;
  const running = [...ahead.running].map(({ minutes, startedAt = now }) => ({
    minutes,
    elapsedMs: now - startedAt,
  }));
  const unfinished = running.map(({ minutes, elapsedMs }) => ({
    pace: elapsedMs / minutes,
    isFinished: false,
  }));
  const known = waiting.slice(0, maxPlayed).map(({ minutes, kind }) => ({
    minutes,
    isAlone: kind === 'audio',
  }));
  const usual = sum(waiting.map(({ minutes }) => minutes)) / Math.max(1, waiting.length);
  const count = Math.min(unread, maxPlayed - known.length);
  const rest = Array.from({ length: count }, () => ({ minutes: usual, isAlone: false }));
  const gapMs = Math.max(ahead.gapMs, ahead.callsMs(1_001) - ahead.callsMs(1_000));
  const played = [...known, ...rest];
  const scale = played.length > 0 ? (waiting.length + unread) / played.length : 1;
  const outlook = { running, waiting: played, slots, nextCallMs, gapMs };
  const { p50Ms, p90Ms } = forecast(outlook, new PaceSpread([...finished, ...unfinished]));
  return { p50Ms: Math.round(p50Ms * scale), p90Ms: Math.round(p90Ms * scale) };
}

// A text goes by itself; videos share a call.
function callsFor(waiting: readonly Entry[], slots: number): number {
  const videos = waiting.filter(({ kind }) => kind === 'video').length;
  return waiting.length - videos + Math.ceil(videos / slots);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
