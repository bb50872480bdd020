import type { Answer, RequestOptions } from '../../core/types.js';
import { isPostreelError, isTransient, type Outcome } from '../../core/errors.js';
import type { RunningCall } from '../../core/call.js';
import { claimLimitMs, type HeldClaim } from '../../core/claim.js';
import { isJournalGone, type Claimed, type StoredEntry, type Unknown } from '../../core/ledger.js';
import { audioRecords, FileIdsMissingError, videoRecords } from '../generate/accepted.js';
import { routes } from '../generate/routes.js';
import type { VideoJob } from '../generate/types.js';
import type { JobRecord } from '../jobs/job.js';
import { isPendingLimitError } from './full.js';
import { bodyOf, count, lanesOf, type WaitingSubmission } from './submission.js';
import type { Slots } from './slots.js';
import type { SubmitterParts } from './submitter.js';

/** What a call asks of the submitter. */
export interface CallHost {
  readonly slots: Slots;
  /** Chooses what the call carries, once the rate limit has granted it. */
  choose(): readonly WaitingSubmission[];
  /** The fewest slots that are worth a call. */
  readonly fewestSlots: number;
  /** May this one wait any longer? */
  mayWait(one: WaitingSubmission): boolean;
  /** These leave now. */
  onLeft(members: readonly WaitingSubmission[]): void;
  /** The service has taken jobs. */
  onAccepted(members: readonly WaitingSubmission[]): void;
  /** One may be submitted again. */
  again(one: WaitingSubmission): void;
  /** Nothing leaves for a while: as long as a failure asks, or longer each time. */
  pause(firstMs: number, mostMs?: number, failure?: unknown): void;
}

/** Nothing may leave after all: no slot is free, or nobody waits any more. */
class EmptyBatch extends Error {}

/** What has left. */
interface PaidBatch {
  readonly members: readonly WaitingSubmission[];
  /** One for each job; `undefined` without a journal. */
  readonly claims: readonly JobClaim[];
  readonly slots: readonly string[];
  readonly body: unknown;
}

/** A parcel with its claims. */
interface Load {
  readonly one: WaitingSubmission;
  readonly own: readonly JobClaim[];
}

type JobClaim = HeldClaim | undefined;

const firstPauseMs = 500;
const maxPauseMs = 60_000;
// "10 requests per 10 minutes", where the service does not say how long it wants to be left alone.
const limitPauseMs = 60_000;
const maxLimitPauseMs = 5 * 60_000;
const askAgainMs = 3_000;
const journalAgainMs = 5_000;

/** One paid call: it carries what waits when the rate limit grants it, and tells each job what became of it. */
export class PaidCall {
  readonly #parts: SubmitterParts;
  readonly #host: CallHost;
  readonly #head: WaitingSubmission;
  readonly #id = crypto.randomUUID();
  readonly #controller = new AbortController();
  #batch: PaidBatch | undefined;
  /** The entries of jobs whose outcome is unknown, by their claims. */
  readonly #lost = new Map<HeldClaim, StoredEntry<Unknown>>();
  #callId: number | undefined;
  /** Does every job of the call have its outcome? */
  #isAnswered = false;
  #onLeft: () => void = () => undefined;
  /** Resolves when the request leaves. */
  readonly left = new Promise<void>((resolve) => {
    this.#onLeft = resolve;
  });

  constructor(parts: SubmitterParts, host: CallHost, head: WaitingSubmission) {
    this.#parts = parts;
    this.#host = host;
    this.#head = head;
  }

  /** Nobody wants it any more, as long as it has not left. */
  cancel(): void {
    if (!this.#batch) {
      this.#controller.abort(new EmptyBatch());
    }
  }

