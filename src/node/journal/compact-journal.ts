import { randomUUID } from 'node:crypto';
import type { JobRecord } from '../../media/jobs/job.js';
import { earlierRun, pendingIn, type JournalEntry } from '../../media/jobs/journal.js';

/**
 * Says the same as the entries in as few as possible: the jobs that are not finished, the intents
 * that nobody knows the end of, and for named queues which of their jobs were handed in.
 */
export function compacted(entries: readonly JournalEntry[]): JournalEntry[] {
  const { jobs, unknown } = pendingIn(entries);
  const run = [...earlierRun(entries)];
  const unclear = new Set(unknown.flatMap(({ names = [] }) => names));
  const handedIn = run.flatMap(([name, job]) => (job === 'unknown' ? [] : [{ name, job }]));
  // Of a short answer: without an id, and yet their intent is answered.
  const withoutId = run.flatMap(([name, job]) =>
    job === 'unknown' && !unclear.has(name) ? [name] : [],
  );
  const known = new Set(run.map(([name]) => name));
  const taken = handedIn.map(({ job }) => job);
  return [
    ...unknown,
    ...answered([...unclear].filter((name) => !known.has(name))),
    ...answered([...handedIn.map(({ name }) => name), ...withoutId], taken),
    // In the order of pendingIn(), which the lines above do not keep.
    ...taken.map(({ fileId }) => ({ type: 'settled' as const, fileId, status: 'noted' })),
    ...(jobs.length > 0 ? [{ type: 'accepted' as const, id: randomUUID(), jobs }] : []),
  ];
}

/** An intent and its answer: the ids of jobs, or that nothing was done. */
function answered(names: readonly string[], jobs?: readonly JobRecord[]): JournalEntry[] {
  if (names.length === 0) {
    return [];
  }
  const id = randomUUID();
  const intent = { type: 'intent' as const, id, at: new Date().toISOString(), jobs: [], names };
  return [intent, jobs ? { type: 'accepted', id, jobs } : { type: 'refused', id }];
}
