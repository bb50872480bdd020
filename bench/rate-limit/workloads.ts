import type { ServerKind, Limits } from './servers.js';

export type WorkloadKind = 'bulk' | 'late' | 'poisson';

export const workloadKinds: readonly WorkloadKind[] = ['bulk', 'late', 'poisson'];

/** The number of windows of work. */
export const windows = 5;
const lateShare = 0.9;
const poissonLoad = 0.95;

/** When each call is made, in order. */
export function callTimes(kind: WorkloadKind, limits: Limits, random: () => number): number[] {
  const count = windows * limits.limit;
  if (kind === 'bulk') {
    return new Array<number>(count).fill(0);
  }
  if (kind === 'late') {
    return [0, ...new Array<number>(count - 1).fill(lateShare * limits.windowMs)];
  }
  const times: number[] = [];
  const perMs = (poissonLoad * limits.limit) / limits.windowMs;
  for (let at = 0; at < windows * limits.windowMs; at -= Math.log(1 - random()) / perMs) {
    times.push(at);
  }
  return times;
}

/**
 * The least possible time from the moment the work is available: one window of calls at once, the
 * rest as fast as the service allows. For fixed windows, it assumes that their boundaries are
 * known.
 */
export function idealMs(
  { workload, server }: { workload: WorkloadKind; server: ServerKind },
  { windowMs }: Limits,
  phaseMs: number,
): number {
  if (server !== 'fixed') {
    return (windows - 1) * windowMs;
  }
  const untilNext = windowMs - ((startOf(workload, windowMs) + phaseMs) % windowMs);
  return (windows - 2) * windowMs + untilNext;
}

/** The time when nearly all of the work is available. */
export function startOf(kind: WorkloadKind, windowMs: number): number {
  return kind === 'late' ? lateShare * windowMs : 0;
}

/** The average wait of a call even if the boundaries of the service's windows are known. */
export function unavoidableWaitMs(times: readonly number[], { limit, windowMs }: Limits): number {
  const sent: number[] = [];
  let waitMs = 0;
  for (const [index, at] of times.entries()) {
    const before = sent[index - limit] ?? Number.NEGATIVE_INFINITY;
    const sentAt = Math.max(at, before + windowMs, sent[index - 1] ?? 0);
    sent.push(sentAt);
    waitMs += sentAt - at;
  }
  return waitMs / times.length;
}
