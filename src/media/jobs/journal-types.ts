import type { MediaJob } from '../generate/media-job.js';
import type { JobRecord } from './job.js';

/** What is written down about a job, before and after it is submitted. */
export type JournalEntry =
  | JournalIntent
  | JournalAnswer
  /** The call certainly did nothing: its jobs may be submitted again. */
  | { readonly type: 'refused'; readonly id: string }
  /** A file has come to its end. A successful one stays listed until it is settled. */
  | { readonly type: 'finished'; readonly fileId: string; readonly status: string }
  /** A file is over: saved, dismissed, or of no interest any more. */
  | { readonly type: 'settled'; readonly fileId: string; readonly status: string };

/** Jobs that are about to be submitted. Without an answer nobody knows whether they were. */
export interface JournalIntent {
  readonly type: 'intent';
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly jobs: readonly MediaJob[];
  /** The name of each job in a named queue, to recognize it after a restart. */
  readonly names?: readonly string[];
  /** Takes names whose job has failed, too: the caller asked to submit those again. */
  readonly retriesFailed?: boolean;
}

/** The service took jobs: their ids, in the order of the intent. */
export interface JournalAnswer {
  readonly type: 'accepted';
  readonly id: string;
  /** `null` for a job whose id is missing; it stays unknown. */
  readonly jobs: readonly (JobRecord | null)[];
  /** Ids that cannot be told apart: the jobs exist, but which one is which is unknown. */
  readonly unassigned?: readonly JobRecord[];
}

/** What a journal knows of a named job. */
export type NamedJob =
  /** Somebody is about to submit it, or its answer was lost. */
  | { readonly state: 'claimed'; readonly id: string; readonly ageMs: number }
  | {
      readonly state: 'accepted';
      readonly job: JobRecord;
      /** The last status of the file, once somebody saw its end. */
      readonly status: string | undefined;
    };

/**
 * Where a media client writes down its jobs, so that a crash loses none. Several processes may
 * share one. Each method is one atomic step, and ages are measured by the journal's own clock.
 */
export interface JobJournal {
  /**
   * Writes an intent, unless one of its names is taken. Resolves to what is known of the names
   * that are: an empty map means that the intent is safe, any other that nothing was written.
   */
  claim(intent: JournalIntent): Promise<ReadonlyMap<string, NamedJob>>;
  /** Resolves when the entry is safe. */
  append(entry: JournalEntry): Promise<void>;
  /** What is known of named jobs; unknown names are left out. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, NamedJob>>;
  /** What is not settled. */
  pending(): Promise<PendingJobs>;
}

/** A journal that keeps every entry and can be read from its start. */
export interface LoggedJournal extends JobJournal {
  /** All entries, oldest first. */
  read(): Promise<readonly JournalEntry[]>;
}

/** What a journal says about jobs that are not settled. */
export interface PendingJobs {
  /** Jobs that the service took, up to those that are finished and not saved. */
  readonly jobs: readonly JobRecord[];
  /** The jobs among them whose file is finished: save it, then `acknowledge()` it. */
  readonly finished: readonly JobRecord[];
  /** Intents without ids: their jobs may have been submitted. They are never sent again. */
  readonly unknown: readonly JournalIntent[];
}
