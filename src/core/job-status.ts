import { isRecord } from './values.js';

/** The stage of a job, whatever words its service uses for its status. */
export type JobStage = 'active' | 'done' | 'failed';

const done = new Set(['completed', 'complete', 'done', 'finished', 'success', 'succeeded']);
const failed = new Set(['failed', 'failure', 'error']);
const canceled = new Set(['canceled', 'cancelled']);

/** The stage of a job by its status. A job with an unknown status counts as active. */
export function stageOf(status: unknown): JobStage {
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
  const status = isRecord(job) ? (job['status'] ?? job['state']) : undefined;
  return typeof status === 'string' ? status : undefined;
}

/** The status of a job in lower case; empty if the service sent none. */
export function statusWordOf(job: unknown): string {
  return wordOf(statusOf(job));
}

function wordOf(status: unknown): string {
  return typeof status === 'string' ? status.trim().toLowerCase() : '';
}
