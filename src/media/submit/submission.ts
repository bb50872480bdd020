import type { Answer, RequestOptions } from '../../core/types.js';
import type { CallState } from '../../core/call/call.js';
import type { MediaJob } from '../generate/media-job.js';
import type { JobRecord } from '../jobs/job.js';
import type { OnceJob } from '../jobs/ledger.js';
import type { TextRange } from '../generate/types.js';
import type { FileKind } from '../status/intervals.js';
import type { QueueQuota } from './queue-quota.js';

/** The jobs of one caller that go into one call. A submission is never split over several calls. */
export interface Submission {
  readonly kind: FileKind;
  readonly jobs: readonly MediaJob[];
  /** The folder that the caller chose for the videos. */
  readonly folder: { readonly file?: string | undefined; readonly folderId?: string | undefined };
  /** The idempotency key of a job that may be submitted only once. A submission with a key has one job. */
  readonly once?: OnceJob | undefined;
  readonly options: RequestOptions;
  /** Is the submission sent again when its outcome is unknown? The jobs may then be made twice. */
  readonly sendsUnknown: boolean;
  /** Is the submission sent again when the file that was made under its key failed or was canceled? */
  readonly retriesFailed: boolean;
  /** Aborts when the caller no longer wants the jobs. It has no effect once the request has been sent. */
  readonly stop?: AbortSignal | undefined;
  /** The range of the longer text that this job speaks. */
  readonly part?: TextRange | undefined;
  /** The quota of the queue that the jobs belong to; `undefined` for a direct call. */
  readonly quota?: QueueQuota | undefined;
}

/** The response of the service to a submission: one record for each job. */
export type Submitted = Answer<JobRecord[]> & { readonly known?: { readonly isSaved: boolean } };

/** A submission that waits for its call, or is in flight. */
export interface WaitingSubmission {
  submission: Submission;
  readonly state: CallState;
  readonly minutes: number;
  /** The time of the first failed attempt to submit it, in milliseconds on the client's clock. */
  failingSince: number | undefined;
  /** The most jobs that its call may contain. It is halved after the service refused a larger call. */
  maxBatchSize: number;
  /** The number of attempts that the service refused because of a limit. */
  refusals: number;
  /** The number of attempts that failed for another reason. */
  tries: number;
  /** Does the caller have a result, or has it given up? */
  isOver: boolean;
  /** Called when `isOver` becomes true. The paid call that contains the submission sets this listener. */
  onOver: () => void;
  /** Resolves the call of the caller; with `undefined` when another process has claimed its key first. */
  readonly resolve: (submitted: Submitted | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/** The number of jobs in these submissions. */
export function count(members: readonly WaitingSubmission[]): number {
  return members.reduce((sum, { submission }) => sum + submission.jobs.length, 0);
}

/** The quotas of the queues that these submissions belong to. */
export function quotasOf(members: readonly WaitingSubmission[]): Set<QueueQuota> {
  return new Set(members.flatMap(({ submission }) => submission.quota ?? []));
}

/** The folder of a submission. When the caller chose none, it is the folder that the queue already has. */
export function folderOf({ folder, quota }: Submission): Submission['folder'] {
  return folder.folderId === undefined && quota?.folderId !== undefined
    ? { ...folder, folderId: quota.folderId }
    : folder;
}

/** The request body of one call for these submissions. */
export function bodyOf(members: readonly WaitingSubmission[]): unknown {
  const [first] = members;
  const payload = members.flatMap(({ submission }) => submission.jobs);
  return first?.submission.kind === 'video'
    ? { ...folderOf(first.submission), payload }
    : payload[0];
}
