import type { Answer, RequestOptions } from '../../core/types.js';
import { isPostreelError, isTransient, type Outcome } from '../../core/errors.js';
import type { RunningCall } from '../../core/call/call.js';
import { claimLimitMs, type HeldClaim } from '../../core/once/claim.js';
import {
  isJournalUnavailable,
  type Claimed,
  type StoredEntry,
  type Unknown,
} from '../../core/once/ledger.js';
import type { MediaConnection } from '../connection.js';
import { audioRecords, FileIdsMissingError, videoRecords } from '../generate/accepted.js';
import { routes } from '../generate/routes.js';
import type { VideoJob } from '../generate/types.js';
import type { JobMemory, JobRecord } from '../jobs/job.js';
import type { JobLedger } from '../jobs/ledger.js';
import { paidTimeoutMs } from '../limits.js';
import type { MediaNotices } from '../notices.js';
import type { FileKind } from '../status/intervals.js';
import { isPendingLimitError } from './pending-limit.js';
import type { Scheduler } from './scheduler.js';
import { bodyOf, count, quotasOf, type WaitingSubmission } from './submission.js';
import type { Slots } from './slots.js';

/** The parts of the client that a paid call uses. */
export interface PaidCallParts {
  readonly connection: MediaConnection;
  readonly ledger: JobLedger | undefined;
  readonly memory: JobMemory;
  readonly notices: MediaNotices;
}

/**
 * Ends a call that has no failure: no slot is free, or no caller waits for it any more. In the second case the
 * request may be in flight.
 */
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
interface ClaimedSubmission {
  readonly one: WaitingSubmission;
  readonly own: readonly JobClaim[];
}

type JobClaim = HeldClaim | undefined;

