import type { Outcome } from '../../../errors/index.js';
import type { MediaJob } from '../../generate/media-job.js';
import type { MediaFile } from '../../jobs/file.js';

/** A job of a source that keeps it until it is done. */
export interface SourceItem {
  /** The same however often the source hands out the job: the journal knows it by that. */
  readonly id: string;
  readonly job: MediaJob;
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
}
