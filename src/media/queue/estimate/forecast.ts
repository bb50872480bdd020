import { takes, type PaceSpread } from './pace.js';

/** The jobs of a queue and the limits that they go by. */
export interface Outlook {
  /** Jobs in progress: their minutes, and how long each has been. */
  readonly running: readonly { readonly minutes: number; readonly elapsedMs: number }[];
  /** Jobs that wait, in the order in which they go. */
  readonly waiting: readonly { readonly minutes: number; readonly isAlone: boolean }[];
  readonly slots: number;
  /** When the next call may be made, from now. */
  readonly nextCallMs: number;
  /** From one call to the next, in the long run. */
  readonly gapMs: number;
}

/** How long a queue still takes, in milliseconds. */
export interface QueueForecast {
  /** One in two queues like this one takes no longer. */
  readonly p50Ms: number;
  /** Nine in ten queues like this one take no longer. */
  readonly p90Ms: number;
}

const runs = 200;
// A finished file is seen at the next check.
const checkMs = 10_000;

/** Plays the rest of a queue through many times, each with other luck. */
export function forecast(outlook: Outlook, spread: PaceSpread): QueueForecast {
  const random = sequence();
  const ends = Array.from({ length: runs }, () => playThrough(outlook, spread, random));
  ends.sort((a, b) => a - b);
  const at = (share: number) => Math.round(ends[Math.ceil(share * runs) - 1] ?? 0);
  return { p50Ms: at(0.5), p90Ms: at(0.9) };
}

function playThrough(
  { running, waiting, slots, nextCallMs, gapMs }: Outlook,
  spread: PaceSpread,
  random: () => number,
): number {
  const pace = spread.draw(random);
  let inProgress = running.map(({ minutes, elapsedMs }) => {
    const tookMs = minutes * takes(pace, elapsedMs / minutes, random);
    return Math.max(0, tookMs - elapsedMs) + checkMs * random();
  });
  let lastMs = Math.max(0, ...inProgress);
  for (let place = 0, callMs = nextCallMs; place < waiting.length; callMs += gapMs) {
    callMs = Math.max(callMs, whenFree(inProgress, slots));
    const sentAt = callMs;
    inProgress = inProgress.filter((end) => end > sentAt);
    const count = waiting[place]?.isAlone ? 1 : slots - inProgress.length;
    for (const { minutes } of waiting.slice(place, place + count)) {
      const end = callMs + minutes * takes(pace, 0, random) + checkMs * random();
      inProgress.push(end);
      lastMs = Math.max(lastMs, end);
    }
    place += count;
  }
  return lastMs;
}

/** When fewer jobs are in progress than there are slots. */
function whenFree(ends: readonly number[], slots: number): number {
  const latest = [...ends].sort((a, b) => b - a);
  return latest[slots - 1] ?? 0;
}

/** Numbers from 0 up to 1 that are the same each time: a forecast must not flicker by itself. */
function sequence(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 4_294_967_296;
  };
}