// No call is sent for this long after a failure. The pause doubles with each failure.
const firstPauseMs = 500;
const maxPauseMs = 60_000;
// How long a direct call is retried after it was refused. A queue sets its own time.
const usualPatienceMs = 24 * 60 * 60_000;
const maxRefusals = 8;
// The pause after a 429 without `Retry-After`. The limit is "10 requests per 10 minutes".
const limitPauseMs = 60_000;
const maxLimitPauseMs = 5 * 60_000;
/** How long no call is sent after the shared store had too few slots for one, in milliseconds. */
const fullStoreRetryMs = 3_000;
/** How long to wait before an unreachable journal is tried again, in milliseconds. */
export const journalRetryMs = 5_000;

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
  readonly #scheduler: Scheduler;
  readonly #slots: Slots;
  /** The call is not sent when fewer slots than this are free. */
  readonly #fewestSlots: number;
  readonly #head: WaitingSubmission;
  readonly #id = crypto.randomUUID();
  readonly #controller = new AbortController();
  #batch: PaidBatch | undefined;
  /** The submissions that are to be sent again. */
  readonly #repeated: WaitingSubmission[] = [];
  /** The journal entries of jobs whose outcome is unknown, by the claims they replaced. */
  readonly #unknownEntries = new Map<HeldClaim, StoredEntry<Unknown>>();
  #call: RunningCall<JobRecord[]> | undefined;
  /** Has a response decided the outcome of every job? */
  #isAnswered = false;
  #isSent = false;
  #onSent: () => void = () => undefined;
  /** Resolves right before the request is sent. */
  readonly sent = new Promise<void>((resolve) => {
    this.#onSent = resolve;
  });

  constructor(parts: PaidCallParts, scheduler: Scheduler, slots: Slots, head: WaitingSubmission) {
    this.#parts = parts;
    this.#scheduler = scheduler;
    this.#slots = slots;
    this.#fewestSlots = scheduler.fewestSlots(head, slots);
    this.#head = head;
  }

  get kind(): FileKind {
    return this.#head.submission.kind;
  }

  /** Cancels the call because no caller waits for it. Once the request has been sent, this has no effect. */
  cancel(): void {
    if (!this.#isSent) {
      this.#controller.abort(new EmptyBatch());
    }
  }

  /** Makes the call; never rejects. Resolves to the submissions that are to be sent again. */
  async run(): Promise<readonly WaitingSubmission[]> {
    const call = this.#send();
    this.#call = call;
    await call.withResponse().then(
      (answer) => this.#handleAnswer(answer),
      (failure: unknown) => this.#handleFailure(failure, call),
    );
    for (const quota of quotasOf(this.#batch?.members ?? [])) {
      quota.isInFlight = false;
    }
    return this.#repeated;
  }

  async #handleAnswer(answer: Answer<JobRecord[]>): Promise<void> {
    this.#isAnswered = true;
    if (this.#batch) {
      await this.#accept(this.#batch, answer.data);
      this.#resolveMembers(this.#batch, answer.data, answer);
    }
  }

  #send(): RunningCall<JobRecord[]> {
    const { transport, options: usual } = this.#parts.connection;
    const { kind, jobs, options } = this.#head.submission;
    const { headers, priority, timeout = usual.timeout ?? paidTimeoutMs } = options;
    const { signal } = this.#controller;
    const own: RequestOptions = { headers, priority, timeout, retries: 0, signal };
    const beforeSending = async () => {
      this.#batch ??= await this.#prepareBatch(timeout);
      this.#onSent();
      return this.#batch.body;
    };
    const hooks = { beforeSending, onLate: (answer: unknown) => void this.#onLate(answer) };
    const read = (answer: unknown) => this.#parseRecords(answer);
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

  #parseRecords(answer: unknown): JobRecord[] {
    return this.#head.submission.kind === 'audio'
      ? audioRecords(answer)
      : videoRecords(answer, this.#batch?.claims.length ?? 0);
  }

  /** Takes slots and claims the jobs in the journal. This is the last step before the request is sent. */
  async #prepareBatch(limitMs: number): Promise<PaidBatch> {
    const slots = this.#slots;
    const chosen = this.#scheduler.choose(this.#head, slots);
    const wanted = count(chosen);
    const taken = wanted > 0 ? await slots.take(wanted, this.#fewestSlots) : [];
    const claimed: ClaimedSubmission[] = [];
    let places = 0;
    for (const one of chosen) {
      const fits = places + one.submission.jobs.length <= taken.length;
      const own = fits ? await this.#claim(one, places, limitMs) : undefined;
      if (own) {
        claimed.push({ one, own });
        places += own.length;
      }
    }
    // Skip jobs whose caller gave up while they were being claimed.
    const givenUp = claimed.filter(({ one }) => one.isGivenUp);
    void this.#releaseAbandoned(givenUp);
    const sent = claimed.filter((one) => !givenUp.includes(one));
    const members = sent.map(({ one }) => one);
    const claims = sent.flatMap(({ own }) => own);
    slots.release(taken.slice(claims.length));
    if (members.length === 0) {
      if (taken.length === 0 && wanted > 0) {
        this.#scheduler.pause(fullStoreRetryMs);
      }
      throw new EmptyBatch();
    }
    this.#isSent = true;
    this.#scheduler.noteSent(members);
    for (const { one, own } of sent) {
      one.markSent();
      one.onOver = () => void this.#onOver(own);
    }
    for (const quota of quotasOf(members)) {
      quota.isInFlight = true;
    }
    return { members, claims, slots: taken.slice(0, claims.length), body: bodyOf(members) };
  }

  // Rejects the caller only after the claims are removed. A claim that stays in the journal would count,
  // after a restart, as a job that may have been sent.
  async #releaseAbandoned(claimed: readonly ClaimedSubmission[]): Promise<void> {
    await this.#releaseClaims(
      claimed.map(({ one }) => one),
      claimed.flatMap(({ own }) => own),
    );
    for (const { one } of claimed) {
      one.markUnclaimed();
      one.abort(one.submission.cancelSignal?.reason);
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
    const { jobs, once, quota, part, cancelSignal } = one.submission;
    one.markClaiming();
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
    await this.#releaseClaims([one], own);
    one.markUnclaimed();
    const failed = tried.find((claim) => claim.status === 'rejected');
    if (!failed) {
      one.skip();
    } else if (cancelSignal?.aborted) {
      one.abort(cancelSignal.reason);
    } else if (quota && isJournalUnavailable(failed.reason) && this.#mayRetryLater(one)) {
      one.tries++; // the failure may concern only this job, so others go first
      this.#parts.notices.warnOfSubmitError(failed.reason);
      this.#scheduler.pause(journalRetryMs);
    } else {
      one.fail(failed.reason, 'not-sent');
    }
    return undefined;
  }

  async #handleFailure(failure: unknown, call: RunningCall<JobRecord[]>): Promise<void> {
    const batch = this.#batch;
    if (!batch) {
      if (!(failure instanceof EmptyBatch)) {
        this.#retryUnsent(this.#head, failure);
      }
    } else if (failure instanceof FileIdsMissingError) {
      const { jobs, unassigned } = failure.accepted;
      this.#isAnswered = true;
      await this.#accept(batch, jobs, unassigned);
      this.#resolveMembers(batch, jobs, undefined, failure);
    } else {
      await this.#handleOutcome(batch, failure, call.outcome);
    }
  }

  async #accept(
    { members, claims, slots: taken }: PaidBatch,
    records: readonly (JobRecord | null)[],
    unassigned: readonly JobRecord[] = [],
  ): Promise<void> {
    const known = records.filter((record) => record !== null);
    const fileIds = known.map(({ fileId }) => fileId);
    this.#slots.assign(taken.slice(0, fileIds.length), fileIds);
    this.#scheduler.noteAccepted(members);
    quotasOf(members).forEach((quota) => quota.noteResponse(known[0]?.folderId));
    [...known, ...unassigned].forEach((record) => this.#noteAccepted(record));
    await this.#parts.ledger?.accept(this.#entriesOf(claims), records, unassigned);
  }

  #noteAccepted({ fileId, kind }: JobRecord): void {
    const callId = this.#call?.callId ?? 0;
    this.#parts.memory.add(fileId, kind);
    this.#parts.connection.events.emit('job:accepted', { fileId, kind, callId });
  }

  #resolveMembers(
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
        one.succeed({ ...(answer ?? replayed), data: [...own, ...extra] });
      } else {
        one.submission.quota?.countEnded(length);
        one.fail(failure, 'unknown');
      }
    }
  }

  // Reads a response that arrives after the call was given up: its jobs are paid for, though no caller waits.
  async #onLate(answer: unknown): Promise<void> {
    let records: readonly (JobRecord | null)[];
    let unassigned: readonly JobRecord[] = [];
    try {
      records = this.#parseRecords(answer);
    } catch (failure) {
      if (!(failure instanceof FileIdsMissingError)) {
        return; // an error response: the outcome stays unknown
      }
      ({ jobs: records, unassigned } = failure.accepted);
    }
    const known = [...records, ...unassigned].filter((record) => record !== null);
    known.forEach((record) => this.#noteAccepted(record));
    const { claims, slots } = this.#batch ?? { claims: [], slots: [] };
    const fileIds = known.map(({ fileId }) => fileId);
    this.#slots.assign(slots.slice(0, fileIds.length), fileIds);
    await this.#parts.ledger?.accept(this.#entriesOf(claims), records, unassigned);
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
      await this.#markUnknown(own);
    }
  }

  /** The current journal entries of these claims. Stops renewing the claims. */
  #entriesOf(claims: readonly JobClaim[]): StoredEntry<Claimed | Unknown>[] {
    return claims.flatMap(
      (claim) => (claim && (this.#unknownEntries.get(claim) ?? claim.release())) ?? [],
    );
  }

  /** Writes into the journal that the outcome of these jobs is unknown. */
  async #markUnknown(claims: readonly JobClaim[]): Promise<void> {
    const open = claims.filter((claim) => claim !== undefined && !this.#unknownEntries.has(claim));
    const lost = (await this.#parts.ledger?.markUnknown(this.#entriesOf(open))) ?? [];
    lost.forEach((known, place) => {
      const claim = open[place];
      if (claim) {
        this.#unknownEntries.set(claim, known);
      }
    });
  }

  async #handleOutcome(
    batch: PaidBatch,
    failure: unknown,
    outcome: Outcome | undefined,
  ): Promise<void> {
    const { members, slots } = batch;
    if (outcome !== 'not-sent' && outcome !== 'rejected') {
      members.forEach(({ submission }) => submission.quota?.countEnded(submission.jobs.length));
      await this.#handleUnknown(batch, failure);
      return;
    }
    for (const one of members) {
      one.submission.quota?.countNotMade(one.submission.jobs.length);
      one.onOver = () => undefined; // this call did nothing: a caller who gives up from now on leaves nothing unknown
    }
    this.#slots.release(slots);
    await this.#releaseClaims(members, batch.claims);
    if (outcome === 'not-sent') {
      const mayRepeat = !hasExpired(batch.claims);
      members.forEach((one) =>
        mayRepeat ? this.#retryUnsent(one, failure) : one.fail(failure, 'not-sent'),
      );
      this.#pauseAfter(failure);
      return;
    }
    quotasOf(members).forEach((quota) => quota.noteResponse());
    if (isLimitError(failure) && !hasExpired(batch.claims)) {
      this.#handleLimit(members, failure);
    } else {
      members.forEach((one) => one.fail(failure, 'rejected'));
    }
  }

  /**
   * Handles a call whose outcome is unknown. Its jobs may have been made, so their keys stay in the journal,
   * and their slots stay taken for ten minutes.
   */
  async #handleUnknown({ members, claims }: PaidBatch, failure: unknown): Promise<void> {
    // A 4xx to a call for several jobs: the service responded, but some of the jobs may have been made.
    const isRefusal = isPostreelError(failure) && (failure.status ?? 500) < 500;
    if (isRefusal) {
      quotasOf(members).forEach((quota) => quota.noteResponse());
    }
    this.#pauseAfter(failure);
    await this.#markUnknown(claims);
    for (const one of members) {
      one.markLost();
      const isRepeatable = one.submission.sendsUnknown && !hasExpired(claims);
      const isRepeated = isRepeatable && one.tries++ < this.#retriesOf(one);
      if (isRepeated) {
        one.maxBatchSize = isRefusal ? 1 : one.maxBatchSize;
        this.#replaceUnknown(one);
        this.#repeated.push(one);
      } else {
        one.fail(failure, 'unknown');
      }
    }
  }

  #pauseAfter(failure: unknown): void {
    // A call that was aborted because no caller waits is not a failure of the service.
    if (!(failure instanceof EmptyBatch)) {
      this.#scheduler.pause(firstPauseMs, maxPauseMs, failure);
    }
  }

  // With `sendsUnknown` the caller accepts that a job may be made twice: the next attempt replaces the
  // unknown entry of the key.
  #replaceUnknown(one: WaitingSubmission): void {
    const { once } = one.submission;
    const replaced = [...this.#unknownEntries.values()].find(
      ({ storeKey }) => storeKey === once?.storeKey,
    );
    one.submission =
      once && replaced ? { ...one.submission, once: { ...once, replaced } } : one.submission;
  }

  /** The call made no job: removes the claims, or restores the entries that the claims had replaced. */
  async #releaseClaims(
    members: readonly WaitingSubmission[],
    claims: readonly JobClaim[],
  ): Promise<void> {
    const before = members.flatMap(({ submission }) => submission.once?.replaced ?? []);
    await this.#parts.ledger?.release(this.#entriesOf(claims), before);
  }

  /**
   * The service refused the call because of too many requests or too many pending jobs. Pauses, then retries
   * the submissions; in smaller calls when the pending slots were full, or from the second refusal on.
   */
  #handleLimit(members: readonly WaitingSubmission[], failure: unknown): void {
    const jobs = count(members);
    const isFull = isPendingLimitError(failure);
    for (const one of members) {
      one.refusals++;
      if ((isFull || one.refusals > 1) && jobs > 1) {
        one.maxBatchSize = Math.ceil(jobs / 2);
      }
      if (this.#mayRetryLater(one)) {
        this.#repeated.push(one);
      } else {
        one.fail(failure, 'rejected');
      }
    }
    this.#scheduler.pause(limitPauseMs, maxLimitPauseMs, failure);
  }

  /**
   * Handles a submission that was certainly not sent. Retries it after a transient failure, until its retries
   * (or the deadline of its queue) are used up; otherwise rejects it.
   */
  #retryUnsent(one: WaitingSubmission, failure: unknown): void {
    const { quota } = one.submission;
    const mayPass =
      isPostreelError(failure) && isTransient(failure) && failure.code !== 'QUEUE_TIMEOUT';
    const isPatient = quota
      ? quota.hasConnected && this.#mayRetryLater(one)
      : one.tries < this.#retriesOf(one);
    one.tries++;
    if (mayPass && isPatient) {
      if (quota) {
        this.#parts.notices.warnOfSubmitError(failure);
      }
      this.#repeated.push(one);
    } else {
      one.fail(failure, 'not-sent');
    }
  }

  /** May this submission be retried, or has it failed for too long or too often? */
  #mayRetryLater(one: WaitingSubmission): boolean {
    const now = this.#parts.connection.settings.clock.now();
    one.failingSince ??= now;
    const { quota } = one.submission;
    const isInTime = now - one.failingSince <= (quota?.deadlineMs ?? usualPatienceMs);
    const most = this.#retriesOf(one) === 0 ? 0 : maxRefusals;
    return isInTime && (quota !== undefined || one.refusals <= most);
  }

  #retriesOf({ submission }: WaitingSubmission): number {
    return submission.options.retries ?? this.#parts.connection.settings.retries;
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

function isLimitError(failure: unknown): boolean {
  return (isPostreelError(failure) && failure.status === 429) || isPendingLimitError(failure);
}
