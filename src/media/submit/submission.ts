import type { Answer, RequestOptions } from '../../core/types.js';
import type { CallState } from '../../core/call/call.js';
import { isPostreelError, RateLimitError, TimeoutError, type Outcome } from '../../core/errors.js';
import { estimatedMinutes, type MediaJob } from '../generate/media-job.js';
import { routes } from '../generate/routes.js';
import type { TextRange } from '../generate/types.js';
import type { JobRecord } from '../jobs/job.js';
import type { OnceJob } from '../jobs/ledger.js';
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
  readonly cancelSignal?: AbortSignal | undefined;
  /** The range of the longer text that this job speaks. */
  readonly part?: TextRange | undefined;
  /** The quota of the queue that the jobs belong to; `undefined` for a direct call. */
  readonly quota?: QueueQuota | undefined;
}

/**
 * The response of the service to a submission: one record for each job. `earlier` is set when an earlier call
 * submitted the job; `isSaved`: was its file saved, too?
 */
export type Submitted = Answer<JobRecord[]> & { readonly earlier?: { readonly isSaved: boolean } };

/**
 * A submission that waits for its call, or is in flight. Until it settles, only its methods change the state of the
 * caller's call:
 *
 *     event                                        isSent     outcome
 *     markWaiting()    it waits for a call         false      not-sent; unknown after a lost response
 *     markClaiming()   its keys are being claimed  true       unchanged
 *     markUnclaimed()  its keys are free again     false      unchanged
 *     markSent()       its request is being sent   true       unknown
 *     succeed()        its jobs were accepted      true       undefined
 *     fail()           it is given up              unchanged  that of the failure
 *
 * While `isSent` is true, the caller cannot abort: a claim that was left in the journal would count as unknown.
 */
export class WaitingSubmission {
  submission: Submission;
  readonly minutes: number;
  /** The time of the first failed attempt to submit it, in milliseconds on the client's clock. */
  failingSince: number | undefined;
  /** The most jobs that its call may contain. It is halved after the service refused a larger call. */
  maxBatchSize = Number.POSITIVE_INFINITY;
  /** The number of attempts that the service refused because of a limit. */
  refusals = 0;
  /** The number of attempts that failed for another reason. */
  tries = 0;
  /** Called when `isOver` becomes true. The paid call that contains the submission sets this listener. */
  onOver: () => void = () => undefined;
  /** The result for the caller; `undefined` when another process has claimed the key first. */
  readonly result: Promise<Submitted | undefined>;
  readonly #state: CallState;
  #isOver = false;
  #resolve: (submitted: Submitted | undefined) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(submission: Submission, state: CallState) {
    this.submission = submission;
    this.minutes = Math.max(...submission.jobs.map(estimatedMinutes));
    this.#state = state;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Does the caller have a result, or has it given up? */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Does no caller want the jobs any more? */
  get isGivenUp(): boolean {
    return this.#isOver || this.submission.cancelSignal?.aborted === true;
  }

  /** May its queue send this many jobs now? */
  get fitsQuota(): boolean {
    const { jobs, quota } = this.submission;
    return !quota || quota.capacity >= jobs.length;
  }

  /** Direct calls go before those of queues: the lower number first. */
  get urgency(): number {
    return this.submission.options.priority === 'bulk' ? 1 : 0;
  }

  markWaiting(): void {
    this.#state.isSent = false;
    this.#state.outcome = this.#state.mayHaveHappened ? 'unknown' : 'not-sent';
  }

  markClaiming(): void {
    this.#state.isSent = true;
  }

  markUnclaimed(): void {
    this.#state.isSent = false;
  }

  markSent(): void {
    this.#state.outcome = 'unknown';
    this.submission.quota?.countSent(this.submission.jobs.length);
  }

  /** The response to its request was lost: the jobs may have been made. */
  markLost(): void {
    this.#state.mayHaveHappened = true;
  }

  succeed(submitted: Submitted): void {
    this.#state.outcome = undefined;
    this.#resolve(submitted);
  }

  /** Another process has claimed the key first. */
  skip(): void {
    this.#resolve(undefined);
  }

  /** Rejects the caller's call. `outcome` is used when the failure has no outcome. */
  fail(failure: unknown, outcome: Outcome): void {
    this.#state.outcome = isPostreelError(failure) ? failure.outcome : outcome;
    this.#reject(failure);
  }

  /** Rejects the caller's call because of an abort, or of a failure before any call was made. */
  abort(reason: unknown): void {
    this.#reject(reason);
  }

  /** Rejects the caller's call because its `deadline` has passed. */
  expire(): void {
    const { method, path } = routes[this.submission.kind];
    const { isSent, mayHaveHappened } = this.#state;
    if (isSent || mayHaveHappened) {
      const message = `${method} ${path} got no complete response before its \`deadline\`. It may have taken effect.`;
      const facts = { code: 'DEADLINE_EXCEEDED', outcome: 'unknown', method, path } as const;
      this.fail(new TimeoutError(message, facts), 'unknown');
    } else {
      const message = `${method} ${path} was not sent: neither the rate limit nor the pending slots had room for it before its \`deadline\`.`;
      const facts = { code: 'QUEUE_TIMEOUT', outcome: 'not-sent', method, path } as const;
      this.fail(new RateLimitError(message, facts), 'not-sent');
    }
  }

  /** The caller has its result, or has given up. */
  end(): void {
    this.#isOver = true;
    this.onOver();
  }
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
