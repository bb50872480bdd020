import { sizesOf, spreadOf } from './paces.js';
import type { Draft } from './state.js';

const stepMs = 4_000;
const horizonMs = 60_000;
// A job that takes longer than nearly all others like it says nothing of when it will be done.
const overdue = 3;

/** About how long it takes until the next job in progress is finished; at most a minute. */
export function nextFinishMs(draft: Draft, now: number): number {
  const sizeOf = sizesOf(draft);
  const spread = spreadOf(draft.paces);
  const jobs = [...draft.running.values()].flatMap(({ entry, startedAt = now }) => {
    const mean = Math.log(sizeOf(entry));
    const place = (ms: number) => (Math.log(ms) - mean) / spread;
    const soFarMs = Math.max(1, now - startedAt);
    return place(soFarMs) < overdue ? [{ place, soFarMs }] : [];
  });
  let expectedMs = 0;
  for (let laterMs = stepMs / 2; laterMs < horizonMs; laterMs += stepMs) {
    const logs = jobs.map(
      ({ place, soFarMs }) =>
        logShareAbove(place(soFarMs + laterMs)) - logShareAbove(place(soFarMs)),
    );
    expectedMs += stepMs * Math.exp(logs.reduce((sum, log) => sum + log, 0));
  }
  return expectedMs;
}

/** The logarithm of the share of a normal distribution above a value, to three digits. */
function logShareAbove(value: number): number {
  return -Math.log1p(Math.exp(1.5976 * value + 0.07056 * value ** 3));
}
