import { ConfigurationError } from '../core/errors.js';
import type { MediaClient } from '../media/client.js';
import { EngineWorker, readEngineOptions, type EngineOptions } from '../media/engine.js';
import type { JobRecord } from '../media/jobs/job.js';

/** The members of a pg-boss job that the handler uses. */
export interface PgBossJob {
  readonly id: string;
  /** The name of the job's queue. */
  readonly name: string;
  /** The video, or the text to be spoken. */
  readonly data: unknown;
  /** Aborts when pg-boss gives the job to another worker; exists from pg-boss 12 on. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates the handler of `boss.work()` that makes videos and speech. The `data` of each job is a video or a
 * text to be spoken. The handler submits it once, also when pg-boss runs the job again after a crash. It
 * waits for the file, saves it, and returns the record that finds the file again (`media.job(output)`).
 *
 * A retry makes a file again that failed, and continues to wait for any other. A job that may have been
 * submitted is never sent again. pg-boss counts every run of a job as an attempt, also after a stop or a
 * crash: give the queue a `retryLimit` of 20 or more.
 *
 * @param media - A client with a journal that all workers share.
 * @throws a `ConfigurationError` (`JOURNAL_MISSING`) when the client has no journal
 * @example
 * const stopping = new AbortController();
 * const make = pgBossHandler(media, { save: saveTo('{fileId}.mp4'), signal: stopping.signal });
 * for (let inHand = 0; inHand < 40; inHand++) await boss.work('videos', { batchSize: 1 }, make);
 */
export function pgBossHandler<Job extends PgBossJob = PgBossJob>(
  media: MediaClient,
  options: EngineOptions<Job>,
): (jobs: Job[]) => Promise<JobRecord> {
  const { save, signal: stops } = readEngineOptions(options, 'pgBossHandler');
  const worker = new EngineWorker(media, 'pgBossHandler');
  return async (jobs) => {
    const job = onlyOf(jobs);
    const signals = [stops, job.signal].filter((one) => one !== undefined);
    const signal = AbortSignal.any(signals);
    try {
      return await worker.run({
        queue: `pg-boss/${job.name}`,
        key: job.id,
        data: job.data,
        retriesFailed: true, // pg-boss counts each run of a job as an attempt
        signal,
        save: (file) => save(file, job),
      });
    } catch (failure) {
      if (signal.aborted && failure === signal.reason) {
        const message = 'The worker stopped. The next try continues where this one stopped.';
        throw new Error(message, { cause: failure });
      }
      throw failure;
    }
  };
}

/**
 * Requires a batch of one job. pg-boss fails a batch as a whole: one bad job would cost the others a retry.
 */
function onlyOf<Job>(jobs: readonly Job[]): Job {
  const [job, ...others] = isList(jobs) ? jobs : [];
  if (job === undefined) {
    throw new ConfigurationError(
      '`pgBossHandler()` is for `boss.work()` of `pg-boss` 10 or later.',
      { code: 'PG_BOSS_MISSING' },
    );
  }
  if (others.length > 0) {
    throw new ConfigurationError(
      '`pgBossHandler()` takes one job at a time: use `boss.work(queue, { batchSize: 1 }, handler)`, and call it several times to run several jobs at once.',
      { code: 'INVALID_OPTION' },
    );
  }
  return job;
}

// pg-boss 9 passes a single job instead of a list.
function isList(jobs: unknown): boolean {
  return Array.isArray(jobs);
}
