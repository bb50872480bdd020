import type { Entry } from './jobs.js';
import type { Draft } from './state.js';

/** Puts jobs among those that wait: longest first; parts of a refused call before all others. */
export function putBack(draft: Draft, entries: readonly Entry[]): void {
  for (const entry of entries) {
    const place = draft.waiting.findIndex((other) => inOrder(entry, other) < 0);
    draft.waiting.splice(place < 0 ? draft.waiting.length : place, 0, entry);
  }
}

/** Puts the jobs of a refused call back in two halves, which go in calls of their own. */
export function putBackInHalves(draft: Draft, entries: readonly Entry[]): void {
  const middle = Math.ceil(entries.length / 2);
  for (const half of [entries.slice(0, middle), entries.slice(middle)]) {
    const group = ++draft.groups;
    putBack(
      draft,
      half.map((entry) => ({ ...entry, group })),
    );
  }
}

/** The jobs of the next call: the longest videos of one brand, or one text to speak. */
export function nextBatch(waiting: readonly Entry[], count: number): Entry[] {
  const [first] = waiting;
  if (!first || count <= 0) {
    return [];
  }
  if (first.kind === 'audio') {
    return [first];
  }
  // "applies to every video of the request" (Brand kit behaviour): others must not get it.
  const isSameCall = ({ kind, group, brand }: Entry) =>
    kind === 'video' && group === first.group && brand === first.brand;
  return waiting.filter(isSameCall).slice(0, count);
}

/** Takes jobs out of those that wait. */
export function takeOut(draft: Draft, entries: readonly Entry[]): void {
  const taken = new Set(entries.map(({ index }) => index));
  draft.waiting = draft.waiting.filter(({ index }) => !taken.has(index));
}

function inOrder(entry: Entry, other: Entry): number {
  const last = Number.MAX_SAFE_INTEGER;
  return (
    (entry.group ?? last) - (other.group ?? last) ||
    other.minutes - entry.minutes ||
    entry.index - other.index
  );
}
