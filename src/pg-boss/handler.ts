import { ConfigurationError } from '../core/errors.js';
import type { MediaClient } from '../media/client.js';
import { EngineWorker, readEngineOptions, type EngineOptions } from '../media/engine.js';
import type { JobRecord } from '../media/jobs/job.js';

/** What is used of a pg-boss job. */
export interface PgBossJob {
  readonly id: string;
  /** Its queue. */
  readonly name: string;
  /** The video, or the text to be spoken. */
  readonly data: unknown;
  /** Aborts when pg-boss gives the job to another worker; version 12 has it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * What `boss.work()` runs for each job whose data is a video or a text to be spoken: it is submitted once, also
 * when it is handed out again after a crash, its file is waited for and saved, and the job returns where to
 * find the file (`media.job(output)`). A further try makes a file anew that failed, and follows any other; one
 * that may have been submitted is never sent again. pg-boss counts each time that it hands a job out, a stop
 * and a crash too: give the queue a `retryLimit` of 20 or more.
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
        retriesFailed: true, // each time that it is handed out is a try of its own
        signal,
        save: (file) => save(file, job),
      });
    } catch (failure) {
      if (signal.aborted && failure === signal.reason) {
        const message = 'The worker stopped. The next try goes on where this one was.';
        throw new Error(message, { cause: failure });
      }
      throw failure;
    }
  };
}

/** pg-boss fails a batch as a whole: one bad job would cost the others a try. */
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
      '`pgBossHandler()` takes one job at a time: use `boss.work(queue, { batchSize: 1 }, handler)`, several times for several jobs in hand.',
      { code: 'INVALID_OPTION' },
    );
  }
  return job;
}

// Version 9 hands out a job without a list around it.
function isList(jobs: unknown): boolean {
  return Array.isArray(jobs);
}