  /** Makes the call; never rejects. */
  async run(): Promise<void> {
    await this.#make();
    for (const lane of lanesOf(this.#batch?.members ?? [])) {
      lane.isUnderWay = false;
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
    const { kind, jobs, options } = this.#head.parcel;
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
    return this.#head.parcel.kind === 'audio'
      ? audioRecords(answer)
      : videoRecords(answer, this.#batch?.claims.length ?? 0);
  }

  /** Takes slots and claims the jobs: the last thing before the request leaves. */
  async #load(limitMs: number): Promise<PaidBatch> {
    const { slots } = this.#host;
    const chosen = this.#host.choose();
    const wanted = count(chosen);
    const taken = wanted > 0 ? await slots.take(wanted, this.#host.fewestSlots) : [];
    const loads: Load[] = [];
    let places = 0;
    for (const one of chosen) {
      const fits = places + one.parcel.jobs.length <= taken.length;
      one.state.hasLeft = fits; // a claim that nobody waits for would be unknown after a restart
      const own = fits ? await this.#claim(one, places, limitMs) : undefined;
      one.state.hasLeft = own !== undefined;
      if (own) {
        loads.push({ one, own });
        places += own.length;
      }
    }
    // Whose caller has given up meanwhile is not sent.
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
    for (const lane of lanesOf(members)) {
      lane.isUnderWay = true;
    }
    return { members, claims, slots: taken.slice(0, claims.length), body: bodyOf(members) };
  }

  // Its caller hears of it once the claim is gone: after a restart it would stand for a job that was sent.
  async #giveBack(loads: readonly Load[]): Promise<void> {
    await this.#free(
      loads.map(({ one }) => one),
      loads.flatMap(({ own }) => own),
    );
    for (const { one } of loads) {
      one.state.hasLeft = false;
      one.reject(one.parcel.stop?.reason);
    }
  }

  /** The claims of a parcel; `undefined` when it does not go with this call. */
  async #claim(
    one: WaitingSubmission,
    from: number,
    limitMs: number,
  ): Promise<JobClaim[] | undefined> {
    const { ledger } = this.#parts;
    const { jobs, once, lane, part, stop } = one.parcel;
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
      one.resolve('taken');
    } else if (stop?.aborted) {
      one.reject(stop.reason);
    } else if (lane && isJournalGone(failed.reason) && this.#host.mayWait(one)) {
      one.tries++; // it may be about this job alone: others go first
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
    lanesOf(members).forEach((lane) => lane.answered(known[0]?.folderId));
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
      const { length } = one.parcel.jobs;
      const own = records.slice(place, place + length).filter((record) => record !== null);
      const rest = members.length === 1 ? records.slice(length) : [];
      const extra = rest.filter((record) => record !== null);
      place += length;
      if (own.length === length && (!failure || members.length > 1)) {
        one.state.outcome = undefined;
        one.resolve({ ...(answer ?? replayed), data: [...own, ...extra] });
      } else {
        one.parcel.lane?.end(length);
        reject(one, failure, 'unknown');
      }
    }
  }

  // The jobs of a call that was given up are paid for, though their caller no longer waits.
  async #onLate(answer: unknown): Promise<void> {
    let records: readonly (JobRecord | null)[];
    let unassigned: readonly JobRecord[] = [];
    try {
      records = this.#read(answer);
    } catch (failure) {
      if (!(failure instanceof FileIdsMissingError)) {
        return; // a no: the outcome stays unknown
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
   * The caller of some jobs no longer waits: their outcome is unknown until the response comes. Once nobody
   * waits for the call, it is given up, and its response is read for a limited time.
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

  /** The entries of claims as they stand in the journal. The claims are no longer renewed. */
  #known(claims: readonly JobClaim[]): StoredEntry<Claimed | Unknown>[] {
    return claims.flatMap((claim) => (claim && (this.#lost.get(claim) ?? claim.release())) ?? []);
  }

  /** Writes down that the outcome of these jobs is unknown. */
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
      members.forEach(({ parcel }) => parcel.lane?.end(parcel.jobs.length));
      await this.#onLost(batch, failure);
      return;
    }
    members.forEach(({ parcel }) => parcel.lane?.comeBack(parcel.jobs.length));
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
    lanesOf(members).forEach((lane) => lane.answered());
    if (isAboutLimit(failure) && !hasExpired(batch.claims)) {
      this.#onLimit(members, failure);
    } else {
      members.forEach((one) => reject(one, failure, 'rejected'));
    }
  }

  /** Its jobs may have been made: their keys stay, and for a while their slots. */
  async #onLost({ members, claims }: PaidBatch, failure: unknown): Promise<void> {
    // A refusal leaves open which of its jobs were made, but the service did answer.
    const isAnswered = isPostreelError(failure) && (failure.status ?? 500) < 500;
    if (isAnswered) {
      lanesOf(members).forEach((lane) => lane.answered());
    }
    this.#pauseAfter(failure);
    await this.#lose(claims);
    for (const one of members) {
      one.state.mayHaveHappened = true;
      const isRepeatable = one.parcel.sendsUnknown && !hasExpired(claims);
      const mayGoAgain = isRepeatable && one.tries++ < this.#retriesOf(one);
      if (mayGoAgain) {
        one.maxCompany = isAnswered ? 1 : one.maxCompany;
        this.#takeOver(one);
        this.#host.again(one);
      } else {
        reject(one, failure, 'unknown');
      }
    }
  }

  #pauseAfter(failure: unknown): void {
    // A call that nobody waits for any more says nothing about the service.
    if (!(failure instanceof EmptyBatch)) {
      this.#host.pause(firstPauseMs, maxPauseMs, failure);
    }
  }

  // A caller may say that a job may be made twice: it takes over the key that stays as unknown.
  #takeOver(one: WaitingSubmission): void {
    const { once } = one.parcel;
    const over = [...this.#lost.values()].find(({ place }) => place === once?.place);
    one.parcel = once && over ? { ...one.parcel, once: { ...once, over } } : one.parcel;
  }

  /** This call did nothing: what stood under these keys before stands there again. */
  async #free(members: readonly WaitingSubmission[], claims: readonly JobClaim[]): Promise<void> {
    const before = members.flatMap(({ parcel }) => parcel.once?.over ?? []);
    await this.#parts.ledger?.release(this.#known(claims), before);
  }

  /** Too many requests, or too many jobs: waited out and made, in smaller calls where that may help. */
  #onLimit(members: readonly WaitingSubmission[], failure: unknown): void {
    const jobs = count(members);
    const isFull = isPendingLimitError(failure);
    for (const one of members) {
      one.refusals++;
      if ((isFull || one.refusals > 1) && jobs > 1) {
        one.maxCompany = Math.ceil(jobs / 2);
      }
      if (this.#host.mayWait(one)) {
        this.#host.again(one);
      } else {
        reject(one, failure, 'rejected');
      }
    }
    this.#host.pause(limitPauseMs, maxLimitPauseMs, failure);
  }

  /** A job that certainly was not sent goes again, unless it is no outage, or an endless one. */
  #turnBack(one: WaitingSubmission, failure: unknown): void {
    const { lane } = one.parcel;
    const mayPass =
      isPostreelError(failure) && isTransient(failure) && failure.code !== 'QUEUE_TIMEOUT';
    const isPatient = lane
      ? lane.hasConnected && this.#host.mayWait(one)
      : one.tries < this.#retriesOf(one);
    one.tries++;
    if (mayPass && isPatient) {
      if (lane) {
        this.#parts.onSubmitError(failure);
      }
      this.#host.again(one);
    } else {
      reject(one, failure, 'not-sent');
    }
  }

  #retriesOf({ parcel }: WaitingSubmission): number {
    return parcel.options.retries ?? this.#parts.retries;
  }
}

/** The answer to a call that needed none, or whose answer was an error. */
export const replayed: Omit<Answer<never>, 'data'> = {
  response: undefined,
  requestId: undefined,
  replayed: true,
};

// An owner that could not renew its claims makes no further attempt: others take the outcome for unknown.
function hasExpired(claims: readonly JobClaim[]): boolean {
  return claims.some((claim) => claim?.hasExpired);
}

function reject(one: WaitingSubmission, failure: unknown, outcome: Outcome): void {
  one.state.outcome = isPostreelError(failure) ? failure.outcome : outcome;
  one.reject(failure);
}

function isGivenUp({ isOver, parcel }: WaitingSubmission): boolean {
  return isOver || parcel.stop?.aborted === true;
}

function isAboutLimit(failure: unknown): boolean {
  return (isPostreelError(failure) && failure.status === 429) || isPendingLimitError(failure);
}
