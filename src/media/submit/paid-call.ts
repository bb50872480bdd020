import type { Answer, RequestOptions } from '../../core/types.js';
import { isPostreelError, isTransient, type Outcome } from '../../core/errors.js';
import type { RunningCall } from '../../core/call/call.js';
import type { Transport } from '../../core/call/send.js';
import { claimLimitMs, type HeldClaim } from '../../core/once/claim.js';
import {
  isJournalUnavailable,
  type Claimed,
  type StoredEntry,
  type Unknown,
} from '../../core/once/ledger.js';
import { audioRecords, FileIdsMissingError, videoRecords } from '../generate/accepted.js';
import { routes } from '../generate/routes.js';
import type { VideoJob } from '../generate/types.js';
import type { JobRecord } from '../jobs/job.js';
import type { JobLedger } from '../jobs/ledger.js';
import { isPendingLimitError } from './full.js';
import { bodyOf, count, quotasOf, type WaitingSubmission } from './submission.js';
import type { Slots } from './slots.js';

/** The dependencies of a paid call. */
export interface PaidCallParts {
  readonly transport: Transport;
  readonly ledger: JobLedger | undefined;
  /** How long one attempt may take, in milliseconds, unless the caller sets a `timeout`. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly onAccepted: (record: JobRecord, callId: number | undefined) => void;
  /** Called when calls cannot be sent, or the journal cannot be reached, and a queue retries. */
  readonly onSubmitError: (failure: unknown) => void;
}

/** The part of the submitter that a paid call uses. */
export interface CallHost {
  readonly slots: Slots;
  /** Chooses the submissions for the call. Called once the rate limit has granted the call. */
  choose(): readonly WaitingSubmission[];
  /** The call is not sent when fewer slots than this are free. */
  readonly fewestSlots: number;
  /** May this submission be retried, or has it failed for too long or too often? */
  mayWait(one: WaitingSubmission): boolean;
  /** Called when the request with these submissions is about to be sent. */
  onLeft(members: readonly WaitingSubmission[]): void;
  /** Called when the service has accepted the jobs of these submissions. */
  onAccepted(members: readonly WaitingSubmission[]): void;
  /** Adds a submission to the waiting ones again, for another attempt. */
  again(one: WaitingSubmission): void;
  /**
   * Sends no call for a while, in milliseconds: for as long as the failure asks (`Retry-After`), else for
   * `firstMs`, doubled with each failure up to `mostMs`.
   */
  pause(firstMs: number, mostMs?: number, failure?: unknown): void;
}

/** Ends a call before it is sent, because no slot is free or no caller waits for it any more. */
class EmptyBatch extends Error {}

/** The contents of a request that is in flight. */
interface PaidBatch {
  readonly members: readonly WaitingSubmission[];
  /** One claim for each job; its value is `undefined` without a journal. */
  readonly claims: readonly JobClaim[];
  readonly slots: readonly string[];
  readonly body: unknown;
}

/** A submission with the claims of its jobs. */
interface Load {
  readonly one: WaitingSubmission;
  readonly own: readonly JobClaim[];
}

type JobClaim = HeldClaim | undefined;

const firstPauseMs = 500;
const maxPauseMs = 60_000;
// The pause after a 429 without `Retry-After`. The limit is "10 requests per 10 minutes".
const limitPauseMs = 60_000;
const maxLimitPauseMs = 5 * 60_000;
const askAgainMs = 3_000;
const journalAgainMs = 5_000;

/**
 * Makes one paid call. It takes the waiting submissions when the rate limit grants the call, sends their jobs
 * in one request and passes the outcome to each submission:
 *
 *     outcome of the request    claims in the journal       slots      submission
 *     accepted                  the ids of the files        assigned   resolves
 *     not sent                  removed                     released   is retried or rejects
 *     rejected, by a limit      removed                     released   is retried or rejects
 *     rejected, otherwise       removed                     released   rejects
 *     unknown                   unknown                     kept       rejects; with `sendsUnknown` retried
 */
