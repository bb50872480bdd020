import { ConfigurationError, isPostreelError, reasonOf } from '../core/errors.js';
import { isRecord } from '../core/values.js';
import type { MediaClient } from '../media/client.js';
import { EngineWorker, readEngineOptions, type EngineOptions } from '../media/engine.js';
import type { JobRecord } from '../media/jobs/job.js';
import { isOtherOwnerError } from '../media/jobs/ledger.js';

/** The members of a BullMQ job that the processor uses. */
export interface BullmqJob {
  readonly id?: string | undefined;
  /** The video, or the text to be spoken. */
  readonly data: unknown;
  readonly prefix: string;
  readonly queueName: string;
  /** The time when the job was added, in milliseconds since 1970. */
  readonly timestamp: number;
  /** The number of failed attempts. */
  readonly attemptsMade: number;
  /** Returns the job to the queue. */
  moveToWait(token?: string): Promise<unknown>;
  /** Returns the job to the queue, to be run at a later time (milliseconds since 1970). */
  moveToDelayed(timestamp: number, token?: string): Promise<unknown>;
}

// The delay of a job that another project's key submitted: its worker is busy or restarting.
const otherOwnerAgainMs = 30_000;

/**
 * Creates the processor of a BullMQ `Worker` that makes videos and speech. The `data` of each job is a video
 * or a text to be spoken. The processor submits it once, also when BullMQ runs the job again after a crash.
 * It waits for the file, saves it, and returns the record that finds the file again
 * (`media.job(returnvalue)`).
 *
 * From the second attempt on, a file that failed is made again. A job that may have been submitted, and a job
 * that can never be submitted, fail without further attempts.
 *
 * @param media - A client with a journal that all workers share.
 * @throws a `ConfigurationError` (`JOURNAL_MISSING`) when the client has no journal
 * @example
 * const stopping = new AbortController();
 * const make = bullmqProcessor(media, { save: saveTo('{fileId}.mp4'), signal: stopping.signal });
 * const worker = new Worker('videos', make, { connection, concurrency: 40, maxStalledCount: 100 });
 */
export function bullmqProcessor<Job extends BullmqJob = BullmqJob>(
  media: MediaClient,
  options: EngineOptions<Job>,
): (job: Job, token?: string) => Promise<JobRecord> {
  const { save, signal } = readEngineOptions(options, 'bullmqProcessor');
  const worker = new EngineWorker(media, 'bullmqProcessor');
  return async (job, token) => {
    checkJob(job);
    try {
      return await worker.run({
        // Job ids start at 1 in each queue, and again after the queue was emptied. The timestamp makes them
        // unique.
        queue: `bullmq/${job.prefix}/${job.queueName}`,
        key: `${job.id}/${job.timestamp}`,
        data: job.data,
        retriesFailed: job.attemptsMade > 0,
        signal,
        save: (file) => save(file, job),
      });
    } catch (failure) {
      if (signal?.aborted && failure === signal.reason) {
        await job.moveToWait(token);
        throw engineError('WaitingError', 'The worker stops.');
      }
      if (isOtherOwnerError(failure)) {
        await job.moveToDelayed(Date.now() + otherOwnerAgainMs, token);
        throw engineError('DelayedError', reasonOf(failure));
      }
      throw isFinal(failure)
        ? engineError('UnrecoverableError', reasonOf(failure), failure)
        : failure;
    }
  };
}

// BullMQ recognizes its errors by their names, as it does for sandboxed processors. So no import of `bullmq`
// is needed, and any copy of it works.
function engineError(
  name: 'WaitingError' | 'DelayedError' | 'UnrecoverableError',
  message: string,
  cause?: unknown,
): Error {
  return Object.assign(new Error(message, { cause }), { name });
}

/** Must the job not be retried? Another attempt would be refused, or could make a second video. */
function isFinal(failure: unknown): boolean {
  return (
    isPostreelError(failure) &&
    (failure.outcome === 'unknown' || failure.name === 'InvalidRequestError')
  );
}

function checkJob(job: unknown): void {
  // BullMQ 5.55 added `moveToWait()`, which returns a job without counting an attempt.
  if (!isRecord(job) || typeof job['moveToWait'] !== 'function') {
    throw new ConfigurationError(
      '`bullmqProcessor()` is for the jobs of a `Worker` of `bullmq` 5.55 or later.',
      { code: 'BULLMQ_MISSING' },
    );
  }
}
