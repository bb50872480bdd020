import type { MediaJob } from '../generate/media-job.js';
import type { JobRecord } from './job.js';

/** A call whose answer was lost: its jobs may have been submitted, and are never sent again. */
export interface UnknownCall {
  readonly id: string;
  /** When it was made. ISO 8601. */
  readonly at: string;
  /** The jobs of it without a file id. */
  readonly jobs: readonly MediaJob[];
}

/** What a journal says about jobs that are not settled. */
export interface PendingJobs {
  /** Jobs that the service took, up to those that are finished and not saved. */
  readonly jobs: readonly JobRecord[];
  /** The jobs among them whose file is finished: save it, then `acknowledge()` it. */
  readonly finished: readonly JobRecord[];
  /** Calls whose answer was lost. */
  readonly unknown: readonly UnknownCall[];
}

/** What a journal knows of a job of a queue. */
export type KnownJob =
  /** A process is about to submit it, or its answer was lost. */
  | {
      readonly state: 'claimed';
      readonly print: string;
      readonly ageMs: number;
      /** Which project may have made it. */
      readonly owner: string | undefined;
    }
  | {
      readonly state: 'accepted';
      readonly print: string | undefined;
      readonly job: JobRecord;
      /** Which project made it. */
      readonly owner: string | undefined;
      readonly isFailed: boolean;
      readonly isSaved: boolean;
    };
