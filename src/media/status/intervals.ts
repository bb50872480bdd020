/** The kind of a generated file. */
export type FileKind = 'video' | 'audio';

/** The times of a wait for one kind of file, in milliseconds. */
export interface Pace {
  readonly timeoutMs: number;
  /** The minimum time that a new job takes: the first check waits for it. */
  readonly freshMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

// "Recommended polling interval for video: every 10 seconds; for audio, every few seconds"
export const paces: Readonly<Record<FileKind, Pace>> = {
  video: { timeoutMs: 30 * 60_000, freshMs: 10_000, minMs: 10_000, maxMs: 30_000 },
  audio: { timeoutMs: 10 * 60_000, freshMs: 3_000, minMs: 3_000, maxMs: 5_000 },
};

/** The wait options of a program that makes many jobs: it checks more often and times out later. */
export function batchPace(kind: FileKind): { timeout: number; interval: number | 'auto' } {
  return { timeout: 6 * 60 * 60_000, interval: kind === 'video' ? 10_000 : 'auto' };
}

const growth = 1.25;
const jitter = 0.1;

/** Milliseconds until the next check, with jitter. They grow with every check that finds the same status. */
export function growingDelayMs(pace: Pace, checksAtStatus: number, random = Math.random): number {
  const delayMs = Math.min(pace.maxMs, pace.minMs * growth ** Math.max(0, checksAtStatus - 1));
  return delayMs * (1 - jitter + 2 * jitter * random());
}

/** Calls the caller's `interval` function. Uses the usual delay when it throws or returns no valid number. */
export function customDelayMs(ask: () => number, usualMs: number): number {
  try {
    const askedMs = ask();
    return askedMs >= 0 ? askedMs : usualMs;
  } catch {
    return usualMs;
  }
}

/** Formats a duration for people: `50 ms`, `40 s`, `2.5 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) {
    return `${Math.round(ms)} ms`;
  }
  return ms < 60_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 6_000) / 10} min`;
}
