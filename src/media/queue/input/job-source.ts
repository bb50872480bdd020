import type { Outcome } from '../../../core/errors.js';
import type { MediaJob } from '../../generate/media-job.js';
import type { MediaFile } from '../../jobs/file.js';

/** A job of a source that keeps it until it is done. */
export interface SourceItem {
  /** The same however often the source hands out the job: the journal knows it by that. */
  readonly id: string;
  readonly job: MediaJob;
  /** Why its job cannot be read: then it fails alone. */
  readonly problem?: unknown;
}

/** What became of a job that has no file. */
export interface SourceFailure {
  /**
   * `'unknown'`: it may have been submitted, and must not be submitted again. `'rejected'` and
   * `'not-sent'`: it certainly was not. `undefined`: the service took it; taking it again follows it.
   */
  readonly outcome: Outcome | undefined;
}

/** Where a queue takes its jobs from and says what became of them, e.g. an existing job engine. */
export interface AcknowledgingSource<Item extends SourceItem = SourceItem> {
  /** Tells the source from others on the same journal, e.g. its engine, queue and prefix. */
  readonly name?: string | undefined;
  /** Up to so many jobs; an empty list when there are none right now, `undefined` at the end. */
  take(count: number): Promise<readonly Item[] | undefined>;
  /** The file is stored. */
  done(item: Item, file: MediaFile): Promise<void>;
  /** There is no file, or it could not be stored. */
  fail(item: Item, error: unknown, failure: SourceFailure): Promise<void>;
  /** The job is still in hand: called every half a minute. */
  extend?(item: Item): Promise<void>;
  /**
   * The queue ends before this job has: it is taken again without counting a try. Without it `fail` is
   * called instead.
   */
  release?(item: Item): Promise<void>;
}

/** The job in the data of an engine; what the caller's own reading throws is the problem of this job alone. */
export function readJob(
  read: (data: never) => MediaJob,
  data: unknown,
): Pick<SourceItem, 'job' | 'problem'> {
  try {
    return { job: read(data as never) }; // the caller's own data
  } catch (error) {
    const problem = error ?? new Error('The job cannot be read.');
    return { job: data as MediaJob, problem }; // not looked at
  }
}
