import type { Entry, RunningJob } from './jobs.js';
import type { Draft, PaceSums, QueueState } from './state.js';

type Paces = QueueState['paces'];

// Fewer finished jobs would say too little of the others.
const enoughJobs = 30;
// A format is taken to be like all others until it has finished jobs of its own.
const priorJobs = 0.25;
// Before much is known, two in three jobs are taken to be within a factor of 1.3 of their pace.
const usualSpread = 0.3;
const spreadPriorJobs = 3;
const minSpread = 0.03;

/** A file is finished: jobs like it take about as long. */
export function learnPace(draft: Draft, running: RunningJob, now: number): void {
  const { entry, startedAt = now, checkedAt } = running;
  // It was finished some time between the last check and this one.
  const tookMs = (Math.max(startedAt, checkedAt) + now) / 2 - startedAt;
  if (tookMs <= 0 || entry.minutes <= 0 || running.missingDownloads > 0) {
    return;
  }
  const pace = Math.log(tookMs / entry.minutes);
  const { count, sum, squares } = draft.paces.get(entry.format) ?? nothing;
  const after = { count: count + 1, sum: sum + pace, squares: squares + pace ** 2 };
  draft.paces.set(entry.format, after);
}

/** Have enough jobs been finished to go by how long they took? */
export function hasLearned({ paces }: Pick<QueueState, 'paces'>): boolean {
  return all(paces).count >= enoughJobs;
}

/**
 * What the jobs are ordered by: the time that each is likely to take, once that is known; before
 * that the minutes of its result.
 */
export function sizesOf(state: Pick<QueueState, 'paces'>): (entry: Entry) => number {
  if (!hasLearned(state)) {
    return ({ minutes }) => minutes;
  }
  const { paces } = state;
  const { count, sum } = all(paces);
  const usual = sum / count;
  return ({ format, minutes }) => {
    const own = paces.get(format) ?? nothing;
    return minutes * Math.exp((own.sum + usual * priorJobs) / (own.count + priorJobs));
  };
}

/** How far jobs of the same format are apart: the deviation of the logarithm of their pace. */
export function spreadOf(paces: Paces): number {
  let squares = spreadPriorJobs * usualSpread ** 2;
  let freedom = spreadPriorJobs;
  for (const own of paces.values()) {
    squares += Math.max(0, own.squares - own.sum ** 2 / own.count);
    freedom += own.count - 1;
  }
  return Math.max(minSpread, Math.sqrt(squares / freedom));
}

const nothing: PaceSums = { count: 0, sum: 0, squares: 0 };

function all(paces: Paces): { readonly count: number; readonly sum: number } {
  let count = 0;
  let sum = 0;
  for (const own of paces.values()) {
    count += own.count;
    sum += own.sum;
  }
  return { count, sum };
}
