import { isRecord } from './records.js';

/** Where a job stands, whatever word its service uses. */
export type JobStage = 'active' | 'done' | 'failed';

const done = new Set(['completed', 'complete', 'done', 'finished', 'success', 'succeeded']);
const failed = new Set(['failed', 'failure', 'error']);
const canceled = new Set(['canceled', 'cancelled']);

/** Reads the status of a job. A word that is not known belongs to a job that is still active. */
export function jobStage(status: unknown): JobStage {
  if (done.has(wordOf(status))) {
    return 'done';
  }
  return failed.has(wordOf(status)) || isCanceled(status) ? 'failed' : 'active';
}

/** Was the job canceled? */
export function isCanceled(status: unknown): boolean {
  return canceled.has(wordOf(status));
}

/** The status of a job as its service sent it, under `status` or `state`. */
export function statusOf(job: unknown): string | undefined {
  if (!isRecord(job)) {
    return undefined;
  }
  const status = job['status'] ?? job['state'];
  return typeof status === 'string' ? status : undefined;
}

/** The same in lower case; empty where the service sent none. */
export function statusWord(job: unknown): string {
  return wordOf(statusOf(job));
}

function wordOf(status: unknown): string {
  return typeof status === 'string' ? status.trim().toLowerCase() : '';
}
