import type { Answer, RequestOptions } from '../../core/types.js';
import type { CallState } from '../../core/call.js';
import type { MediaJob } from '../generate/media-job.js';
import type { JobRecord } from '../jobs/job.js';
import type { OnceJob } from '../jobs/ledger.js';
import type { TextRange } from '../generate/types.js';
import type { FileKind } from '../status/intervals.js';
import type { QueueQuota } from './queue-quota.js';

/** What one call of `generate` submits: it is never split. */
export interface Submission {
  readonly kind: FileKind;
  readonly jobs: readonly MediaJob[];
  /** The folder of videos, as the caller wants it. */
  readonly folder: { readonly file?: string | undefined; readonly folderId?: string | undefined };
  /** The key of a single job that is submitted once. */
  readonly once?: OnceJob | undefined;
  readonly options: RequestOptions;
  /** Is it submitted again where nobody knows whether it was? */
  readonly sendsUnknown: boolean;
  /** Aborts when it is not wanted any more, unless it has left by then. */
  readonly stop?: AbortSignal | undefined;
  /** Which part of a longer text its speech is. */
  readonly part?: TextRange | undefined;
  /** The queue that it belongs to. */
  readonly lane?: QueueQuota | undefined;
}

/** The jobs of a parcel, as the service has them. */
export type Submitted = Answer<JobRecord[]> & { readonly known?: { readonly isSaved: boolean } };

/** A parcel that waits for its call, or is on its way. */
export interface WaitingSubmission {
  parcel: Submission;
  readonly state: CallState;
  readonly minutes: number;
  /** When it could not be submitted for the first time. */
  failingSince: number | undefined;
  /** The most jobs that its call may carry: fewer after one with more was refused. */
  maxCompany: number;
  /** How often a limit of the service has refused it. */
  refusals: number;
  /** How often it failed for another reason. */
  tries: number;
  /** Has its caller got a result, or given up? */
  isOver: boolean;
  /** Tells the call that carries it. */
  onOver: () => void;
  readonly resolve: (submitted: Submitted | 'taken') => void;
  readonly reject: (reason: unknown) => void;
}

/** How many jobs these are. */
export function count(members: readonly WaitingSubmission[]): number {
  return members.reduce((sum, { parcel }) => sum + parcel.jobs.length, 0);
}

/** The queues that these belong to. */
export function lanesOf(members: readonly WaitingSubmission[]): Set<QueueQuota> {
  return new Set(members.flatMap(({ parcel }) => parcel.lane ?? []));
}

/** The folder of a parcel: its own, or the one that its queue has by now. */
export function folderOf({ folder, lane }: Submission): Submission['folder'] {
  return folder.folderId === undefined && lane?.folderId !== undefined
    ? { ...folder, folderId: lane.folderId }
    : folder;
}

/** The body of a call for these parcels. */
export function bodyOf(members: readonly WaitingSubmission[]): unknown {
  const [first] = members;
  const payload = members.flatMap(({ parcel }) => parcel.jobs);
  return first?.parcel.kind === 'video' ? { ...folderOf(first.parcel), payload } : payload[0];
}
