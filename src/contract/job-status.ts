/** Where a job stands, whatever word its service uses. */
export type JobStage = 'active' | 'done' | 'failed';

const done = new Set(['completed', 'complete', 'done', 'finished', 'success', 'succeeded']);
const failed = new Set(['failed', 'failure', 'error', 'canceled', 'cancelled']);

/** Reads the status of a job. A word that is not known belongs to a job that is still active. */
export function jobStage(status: unknown): JobStage {
  const word = typeof status === 'string' ? status.trim().toLowerCase() : '';
  if (done.has(word)) {
    return 'done';
  }
  return failed.has(word) ? 'failed' : 'active';
}
