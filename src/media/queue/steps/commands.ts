import type { JobRecord } from '../../jobs/job.js';
import type { Entry } from './jobs.js';

/** What a queue wants done. */
export type QueueCommand =
  /** With fewer slots than `atLeast` the call is not worth making. */
  | { readonly type: 'submit'; readonly entries: readonly Entry[]; readonly atLeast: number }
  /** The call that is on its way comes back, unless it has left. */
  | { readonly type: 'recall-call' }
  | { readonly type: 'check'; readonly fileIds: readonly string[] }
  | { readonly type: 'find'; readonly names: readonly string[] }
  | { readonly type: 'save'; readonly job: JobRecord; readonly entry: Entry }
  | { readonly type: 'yield'; readonly entry: Entry; readonly end: JobEnd }
  /** The slots of the call that was answered: these files keep theirs, so many more are in doubt, the rest is free. */
  | {
      readonly type: 'assign-slots';
      readonly fileIds: readonly string[];
      readonly uncertain: number;
    }
  | { readonly type: 'hold'; readonly fileId: string }
  | { readonly type: 'release'; readonly fileId: string; readonly isCertain: boolean }
  /** What an answer says of the number of slots that the service really has. */
  | { readonly type: 'slots'; readonly evidence: SlotEvidence; readonly slotsAfter: number }
  | { readonly type: 'report-wait'; readonly waitMs: number }
  | { readonly type: 'outage'; readonly error: unknown }
  | { readonly type: 'outage-end'; readonly ms: number }
  | { readonly type: 'wake'; readonly at: number }
  /** No more calls until the caller says so. */
  | { readonly type: 'held'; readonly ms: number }
  /** `isGivenUp`: calls were held back for too long. */
  | { readonly type: 'end'; readonly isGivenUp: boolean };

export type SlotEvidence = 'accepted' | 'refused' | 'maybe-full' | 'not-full';

/** How a job ends. */
export type JobEnd =
  | { readonly type: 'file'; readonly job: JobRecord }
  | { readonly type: 'error'; readonly job: JobRecord | undefined; readonly error: unknown }
  /** The driver makes the error of these. */
  | {
      readonly type: 'stalled' | 'timeout' | 'lost' | 'unsaved';
      readonly job: JobRecord;
      readonly ms: number;
    }
  | { readonly type: 'claimed' | 'claimed-late' | 'capped' | 'late'; readonly job: undefined }
  /** The queue gave up before it submitted this job; `reason` is why. */
  | { readonly type: 'given-up'; readonly job: undefined; readonly reason: unknown };
