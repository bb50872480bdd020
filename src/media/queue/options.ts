import type { MediaJob } from '../generate/media-job.js';
import type { MediaFile } from '../jobs/file.js';
import type { GenerationJob } from '../jobs/job.js';

/** How a queue of jobs runs. */
export interface QueueOptions {
  /**
   * How many jobs may be in the making at one time; never more than the service allows.
   * @default 20
   */
  concurrency?: number | undefined;
  /** The folder for the videos; without it the first call makes one for all of them. */
  folderId?: string | undefined;
  /**
   * A name that makes the queue resumable with a journal: jobs that an earlier run of this name
   * handed in are waited for and not handed in again.
   */
  name?: string | undefined;
  /** Stops handing in and waiting at once. What is in the making goes on; see `running`. */
  signal?: AbortSignal | undefined;
  /** Called whenever something changed. What it throws is ignored. */
  onProgress?: ((progress: QueueProgress) => void) | undefined;
}

/** How far a queue is. */
export interface QueueProgress {
  /** Files that are finished. */
  readonly done: number;
  /** Jobs that failed or could not be handed in. */
  readonly failed: number;
  /** Jobs in the making. */
  readonly pending: number;
  /** Jobs that were read from the input and wait for their turn. */
  readonly waiting: number;
  /** About how long the known jobs still take; `undefined` before the first one is done. */
  readonly etaMs: number | undefined;
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

/** Many jobs, handed in and waited for within every limit. Iterate it once for the results. */
export interface MediaQueue extends AsyncIterable<QueueResult> {
  /**
   * The jobs that were handed in and whose file was not handed out: what an abort leaves behind. A
   * call that has left comes to its end even then, and its jobs are added here.
   */
  readonly running: readonly GenerationJob[];
}

/** The jobs of a queue: a list, a generator or an asynchronous source of any length. */
export type JobSource = Iterable<MediaJob> | AsyncIterable<MediaJob>;
