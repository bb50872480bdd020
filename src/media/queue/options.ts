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
import { kindOf } from '../../core/values.js';
import type { MediaJob } from '../generate/media-job.js';
import type { AudioRequest, VideoJob } from '../generate/types.js';
import type { MediaFile } from '../jobs/file.js';
import type { GenerationJob } from '../jobs/job.js';

/** How a queue of jobs runs. All times are in milliseconds. */
export interface QueueOptions {
  /**
   * The most jobs to submit. The other jobs end with an error (`SPENDING_CAP`).
   * @default Infinity
   */
  maxJobs?: number | undefined;
  /**
   * The most jobs that may be in progress at one time; never more than the service allows.
   * @default 20
   */
  concurrency?: number | undefined;
  /** The folder for the videos; without it the first call creates one for all of them. */
  folderId?: string | undefined;
  /**
   * A name that makes the queue resumable. It needs a journal. Each job is submitted once under this name,
   * also when runs overlap.
   */
  name?: string | undefined;
  /**
   * Returns the key that identifies a job of a named queue, e.g. `(job) => job.fileName`. Two jobs with the
   * same key are an error. Without this function a job is identified by its content.
   */
  key?: ((job: MediaJob) => string) | undefined;
  /**
   * Submits a job of a named queue again when its file failed or was canceled in an earlier run.
   * @default false
   */
  retryFailed?: boolean | undefined;
  /**
   * Saves a finished file before it is yielded. With a journal, the next run saves a file again when the
   * process crashed while saving. An error that this function throws becomes the `error` of the result, and
   * the file stays listed in the journal.
   */
  save?: ((file: MediaFile, job: SavedJob) => Promise<unknown>) | undefined;
  /**
   * How long one job may take after the service has accepted it, in milliseconds.
   * @default 21_600_000 (6 hours)
   */
  timeout?: number | undefined;
  /**
   * How long a job is retried, in milliseconds, while the service or the journal cannot be reached, or while
   * a limit of the service refuses the job.
   * @default 86_400_000 (24 hours)
   */
  deadline?: number | undefined;
  /**
   * How to handle jobs that may have been submitted before: `'list'` yields them with the error
   * `OUTCOME_UNKNOWN`; `'send'` submits them again, though they may be made, and paid for, twice.
   * @default 'list'
   */
  unknown?: 'list' | 'send' | undefined;
  /** Stops submitting and waiting at once. Jobs in progress continue at the service; see `running`. */
  signal?: AbortSignal | undefined;
  /** Called after every change. An error that it throws is ignored. */
  onProgress?: ((progress: QueueProgress) => void) | undefined;
}

/** The job whose file is saved. */
export interface SavedJob {
  /** The job's place in the input, from 0. */
  readonly index: number;
  /** The job as you passed it. */
  readonly input: MediaJob;
  readonly job: GenerationJob;
}

/** The progress of a queue. */
export interface QueueProgress {
  /** Files that are finished. */
  readonly done: number;
  /** Jobs that failed or could not be submitted. */
  readonly failed: number;
  /** Jobs in progress. */
  readonly pending: number;
  /** Jobs that were read from the input and are not yet submitted. */
  readonly waiting: number;
  /** All jobs of the input; `undefined` until the input is read to its end, unless it is a list. */
  readonly total: number | undefined;
}

/** How one job of a queue ended. */
export type QueueResult =
  | {
      /** The job's place in the input, from 0. */
      readonly index: number;
      /** The job as you passed it. */
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

/** A queue of jobs that keeps to every limit of the service. Iterate it once for the results. */
export interface MediaQueue extends AsyncIterable<QueueResult> {
  /**
   * The jobs that were submitted and whose result was not yielded yet. After an abort these jobs remain at
   * the service. A call that was in flight at the abort is still completed, and its jobs are added here.
   */
  readonly running: readonly GenerationJob[];
  /** Submits no more jobs until `resume()`. The queue still waits for jobs in progress. */
  pause(): void;
  /**
   * Continues after `pause()`, and after the responses to two calls in a row were lost. In the latter case
   * the client has emitted a `warning` with the code `UNKNOWN_OUTCOMES`.
   */
  resume(): void;
  /** Submits no more jobs and ends when the jobs in progress have finished. The others are not yielded. */
  drain(): void;
}

/** The jobs of a queue: a list, a generator or an asynchronous source of any length. */
export type JobSource =
  // A list has its own type: the compiler's messages then name the field of the job, and no iterators.
  readonly QueuedJob[] | Iterable<QueuedJob> | AsyncIterable<QueuedJob>;

/** A {@link MediaJob}, where an idea with `content` instead of its `prompt` does not pass for text to be spoken. */
type QueuedJob = VideoJob | (AudioRequest & { workflowType?: undefined });

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

/** Checks the options of a queue and returns them. */
export function readQueueOptions(given: QueueOptions | undefined): QueueOptions {
  return readOptions(given, queueOptions, { name: 'a queue' });
}

/** Throws when `jobs` is not a list or another source of jobs: plain JavaScript may pass anything. */
export function requireJobs(jobs: JobSource | null | undefined): void {
  const isSource = typeof jobs === 'object' && jobs !== null;
  if (!isSource || !(Symbol.iterator in jobs || Symbol.asyncIterator in jobs)) {
    const message = `must be a list, a generator or an async source of jobs; got ${kindOf(jobs)}`;
    throw invalidRequest([{ field: 'jobs', message }]);
  }
}
