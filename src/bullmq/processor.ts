import { ConfigurationError, isPostreelError, reasonOf } from '../core/errors.js';
import { isRecord } from '../core/values.js';
import type { MediaClient } from '../media/client.js';
import { EngineWorker, readEngineOptions, type EngineOptions } from '../media/engine.js';
import type { JobRecord } from '../media/jobs/job.js';
import { isOfOther } from '../media/jobs/ledger.js';

/** What is used of a BullMQ job. */
export interface BullmqJob {
  readonly id?: string | undefined;
  /** The video, or the text to be spoken. */
  readonly data: unknown;
  readonly prefix: string;
  readonly queueName: string;
  /** When it was added. */
  readonly timestamp: number;
  /** How many tries have failed. */
  readonly attemptsMade: number;
  /** Hands it back. */
  moveToWait(token?: string): Promise<unknown>;
  /** Hands it back for later. */
  moveToDelayed(timestamp: number, token?: string): Promise<unknown>;
}

// The worker of the other key is busy, or just restarts.
const otherOwnerAgainMs = 30_000;

/**
 * What a BullMQ `Worker` runs for each job whose data is a video or a text to be spoken: it is submitted once,
 * also when it is handed out again after a crash, its file is waited for and saved, and the job returns where
 * to find the file (`media.job(returnvalue)`). From the second try on a file that failed is made anew. A job
 * that may have been submitted, and one that can never be, ends as failed without further tries.
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
        // Ids count from 1 in each queue, and again once it was emptied.
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
      if (isOfOther(failure)) {
        await job.moveToDelayed(Date.now() + otherOwnerAgainMs, token);
        throw engineError('DelayedError', reasonOf(failure));
      }
      throw isFinal(failure)
        ? engineError('UnrecoverableError', reasonOf(failure), failure)
        : failure;
    }
  };
}

// BullMQ knows its errors by their names, as it does those of sandboxed processors: any copy of it does.
function engineError(
  name: 'WaitingError' | 'DelayedError' | 'UnrecoverableError',
  message: string,
  cause?: unknown,
): Error {
  return Object.assign(new Error(message, { cause }), { name });
}

/** Would another try be refused, or perhaps be a second video? */
function isFinal(failure: unknown): boolean {
  return (
    isPostreelError(failure) &&
    (failure.outcome === 'unknown' || failure.name === 'InvalidRequestError')
  );
}

function checkJob(job: unknown): void {
  // With 5.55 came what hands a job back without a try counted.
  if (!isRecord(job) || typeof job['moveToWait'] !== 'function') {
    throw new ConfigurationError(
      '`bullmqProcessor()` is for the jobs of a `Worker` of `bullmq` 5.55 or later.',
      { code: 'BULLMQ_MISSING' },
    );
  }
}
