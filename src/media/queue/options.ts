import { invalidRequest } from '../../core/errors.js';
import {
  abortSignal,
  amount,
  atLeast,
  callback,
  flag,
  milliseconds,
  oneOf,
  readOptions,
  text,
  type OptionKinds,
} from '../../core/options.js';
import { kindOf } from '../../core/request.js';
import type { MediaJob } from '../generate/media-job.js';
import type { MediaFile } from '../jobs/file.js';
import type { GenerationJob } from '../jobs/job.js';

/** How a queue of jobs runs. All times are in milliseconds. */
export interface QueueOptions {
  /**
   * The most jobs to submit; the others end with an error (`SPENDING_CAP`).
   * @default Infinity
   */
  maxJobs?: number | undefined;
  /**
   * How many jobs may be in progress at one time; never more than the service allows.
   * @default 20
   */
  concurrency?: number | undefined;
  /** The folder for the videos; without it the first call creates one for all of them. */
  folderId?: string | undefined;
  /**
   * A name that makes the queue resumable with a journal: each job is submitted once under it, also
   * when runs overlap.
   */
  name?: string | undefined;
  /**
   * What identifies a job of a named queue, e.g. `(job) => job.fileName`. A key that comes twice is an
   * error. Without it a job is known by its content.
   */
  key?: ((job: MediaJob) => string) | undefined;
  /**
   * Submits jobs of a named queue again whose file failed or was canceled in an earlier run.
   * @default false
   */
  retryFailed?: boolean | undefined;
  /**
   * Saves a finished file before it is yielded. With a journal a crash while saving saves again;
   * what it throws is the `error` of the result, and the file stays listed in the journal.
   */
  save?: ((file: MediaFile, job: SavedJob) => Promise<unknown>) | undefined;
  /**
   * How long one job may take from its acceptance on, in milliseconds.
   * @default 21_600_000 (6 hours)
   */
  timeout?: number | undefined;
  /**
   * How long a job is tried again, in milliseconds, while the service or the journal cannot be reached or
   * a limit of the service refuses it.
   * @default 86_400_000 (24 hours)
   */
  deadline?: number | undefined;
  /**
   * What to do about jobs of which nobody knows whether they were submitted: `'list'` yields them with
   * the error `OUTCOME_UNKNOWN`, `'send'` submits them again, though they may be made, and paid for, twice.
   * @default 'list'
   */
  unknown?: 'list' | 'send' | undefined;
  /** Stops submitting and waiting at once. What is in progress goes on; see `running`. */
  signal?: AbortSignal | undefined;
  /** Called whenever something changed. What it throws is ignored. */
  onProgress?: ((progress: QueueProgress) => void) | undefined;
}

/** The job whose file is saved. */
export interface SavedJob {
  /** The job's place in the input, from 0. */
  readonly index: number;
  /** The job as it was given. */
  readonly input: MediaJob;
  readonly job: GenerationJob;
}

/** How far a queue is. */
export interface QueueProgress {
  /** Files that are finished. */
  readonly done: number;
  /** Jobs that failed or could not be submitted. */
  readonly failed: number;
  /** Jobs in progress. */
  readonly pending: number;
  /** Jobs that were read from the input and wait for their turn. */
  readonly waiting: number;
  /** All jobs of the input; `undefined` until one that is no list has been read to its end. */
  readonly total: number | undefined;
}

/** How one job of a queue ended. */
export type QueueResult =
  | {
      /** The job's place in the input, from 0. */
      readonly index: number;
      /** The job as it was given. */
      readonly input: MediaJob;
      readonly job: GenerationJob;
      readonly file: MediaFile;
      readonly error?: undefined;
    }
  | {
      readonly index: number;
      readonly input: MediaJob;
      /** `undefined` when the job was not accepted. */
      readonly job: GenerationJob | undefined;
      readonly file?: undefined;
      readonly error: unknown;
    };

/** Many jobs, submitted and waited for within every limit. Iterate it once for the results. */
export interface MediaQueue extends AsyncIterable<QueueResult> {
  /**
   * The jobs that were submitted and whose file was not yielded: what an abort leaves behind. A
   * call that has left comes to its end even then, and its jobs are added here.
   */
  readonly running: readonly GenerationJob[];
  /** Submits no more until `resume()`. Jobs in progress are waited for. */
  pause(): void;
  /**
   * Goes on after `pause()`, and after the answers to two calls in a row were lost (a `warning` with the
   * code `UNKNOWN_OUTCOMES` says so).
   */
  resume(): void;
  /** Submits no more and ends once the jobs in progress are finished; the others are not yielded. */
  drain(): void;
}

/** The jobs of a queue: a list, a generator or an asynchronous source of any length. */
export type JobSource = Iterable<MediaJob> | AsyncIterable<MediaJob>;

const queueOptions: OptionKinds<QueueOptions> = {
  maxJobs: atLeast(0),
  concurrency: amount,
  folderId: text,
  name: text,
  key: callback(),
  retryFailed: flag,
  save: callback(),
  timeout: milliseconds,
  deadline: milliseconds,
  unknown: oneOf('list', 'send'),
  signal: abortSignal,
  onProgress: callback(),
};

/** The options of a queue as they were given, checked. */
export function readQueueOptions(given: QueueOptions | undefined): QueueOptions {
  return readOptions(given, queueOptions, { name: 'a queue' });
}

/** Refuses what is no list of jobs and no source of them: JavaScript may pass anything. */
export function requireJobs(jobs: JobSource | null | undefined): void {
  const isSource = typeof jobs === 'object' && jobs !== null;
  if (!isSource || !(Symbol.iterator in jobs || Symbol.asyncIterator in jobs)) {
    const message = `must be a list, a generator or an async source of jobs; got ${kindOf(jobs)}`;
    throw invalidRequest([{ field: 'jobs', message }]);
  }
}
