import { isRecord } from '../contract/records.js';

/** How a job has ended. */
export type JobEnd = 'done' | 'failed' | 'canceled';

// The documents do not show every word, and services of this kind differ in them.
const ends: Readonly<Record<string, JobEnd>> = {
  completed: 'done',
  complete: 'done',
  done: 'done',
  finished: 'done',
  success: 'done',
  succeeded: 'done',
  failed: 'failed',
  failure: 'failed',
  error: 'failed',
  canceled: 'canceled',
  cancelled: 'canceled',
};

/** The status of a job as the service sent it, under `status` or `state`. */
export function statusOf(job: unknown): string | undefined {
  if (!isRecord(job)) {
    return undefined;
  }
  const status = job['status'] ?? job['state'];
  return typeof status === 'string' ? status : undefined;
}

/** How a job with this status has ended; `undefined` while it goes on, as with any other word. */
export function endOf(status: string | undefined): JobEnd | undefined {
  const word = status?.trim().toLowerCase() ?? '';
  return Object.hasOwn(ends, word) ? ends[word] : undefined;
}
