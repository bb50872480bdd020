import type { Entry } from './jobs.js';
import type { Draft } from './state.js';

/** Puts jobs among those that wait: longest first. */
export function putBack(draft: Draft, entries: readonly Entry[]): void {
  for (const entry of entries) {
    const place = draft.waiting.findIndex((other) => inOrder(entry, other) < 0);
    draft.waiting.splice(place < 0 ? draft.waiting.length : place, 0, entry);
  }
}

/** The jobs of the next call: the longest videos of one brand, one that is suspect, or one text to speak. */
export function nextBatch(draft: Draft, count: number): Entry[] {
  const { waiting } = draft;
  const [first] = waiting;
  if (!first || count <= 0) {
    return [];
  }
  if (first.kind === 'audio' || isSuspect(draft, first)) {
    return [first];
  }
  // "applies to every video of the request" (Brand kit behaviour): others must not get it.
  const isSameCall = (entry: Entry) =>
    entry.kind === 'video' && entry.brand === first.brand && !isSuspect(draft, entry);
  return waiting.filter(isSameCall).slice(0, count);
}

/**
 * May the service refuse this job for what no other one has shown? Then it goes alone: a refusal of
 * several does not tell which of them were made all the same.
 */
function isSuspect({ granted, grantedDuration }: Draft, { needs, duration }: Entry): boolean {
  return duration > grantedDuration || needs.some((need) => !granted.has(need));
}

/** Takes jobs out of those that wait. */
export function takeOut(draft: Draft, entries: readonly Entry[]): void {
  const taken = new Set(entries.map(({ index }) => index));
  draft.waiting = draft.waiting.filter(({ index }) => !taken.has(index));
}

function inOrder(entry: Entry, other: Entry): number {
  return (
    (entry.refusals ?? 0) - (other.refusals ?? 0) ||
    other.minutes - entry.minutes ||
    entry.index - other.index
  );
}