export class PaidCall {
  readonly #parts: PaidCallParts;
  readonly #host: CallHost;
  readonly #head: WaitingSubmission;
  readonly #id = crypto.randomUUID();
  readonly #controller = new AbortController();
  #batch: PaidBatch | undefined;
  /** The journal entries of jobs whose outcome is unknown, by the claims they replaced. */
  readonly #lost = new Map<HeldClaim, StoredEntry<Unknown>>();
  #callId: number | undefined;
  /** Has a response decided the outcome of every job? */
  #isAnswered = false;
  #onLeft: () => void = () => undefined;
  /** Resolves right before the request is sent. */
  readonly left = new Promise<void>((resolve) => {
    this.#onLeft = resolve;
  });

  constructor(parts: PaidCallParts, host: CallHost, head: WaitingSubmission) {
    this.#parts = parts;
    this.#host = host;
    this.#head = head;
  }

  /** Cancels the call because no caller waits for it. Once the request has been sent, this has no effect. */
  cancel(): void {
    if (!this.#batch) {
      this.#controller.abort(new EmptyBatch());
    }
  }

  /** Makes the call; never rejects. */
  async run(): Promise<void> {
    await this.#make();
    for (const quota of quotasOf(this.#batch?.members ?? [])) {
      quota.isUnderWay = false;
    }
  }

  async #make(): Promise<void> {
    const call = this.#send();
    this.#callId = call.callId;
    let answer: Answer<JobRecord[]>;
    try {
      answer = await call.withResponse();
    } catch (failure) {
      await this.#onFailure(failure, call);
      return;
    }
    this.#isAnswered = true;
    if (this.#batch) {
      await this.#accept(this.#batch, answer.data, call.callId);
      this.#handOut(this.#batch, answer.data, answer);
    }
  }

  #send(): RunningCall<JobRecord[]> {
    const { transport, timeoutMs } = this.#parts;
    const { kind, jobs, options } = this.#head.submission;
    const { headers, priority, timeout = timeoutMs } = options;
    const { signal } = this.#controller;
    const own: RequestOptions = { headers, priority, timeout, retries: 0, signal };
    const beforeSending = async () => {
      this.#batch ??= await this.#load(timeout);
      this.#onLeft();
      return this.#batch.body;
    };
    const hooks = { beforeSending, onLate: (answer: unknown) => void this.#onLate(answer) };
    const read = (answer: unknown) => this.#read(answer);
    return kind === 'audio'
      ? transport
          .send(routes.audio, { body: jobs[0] as never, hooks, isChecked: true }, own)
          .map(read) // checked before
      : transport
          .send(
            routes.video,
            { body: { payload: jobs as VideoJob[] }, hooks, isChecked: true },
            own,
          )
          .map(read);
  }

  #read(answer: unknown): JobRecord[] {
    return this.#head.submission.kind === 'audio'
      ? audioRecords(answer)
      : videoRecords(answer, this.#batch?.claims.length ?? 0);
  }

  /** Takes slots and claims the jobs in the journal. This is the last step before the request is sent. */
  async #load(limitMs: number): Promise<PaidBatch> {
    const { slots } = this.#host;
    const chosen = this.#host.choose();
    const wanted = count(chosen);
    const taken = wanted > 0 ? await slots.take(wanted, this.#host.fewestSlots) : [];
    const loads: Load[] = [];
    let places = 0;
    for (const one of chosen) {
      const fits = places + one.submission.jobs.length <= taken.length;
      one.state.isSent = fits; // from here on the caller cannot abort: a claim that is left over counts as unknown
      const own = fits ? await this.#claim(one, places, limitMs) : undefined;
      one.state.isSent = own !== undefined;
      if (own) {
        loads.push({ one, own });
        places += own.length;
      }
    }
    // Skip jobs whose caller gave up while they were being claimed.
    const givenUp = loads.filter(({ one }) => isGivenUp(one));
    void this.#giveBack(givenUp);
    const going = loads.filter((load) => !givenUp.includes(load));
    const members = going.map(({ one }) => one);
    const claims = going.flatMap(({ own }) => own);
    slots.release(taken.slice(claims.length));
    if (members.length === 0) {
      if (taken.length === 0 && wanted > 0) {
        this.#host.pause(askAgainMs, askAgainMs);
      }
      throw new EmptyBatch();
    }
    this.#host.onLeft(members);
    for (const { one, own } of going) {
      one.onOver = () => void this.#onOver(own);
    }
    for (const quota of quotasOf(members)) {
      quota.isUnderWay = true;
    }
    return { members, claims, slots: taken.slice(0, claims.length), body: bodyOf(members) };
  }

