import { callSafely } from '../async/notifier.js';
import { jobStage, statusOf } from '../contract/job-status.js';
import { readOptions } from '../contract/options.js';
import { isRecord, type OpenRecord } from '../contract/records.js';
import { JobFailedError, WaitTimeoutError } from '../errors/wait-errors.js';
import { poll, type Check } from './poll.js';
import { recordWaitOptions } from './record.js';
import type { Spacing } from './spacing.js';
import { passingDelayMs } from './failed-check.js';

/** What a status check of a job found. */
export interface JobUpdate<Job> {
  readonly jobId: string;
  readonly status: string | undefined;
  /** As the service sent it: a share, a percentage, or not at all. */
  readonly progress: unknown;
  /** The number of this status check, from 1. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly nextPollInMs: number;
  readonly raw: Job;
}

/** How to wait for an import or bulk job. All times are in milliseconds. */
export interface JobWaitOptions<Job> {
  /**
   * The longest that the wait may take, in milliseconds; `Infinity` is allowed.
   * @default 600_000
   */
  timeout?: number | undefined;
  /**
   * The time between two status checks, in milliseconds.
   * @default 2_000
   */
  interval?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with every status check. What it throws is ignored. */
  onUpdate?: ((update: JobUpdate<Job>) => void) | undefined;
  /** Decides whether a job is done, for statuses that are not in the documents. */
  isDone?: ((job: Job) => boolean) | undefined;
}

/** What the waits of one client share. */
export interface JobWatch {
  readonly spacing: Spacing;
  /** Tells the client's listeners of a status check. */
  readonly report: (update: JobUpdate<OpenRecord>) => void;
}

/**
 * Waits until an import or bulk job is done. One that is gone before that rejects with a `NotFoundError`:
 * how it ended is not known.
 */
export async function waitForJob<Job extends OpenRecord>(
  jobId: string,
  check: (signal: AbortSignal | undefined) => Promise<Job>,
  watch: JobWatch,
  given: JobWaitOptions<Job> | undefined,
): Promise<Job> {
  const options = readOptions<JobWaitOptions<Job>>(given, recordWaitOptions, { name: 'a wait' });
  const { timeout = 600_000, interval = 2_000, signal, onUpdate, isDone } = options;
  const resume = async (again?: object) => {
    const changes = readOptions(again, recordWaitOptions, { name: 'a wait' });
    return waitForJob(jobId, check, watch, { ...options, ...changes });
  };
  return poll<Job, Job>({
    signal,
    timeoutMs: timeout,
    firstDelayMs: 0,
    nextDelayMs: () => interval,
    statusOf,
    passingDelayMs: (error, failures) => passingDelayMs(error, failures, interval),
    refusedDelayMs: interval,
    check: (until) => watch.spacing(() => check(until), until),
    finish: (found) => finish(jobId, found, isDone),
    report(found, nextPollInMs) {
      const update = updateOf(jobId, found, nextPollInMs);
      watch.report(update);
      callSafely(() => onUpdate?.(update));
    },
    timeoutError: (last, polls, elapsedMs) =>
      new WaitTimeoutError(
        `Job ${jobId} was not done within ${Math.round(elapsedMs / 1000)} s (last status "${last?.status ?? 'none'}"). The job goes on; call \`resume({ timeout })\`, in milliseconds, to wait on.`,
        { id: jobId, lastStatus: last?.status, elapsedMs, polls, resume, outcome: 'unknown' },
      ),
  });
}

function finish<Job>(
  jobId: string,
  { record, status }: Check<Job>,
  isDone: ((job: Job) => boolean) | undefined,
): { result: Job } | undefined {
  if (isDone ? isDone(record) : jobStage(status) === 'done') {
    return { result: record };
  }
  if (status !== undefined && jobStage(status) === 'failed') {
    throw new JobFailedError(`Job ${jobId} ended with the status "${status}".`, {
      jobId,
      job: record,
      outcome: 'unknown', // it may have done a part
    });
  }
  return undefined;
}

function updateOf<Job>(
  jobId: string,
  { status, attempt, elapsedMs, record }: Check<Job>,
  nextPollInMs: number,
): JobUpdate<Job> {
  const progress = isRecord(record) ? record['progress'] : undefined;
  return { jobId, status, progress, attempt, elapsedMs, nextPollInMs, raw: record };
}
