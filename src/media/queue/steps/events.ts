import type { JobRecord } from '../../jobs/job.js';
import type { KnownJob } from '../../jobs/journal-types.js';
import type { Entry } from './jobs.js';

/** What may happen to a queue. */
export type QueueEvent =
  | { readonly type: 'read'; readonly entries: readonly ReadEntry[] }
  /** The journal cannot be asked about jobs that were read. */
  | { readonly type: 'unread'; readonly error: unknown }
  | { readonly type: 'exhausted' }
  /** The next job of a stream is asked for. */
  | { readonly type: 'reading' }
  /** Fewer slots were free than were asked for. */
  | { readonly type: 'trimmed'; readonly count: number; readonly askAgainMs: number }
  | {
      readonly type: 'accepted';
      readonly jobs: readonly (JobRecord | null)[];
      /** The error of jobs without an id. */
      readonly error?: unknown;
    }
  | { readonly type: 'names-taken'; readonly taken: ReadonlyMap<string, KnownJob> }
  | { readonly type: 'names-found'; readonly found: ReadonlyMap<string, KnownJob> }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'checked'; readonly fileId: string; readonly seen: Seen }
  | { readonly type: 'saved'; readonly index: number; readonly error?: unknown }
  | { readonly type: 'taken' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'drain' }
  | { readonly type: 'wake' };

/** A job that was read, with what the journal knows of it. */
export interface ReadEntry {
  readonly entry: Entry;
  readonly known?: KnownJob | undefined;
  /** The rule that it breaks. */
  readonly problem?: unknown;
}

/** Why a call failed. */
export interface Refusal {
  readonly error: unknown;
  readonly kind: RefusalKind;
  /** Was it a call of several jobs, some of which may have been made all the same? */
  readonly mayBeHalfWay: boolean;
  /** The same for the same answer. */
  readonly answer: string;
  readonly retryAfterMs: number | undefined;
}

export type RefusalKind =
  /** No more jobs or calls for now. */
  | 'limit'
  /** The answer was no, and nothing was submitted. */
  | 'rejected'
  /** A no for all jobs of the call. */
  | 'rejected-call'
  /** The key is refused, or the client is not set up: a no for all. */
  | 'rejected-client'
  /** Nothing was sent: no connection, or no journal. */
  | 'not-sent'
  /** The call may have been accepted. */
  | 'unknown';

/** What a status check found. */
export type Seen =
  | { readonly type: 'pending'; readonly text: string }
  | { readonly type: 'success'; readonly hasDownload: boolean }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'unclear'; readonly error: unknown; readonly retryAfterMs: number | undefined }
  /** The service has no such file, does not know the key, or gives another refusal. */
  | {
      readonly type: 'refused';
      readonly error: unknown;
      readonly about?: 'file' | 'key' | undefined;
    };