  // Rejects the caller only after the claims are removed. A claim that stays in the journal would count,
  // after a restart, as a job that may have been sent.
  async #giveBack(loads: readonly Load[]): Promise<void> {
    await this.#free(
      loads.map(({ one }) => one),
      loads.flatMap(({ own }) => own),
    );
    for (const { one } of loads) {
      one.state.isSent = false;
      one.reject(one.submission.stop?.reason);
    }
  }

  /**
   * Claims the jobs of a submission in the journal. Returns `undefined` when a job could not be claimed: the
   * submission is then not part of this call.
   */
  async #claim(
    one: WaitingSubmission,
    from: number,
    limitMs: number,
  ): Promise<JobClaim[] | undefined> {
    const { ledger } = this.#parts;
    const { jobs, once, quota, part, stop } = one.submission;
    if (!ledger) {
      return jobs.map(() => undefined);
    }
    const call = this.#id;
    const tried = await Promise.allSettled(
      jobs.map((job, index) =>
        ledger.claim(
          { call, place: from + index, limitMs: claimLimitMs(limitMs), part },
          job,
          once,
        ),
      ),
    );
    const own = tried
      .map((claim) => (claim.status === 'fulfilled' ? claim.value : undefined))
      .filter((claim) => claim !== undefined);
    if (own.length === jobs.length) {
      return own;
    }
    await this.#free([one], own);
    const failed = tried.find((claim) => claim.status === 'rejected');
    if (!failed) {
      one.resolve(undefined);
    } else if (stop?.aborted) {
      one.reject(stop.reason);
    } else if (quota && isJournalUnavailable(failed.reason) && this.#host.mayWait(one)) {
      one.tries++; // the failure may concern only this job, so others go first
      this.#parts.onSubmitError(failed.reason);
      this.#host.pause(journalAgainMs, journalAgainMs);
    } else {
      reject(one, failed.reason, 'not-sent');
    }
    return undefined;
  }

  async #onFailure(failure: unknown, call: RunningCall<JobRecord[]>): Promise<void> {
    const batch = this.#batch;
    if (!batch) {
      if (!(failure instanceof EmptyBatch)) {
        this.#turnBack(this.#head, failure);
      }
    } else if (failure instanceof FileIdsMissingError) {
      const { jobs, unassigned } = failure.accepted;
      this.#isAnswered = true;
      await this.#accept(batch, jobs, call.callId, unassigned);
      this.#handOut(batch, jobs, undefined, failure);
    } else {
      await this.#fail(batch, failure, call.outcome);
    }
  }

  async #accept(
    { members, claims, slots: taken }: PaidBatch,
    records: readonly (JobRecord | null)[],
    callId: number | undefined,
    unassigned: readonly JobRecord[] = [],
  ): Promise<void> {
    const known = records.filter((record) => record !== null);
    const fileIds = known.map(({ fileId }) => fileId);
    this.#host.slots.assign(taken.slice(0, fileIds.length), fileIds);
    this.#host.onAccepted(members);
    quotasOf(members).forEach((quota) => quota.answered(known[0]?.folderId));
    [...known, ...unassigned].forEach((record) => this.#parts.onAccepted(record, callId));
    await this.#parts.ledger?.accept(this.#known(claims), records, unassigned);
  }

  #handOut(
    { members }: PaidBatch,
    records: readonly (JobRecord | null)[],
    answer: Answer<unknown> | undefined,
    failure?: unknown,
  ): void {
    let place = 0;
    for (const one of members) {
      const { length } = one.submission.jobs;
      const own = records.slice(place, place + length).filter((record) => record !== null);
      const rest = members.length === 1 ? records.slice(length) : [];
      const extra = rest.filter((record) => record !== null);
      place += length;
      if (own.length === length && (!failure || members.length > 1)) {
        one.state.outcome = undefined;
        one.resolve({ ...(answer ?? replayed), data: [...own, ...extra] });
      } else {
        one.submission.quota?.end(length);
        reject(one, failure, 'unknown');
      }
    }
  }

  // Reads a response that arrives after the call was given up: its jobs are paid for, though no caller waits.
  async #onLate(answer: unknown): Promise<void> {
    let records: readonly (JobRecord | null)[];
    let unassigned: readonly JobRecord[] = [];
    try {
      records = this.#read(answer);
    } catch (failure) {
      if (!(failure instanceof FileIdsMissingError)) {
        return; // an error response: the outcome stays unknown
      }
      ({ jobs: records, unassigned } = failure.accepted);
    }
    const known = [...records, ...unassigned].filter((record) => record !== null);
    known.forEach((record) => this.#parts.onAccepted(record, this.#callId));
    const { claims, slots } = this.#batch ?? { claims: [], slots: [] };
    const fileIds = known.map(({ fileId }) => fileId);
    this.#host.slots.assign(slots.slice(0, fileIds.length), fileIds);
    await this.#parts.ledger?.accept(this.#known(claims), records, unassigned);
  }

  /**
   * The caller of these jobs no longer waits: their outcome is unknown until the response arrives. When no
   * caller of the call waits any more, the call is aborted, and a late response is read for a limited time.
   */
  async #onOver(own: readonly JobClaim[]): Promise<void> {
    if (this.#isAnswered) {
      return;
    }
    if (this.#batch?.members.every(({ isOver }) => isOver)) {
      this.#controller.abort(new EmptyBatch());
    } else {
      await this.#lose(own);
    }
  }

  /** The current journal entries of these claims. Stops renewing the claims. */
  #known(claims: readonly JobClaim[]): StoredEntry<Claimed | Unknown>[] {
    return claims.flatMap((claim) => (claim && (this.#lost.get(claim) ?? claim.release())) ?? []);
  }

  /** Writes into the journal that the outcome of these jobs is unknown. */
  async #lose(claims: readonly JobClaim[]): Promise<void> {
    const open = claims.filter((claim) => claim !== undefined && !this.#lost.has(claim));
    const lost = (await this.#parts.ledger?.lose(this.#known(open))) ?? [];
    lost.forEach((known, place) => {
      const claim = open[place];
      if (claim) {
        this.#lost.set(claim, known);
      }
    });
  }

  async #fail(batch: PaidBatch, failure: unknown, outcome: Outcome | undefined): Promise<void> {
    const { members, slots } = batch;
    if (outcome !== 'not-sent' && outcome !== 'rejected') {
      members.forEach(({ submission }) => submission.quota?.end(submission.jobs.length));
      await this.#onLost(batch, failure);
      return;
    }
    members.forEach(({ submission }) => submission.quota?.comeBack(submission.jobs.length));
    this.#host.slots.release(slots);
    await this.#free(members, batch.claims);
    if (outcome === 'not-sent') {
      const mayRepeat = !hasExpired(batch.claims);
      members.forEach((one) =>
        mayRepeat ? this.#turnBack(one, failure) : reject(one, failure, 'not-sent'),
      );
      this.#pauseAfter(failure);
      return;
    }
    quotasOf(members).forEach((quota) => quota.answered());
    if (isAboutLimit(failure) && !hasExpired(batch.claims)) {
      this.#onLimit(members, failure);
    } else {
      members.forEach((one) => reject(one, failure, 'rejected'));
    }
  }

  /**
   * Handles a call whose outcome is unknown. Its jobs may have been made, so their keys stay in the journal,
   * and their slots stay taken for ten minutes.
   */
  async #onLost({ members, claims }: PaidBatch, failure: unknown): Promise<void> {
    // After a 4xx it is unknown which jobs were made, but the service did respond.
    const isAnswered = isPostreelError(failure) && (failure.status ?? 500) < 500;
    if (isAnswered) {
      quotasOf(members).forEach((quota) => quota.answered());
    }
    this.#pauseAfter(failure);
    await this.#lose(claims);
    for (const one of members) {
      one.state.mayHaveHappened = true;
      const isRepeatable = one.submission.sendsUnknown && !hasExpired(claims);
      const mayGoAgain = isRepeatable && one.tries++ < this.#retriesOf(one);
      if (mayGoAgain) {
        one.maxBatchSize = isAnswered ? 1 : one.maxBatchSize;
        this.#takeOver(one);
        this.#host.again(one);
      } else {
        reject(one, failure, 'unknown');
      }
    }
  }

  #pauseAfter(failure: unknown): void {
    // A call that was aborted because no caller waits is not a failure of the service.
    if (!(failure instanceof EmptyBatch)) {
      this.#host.pause(firstPauseMs, maxPauseMs, failure);
    }
  }

  // With `sendsUnknown` the caller accepts that a job may be made twice: the next attempt replaces the
  // unknown entry of the key.
  #takeOver(one: WaitingSubmission): void {
    const { once } = one.submission;
    const over = [...this.#lost.values()].find(({ storeKey }) => storeKey === once?.storeKey);
    one.submission = once && over ? { ...one.submission, once: { ...once, over } } : one.submission;
  }

  /** The call made no job: removes the claims, or restores the entries that the claims had replaced. */
  async #free(members: readonly WaitingSubmission[], claims: readonly JobClaim[]): Promise<void> {
    const before = members.flatMap(({ submission }) => submission.once?.over ?? []);
    await this.#parts.ledger?.release(this.#known(claims), before);
  }

  /**
   * The service refused the call because of too many requests or too many pending jobs. Pauses, then retries
   * the submissions; in smaller calls when the pending slots were full, or from the second refusal on.
   */
  #onLimit(members: readonly WaitingSubmission[], failure: unknown): void {
    const jobs = count(members);
    const isFull = isPendingLimitError(failure);
    for (const one of members) {
      one.refusals++;
      if ((isFull || one.refusals > 1) && jobs > 1) {
        one.maxBatchSize = Math.ceil(jobs / 2);
      }
      if (this.#host.mayWait(one)) {
        this.#host.again(one);
      } else {
        reject(one, failure, 'rejected');
      }
    }
    this.#host.pause(limitPauseMs, maxLimitPauseMs, failure);
  }

  /**
   * Handles a submission that was certainly not sent. Retries it after a transient failure, until its retries
   * (or the deadline of its queue) are used up; otherwise rejects it.
   */
  #turnBack(one: WaitingSubmission, failure: unknown): void {
    const { quota } = one.submission;
    const mayPass =
      isPostreelError(failure) && isTransient(failure) && failure.code !== 'QUEUE_TIMEOUT';
    const isPatient = quota
      ? quota.hasConnected && this.#host.mayWait(one)
      : one.tries < this.#retriesOf(one);
    one.tries++;
    if (mayPass && isPatient) {
      if (quota) {
        this.#parts.onSubmitError(failure);
      }
      this.#host.again(one);
    } else {
      reject(one, failure, 'not-sent');
    }
  }

  #retriesOf({ submission }: WaitingSubmission): number {
    return submission.options.retries ?? this.#parts.retries;
  }
}

/** The response fields of a result that has no HTTP response, or whose HTTP response was an error. */
export const replayed: Omit<Answer<never>, 'data'> = {
  response: undefined,
  requestId: undefined,
  replayed: true,
};

// A call whose claims have expired makes no further attempt: other processes already take the outcome for
// unknown.
function hasExpired(claims: readonly JobClaim[]): boolean {
  return claims.some((claim) => claim?.hasExpired);
}

function reject(one: WaitingSubmission, failure: unknown, outcome: Outcome): void {
  one.state.outcome = isPostreelError(failure) ? failure.outcome : outcome;
  one.reject(failure);
}

function isGivenUp({ isOver, submission }: WaitingSubmission): boolean {
  return isOver || submission.stop?.aborted === true;
}

function isAboutLimit(failure: unknown): boolean {
  return (isPostreelError(failure) && failure.status === 429) || isPendingLimitError(failure);
}
