import { onAbort, type Clock, Notifier } from '../../core/async.js';
import type { Answer, RequestOptions } from '../../core/types.js';
import { isPostreelError, TimeoutError, type PostreelError, isTransient } from '../../core/errors.js';
import type { Claimed, Known } from '../../journal/ledger.js';
import type { CallState, RunningCall } from '../../core/call.js';
import { queueTimeout } from '../../core/rate-limit.js';
import type { Transport } from '../../core/send.js';
import { audioRecords, FileIdsMissingError, videoRecords } from '../generate/accepted.js';
import { brandOf, estimatedMinutes, type MediaJob } from '../generate/media-job.js';
import { routes } from '../generate/routes.js';
import type { VideoJob } from '../generate/types.js';
import type { JobRecord } from '../jobs/job.js';
import { isJournalGone, type JobLedger, type OnceJob } from '../jobs/ledger.js';
import type { FileKind } from '../status/intervals.js';
import { isPendingLimitError } from './full.js';
import type { Lane } from './lane.js';
import type { Slots } from './slots.js';

/** What one call of `generate` submits: it is never split. */
export interface Parcel {
  readonly kind: FileKind;
  readonly jobs: readonly MediaJob[];
  /** The folder of videos, as the caller wants it. */
  readonly folder: { readonly file?: string | undefined; readonly folderId?: string | undefined };
  /** The key of a single job that is submitted once. */
  readonly once?: OnceJob | undefined;
  readonly options: RequestOptions;
  /** The queue that it belongs to. */
  readonly lane?: Lane | undefined;
}

/** The jobs of a parcel, as the service has them. */
export type Submitted = Answer<JobRecord[]> & { readonly known?: { readonly isSaved: boolean } };

/** What a submitter works with. */
export interface SubmitterParts {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly slots: () => Promise<Slots>;
  readonly ledger: JobLedger | undefined;
  /** The rate limit; `undefined` when it is left to the caller. */
  readonly limits: { readonly limit: number; readonly windowMs: number } | undefined;
  /** How long one attempt may take unless the caller sets it. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** Looks at a file that has a slot; never rejects. */
  readonly look: (fileId: string, signal: AbortSignal) => Promise<unknown>;
  /** Do status checks count towards the rate limit? */
  readonly areLooksCharged: () => boolean;
  readonly onAccepted: (record: JobRecord, callId: number | undefined) => void;
  /** The journal does not answer, and a queue waits for it. */
  readonly onTrouble: (failure: unknown) => void;
  /** Jobs wait for slots. */
  readonly onWait: (waitMs: number, queued: number) => void;
}

interface Waiting {
  readonly parcel: Parcel;
  readonly state: CallState;
  readonly minutes: number;
  readonly since: number;
  /** The most jobs that its call may carry: fewer after one with more was refused. */
  company: number;
  refusals: number;
  tries: number;
  /** Does its caller still wait for it? */
  isOver: boolean;
  readonly resolve: (submitted: Submitted | 'taken') => void;
  readonly reject: (reason: unknown) => void;
}

/** A call that is about to leave, or has left. */
interface Batch {
  readonly id: string;
  readonly members: readonly Waiting[];
  readonly claims: readonly Known<Claimed>[];
  readonly slots: readonly string[];
  readonly body: unknown;
}

// Jobs that come together go together.
const gatherMs = 25;
const fillMs = 1_000;
// A call for one slot is mostly a call wasted: the next one is about to come free.
const fewestFree = 2;
const lookEveryMs = 10_000;
const freshMs = 3_000;
const maxLookMs = 5_000;
// Workers that share slots ask their store every few seconds, and leave single slots to each other.
const askAgainMs = 3_000;
const usualJobMs = 5 * 60_000;
const maxWithoutMs = 10 * 60_000;
const journalAgainMs = 5_000;
const firstPauseMs = 500;
const maxPauseMs = 60_000;
const maxFullPauseMs = 5 * 60_000;
const patienceMs = 24 * 60 * 60_000;
const maxRefusals = 8;
const reportEveryMs = 60_000;

/** Nothing may leave after all: no slot is free, or nobody waits any more. */
class NothingToSend extends Error {}

/**
 * The one way on which jobs reach the service. What is to be submitted waits here until the rate limit
 * grants a call and slots are free; then as many jobs leave with it as there are slots, longest first.
 * While more jobs wait than slots are free, calls are spaced so that those of a window last for it.
 */
export class Submitter {
  readonly #parts: SubmitterParts;
  readonly #waiting = new Set<Waiting>();
  readonly #news = new Notifier();
  #slots: Slots | undefined;
  #isRunning = false;
  /** The call of videos that is under way: the next one waits for its answer. */
  #isFlying = false;
  /** Ends the wait of a call that nobody wants any more. */
  #granting: { readonly kind: FileKind; readonly controller: AbortController } | undefined;
  #joinedAt = Number.NEGATIVE_INFINITY;
  #videosAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauses = 0;
  #scarceSince: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #journalGoneAt = Number.NEGATIVE_INFINITY;

  constructor(parts: SubmitterParts) {
    this.#parts = parts;
  }

  /** Something has changed outside: a queue goes on, or one of its jobs is over. */
  wake(): void {
    this.#news.notify();
  }

  /** The journal does not answer, and a queue waits for it: says so each minute. */
  onJournalGone(failure: unknown): void {
    const now = this.#parts.clock.now();
    if (now - this.#journalGoneAt >= reportEveryMs) {
      this.#journalGoneAt = now;
      this.#parts.onTrouble(failure);
    }
  }

  /** Waits with the others; resolves to `'taken'` when another run has claimed its key meanwhile. */
  submit(parcel: Parcel, state: CallState): Promise<Submitted | 'taken'> {
    const { signal, deadline } = parcel.options;
    return new Promise((resolve, reject) => {
      const end = () => {
        waiting.isOver = true;
        stopListening();
        clearTimeout(timer);
        this.#leave(waiting);
      };
      const waiting: Waiting = {
        parcel,
        state,
        minutes: Math.max(...parcel.jobs.map(estimatedMinutes)),
        since: this.#parts.clock.now(),
        company: Number.POSITIVE_INFINITY,
        refusals: 0,
        tries: 0,
        isOver: false,
        resolve: (submitted) => {
          end();
          resolve(submitted);
        },
        reject: (reason) => {
          end();
          reject(reason as Error); // whatever the caller's signal gives
        },
      };
      // What has left is not taken back: its call goes on, and the journal hears of it.
      const stopListening = onAbort(signal, () => waiting.reject(signal?.reason));
      const timer =
        deadline === undefined || !Number.isFinite(deadline)
          ? undefined
          : setTimeout(() => waiting.reject(lateError(waiting)), deadline);
      this.#wait(waiting);
    });
  }

  #wait(one: Waiting): void {
    if (!one.isOver) {
      Object.assign(one.state, { hasLeft: false, outcome: 'not-sent' });
      this.#waiting.add(one);
      this.#joinedAt = this.#parts.clock.now();
      this.#news.notify();
      void this.#run();
    }
  }

  #leave(one: Waiting): void {
    const granting = this.#granting;
    const isWaiting = this.#waiting.delete(one);
    if (granting && ![...this.#waiting].some(({ parcel }) => parcel.kind === granting.kind)) {
      granting.controller.abort(new NothingToSend());
    }
    if (isWaiting) {
      this.#news.notify();
    }
  }

  /** The slots of the project. */
  async open(): Promise<Slots> {
    this.#slots ??= await this.#parts.slots();
    return this.#slots;
  }

  async #run(): Promise<void> {
    if (this.#isRunning) {
      return;
    }
    this.#isRunning = true;
    let stop: () => void = () => undefined;
    try {
      const slots = await this.open();
      stop = slots.onFree(() => this.#news.notify());
      while (this.#waiting.size > 0) {
        await this.#turn(slots);
      }
    } catch (reason) {
      // The key cannot be had, or a bug: nobody must wait for ever.
      [...this.#waiting].forEach((one) => one.reject(reason));
    } finally {
      stop();
      this.#isRunning = false;
      this.#scarceSince = undefined;
    }
  }

  /** Makes the next call when its time has come, or waits for news until then. */
  async #turn(slots: Slots): Promise<void> {
    const { clock } = this.#parts;
    const now = clock.now();
    const head = this.#inOrder().find((one) => mayLeave(one));
    if (!head) {
      await this.#news.wait();
      return;
    }
    const at = this.#departsAt(head, slots, now);
    if (at > now) {
      await this.#rest(head, slots, at);
    } else if (!(await this.#looked(head, slots, now))) {
      await this.#depart(head, slots);
    }
  }

  #departsAt({ parcel, company }: Waiting, slots: Slots, now: number): number {
    const { free } = slots;
    if (
      free < Math.min(parcel.jobs.length, slots.limit) ||
      (parcel.kind === 'video' && this.#isFlying)
    ) {
      this.#scarceSince = undefined;
      return Number.POSITIVE_INFINITY;
    }
    // A text goes by itself: no other would fill its call.
    if (parcel.kind === 'audio') {
      return this.#pausedUntil;
    }
    const isFilling = parcel.lane?.isFilling && this.#waitingVideos < free;
    const at = Math.max(this.#pausedUntil, this.#joinedAt + (isFilling ? fillMs : gatherMs));
    if (!this.#isCrowded(slots)) {
      return at;
    }
    this.#scarceSince ??= now;
    const isScarce = free < Math.min(fewestFree, company, this.#waitingVideos, slots.limit);
    const enoughAt = isScarce ? this.#scarceSince + this.#gapMs : now;
    return Math.max(at, enoughAt, this.#videosAt + this.#gapMs);
  }

  /** Do more videos wait than may leave at once, or is half of the calls used up? Then each call counts. */
  #isCrowded({ free }: Slots): boolean {
    const { limit, used } = this.#parts.transport.rateLimit() ?? { limit: 1, used: 0 };
    return this.#waitingVideos > free || used >= limit / 2;
  }

  get #waitingVideos(): number {
    let jobs = 0;
    for (const { parcel } of this.#waiting) {
      jobs += parcel.kind === 'video' ? parcel.jobs.length : 0;
    }
    return jobs;
  }

  // Those of a window last for it, with some to spare for the end.
  get #gapMs(): number {
    const { limit, windowMs } = this.#parts.limits ?? { limit: 1, windowMs: 0 };
    return (windowMs / limit) * (5 / 6);
  }

  /** Waits until a time, or for news. Jobs that have the slots are looked at meanwhile. */
  async #rest(head: Waiting, slots: Slots, at: number): Promise<void> {
    const { clock } = this.#parts;
    const now = clock.now();
    const isFull = slots.free < Math.min(head.parcel.jobs.length, slots.limit);
    const lookAt = isFull ? this.#lookedAt + lookEveryMs : Number.POSITIVE_INFINITY;
    if (lookAt <= now) {
      await this.#lookAtAll(slots);
      return;
    }
    if (now - this.#reportedAt >= reportEveryMs) {
      if (this.#reportedAt > Number.NEGATIVE_INFINITY) {
        const until = Number.isFinite(at) ? at : Math.max(now, this.#videosAt + this.#gapMs);
        this.#parts.onWait(Math.max(0, until - now), this.#waiting.size);
      }
      this.#reportedAt = now;
    }
    const until = Math.min(at, lookAt, slots.nextAt, this.#reportedAt + reportEveryMs);
    await this.#news.wait(until - now);
  }

  /** A call is rare: looks whether it can carry more before it leaves. */
  async #looked({ parcel }: Waiting, slots: Slots, now: number): Promise<boolean> {
    const isFull = parcel.kind === 'video' && this.#waitingVideos > slots.free;
    if (!isFull || now - this.#lookedAt < freshMs || slots.files.length === 0) {
      return false;
    }
    return this.#lookAtAll(slots);
  }

  async #lookAtAll(slots: Slots): Promise<boolean> {
    const { clock, look, areLooksCharged } = this.#parts;
    this.#lookedAt = clock.now();
    if (areLooksCharged()) {
      return false;
    }
    const controller = new AbortController();
    const stop = clock.at(clock.now() + maxLookMs, () => controller.abort());
    await Promise.all(slots.files.map((fileId) => look(fileId, controller.signal)));
    stop();
    return true;
  }

  #inOrder(): Waiting[] {
    return [...this.#waiting].sort(
      (one, other) =>
        compare(one.company, other.company) ||
        urgency(one) - urgency(other) ||
        one.refusals - other.refusals ||
        other.minutes - one.minutes,
    );
  }

  /** Makes one call: waits for the rate limit, then takes what waits by then. */
  async #depart(head: Waiting, slots: Slots): Promise<void> {
    const { transport, timeoutMs } = this.#parts;
    const { kind, jobs, options } = head.parcel;
    const id = crypto.randomUUID();
    const controller = new AbortController();
    const left = withResolvers();
    let batch: Batch | undefined;
    const beforeSending = async () => {
      batch ??= await this.#load(head, id, slots);
      left.resolve();
      return batch.body;
    };
    const read = (answer: unknown) =>
      kind === 'audio' ? audioRecords(answer) : videoRecords(answer, batch?.claims.length ?? 0);
    const onLate = (answer: unknown) => batch && void this.#onLate(batch, () => read(answer));
    const hooks = { beforeSending, onLate, isChecked: true };
    const { headers, priority, timeout = timeoutMs } = options;
    const own: RequestOptions = {
      headers,
      priority,
      timeout,
      retries: 0,
      signal: controller.signal,
    };
    this.#granting = { kind, controller };
    const call: RunningCall<JobRecord[]> =
      kind === 'audio'
        ? transport.send(routes.audio, { body: jobs[0] as never, ...hooks }, own).map(read) // checked before
        : transport
            .send(routes.video, { body: { payload: jobs as VideoJob[] }, ...hooks }, own)
            .map(read);
    this.#isFlying ||= kind === 'video';
    const over = this.#finish(call, () => batch, { head, slots }).finally(() => {
      this.#isFlying &&= kind !== 'video';
      this.#granting = undefined;
      this.#news.notify();
    });
    await Promise.race([left.promise, over]);
  }

  /** Chooses what a call carries, takes its slots and claims its jobs: the last thing before it leaves. */
  async #load(head: Waiting, id: string, slots: Slots): Promise<Batch> {
    const chosen = this.#choose(head, slots);
    const wanted = count(chosen);
    const taken = wanted > 0 ? await slots.take(wanted, this.#atLeast(head, slots)) : [];
    const members: Waiting[] = [];
    const claims: Known<Claimed>[] = [];
    let isEmpty = true;
    for (const one of chosen) {
      if (claims.length + one.parcel.jobs.length > taken.length) {
        continue;
      }
      isEmpty = false;
      const own = await this.#claim(one, id, claims.length);
      if (own) {
        members.push(one);
        claims.push(...own);
      }
    }
    slots.release(taken.slice(claims.length));
    if (members.length === 0) {
      const { clock } = this.#parts;
      this.#pausedUntil = isEmpty ? clock.now() + askAgainMs : this.#pausedUntil;
      throw new NothingToSend();
    }
    this.#granting = undefined;
    for (const one of members) {
      this.#waiting.delete(one);
      Object.assign(one.state, { hasLeft: true, outcome: 'unknown' });
      one.parcel.lane?.leave(one.parcel.jobs.length);
    }
    if (head.parcel.kind === 'video') {
      this.#videosAt = this.#parts.clock.now();
      this.#scarceSince = undefined;
    }
    return { id, members, claims, slots: taken.slice(0, claims.length), body: bodyOf(members) };
  }

  #choose(head: Waiting, slots: Slots): Waiting[] {
    const envelope = envelopeOf(head);
    const chosen: Waiting[] = [];
    const rooms = new Map<Lane, number>();
    let most = Math.min(slots.free, head.company);
    for (const one of this.#inOrder()) {
      const { jobs, lane, kind } = one.parcel;
      const room = lane ? (rooms.get(lane) ?? lane.room) : Number.POSITIVE_INFINITY;
      const fits = jobs.length <= most || (chosen.length === 0 && jobs.length <= slots.free);
      if (
        one.company !== head.company ||
        !fits ||
        jobs.length > room ||
        envelopeOf(one) !== envelope
      ) {
        continue;
      }
      chosen.push(one);
      most -= jobs.length;
      if (lane) {
        rooms.set(lane, room - jobs.length);
      }
      if (kind === 'audio') {
        break;
      }
    }
    return chosen;
  }

  // Where the slots are shared, a process leaves few of them to the others: they have a call to fill, too.
  #atLeast({ parcel, company }: Waiting, slots: Slots): number {
    const isPatient = this.#parts.clock.now() - this.#acceptedAt < maxWithoutMs;
    if (parcel.kind === 'audio' || !slots.areShared || !isPatient || !this.#isCrowded(slots)) {
      return 1;
    }
    const fewest = Math.ceil((slots.limit * this.#gapMs) / usualJobMs);
    return Math.min(this.#waitingVideos, company, Math.max(fewestFree, fewest));
  }

  /** The claims of a parcel; `undefined` when it does not go with this call. */
  async #claim(one: Waiting, id: string, from: number): Promise<Known<Claimed>[] | undefined> {
    const { ledger } = this.#parts;
    const { jobs, once } = one.parcel;
    if (!ledger) {
      return jobs.map(() => noClaim);
    }
    try {
      const claims = await Promise.all(
        jobs.map((job, place) => ledger.claim(id, from + place, job, once)),
      );
      if (claims.every((claim) => claim !== undefined)) {
        return claims;
      }
      one.resolve('taken');
    } catch (reason) {
      if (one.parcel.lane && isJournalGone(reason)) {
        one.refusals++; // it may be about this job alone: others go first
        this.onJournalGone(reason);
        this.#pausedUntil = this.#parts.clock.now() + journalAgainMs;
      } else {
        one.reject(reason);
      }
    }
    return undefined;
  }

  async #finish(
    call: RunningCall<JobRecord[]>,
    loaded: () => Batch | undefined,
    { head, slots }: { readonly head: Waiting; readonly slots: Slots },
  ): Promise<void> {
    let answer: Answer<JobRecord[]>;
    try {
      answer = await call.withResponse();
    } catch (failure) {
      const batch = loaded();
      if (failure instanceof FileIdsMissingError && batch) {
        const { jobs, unassigned } = failure.accepted;
        await this.#accept(batch, jobs, { slots, callId: call.callId, unassigned });
        this.#handOut(batch, jobs, undefined, failure);
      } else if (batch) {
        await this.#fail(batch, failure, { slots, outcome: call.outcome });
      } else if (!(failure instanceof NothingToSend)) {
        this.#turnBack(head, failure);
      }
      return;
    }
    const batch = loaded();
    if (batch) {
      await this.#accept(batch, answer.data, { slots, callId: call.callId });
      this.#handOut(batch, answer.data, answer, undefined);
    }
  }

  async #accept(
    { members, claims, slots: taken }: Batch,
    records: readonly (JobRecord | null)[],
    {
      slots,
      callId,
      unassigned,
    }: {
      readonly slots: Slots;
      readonly callId: number | undefined;
      readonly unassigned?: readonly JobRecord[];
    },
  ): Promise<void> {
    const known = records.filter((record) => record !== null);
    const fileIds = known.map(({ fileId }) => fileId);
    slots.assign(taken.slice(0, fileIds.length), fileIds);
    this.#acceptedAt = this.#parts.clock.now();
    this.#reportedAt = this.#acceptedAt;
    this.#pauses = 0;
    lanesOf(members).forEach((lane) => lane.answered(known[0]?.folderId));
    [...known, ...(unassigned ?? [])].forEach((record) => this.#parts.onAccepted(record, callId));
    await this.#parts.ledger?.accept(claims, records, unassigned);
  }

  #handOut(
    { members }: Batch,
    records: readonly (JobRecord | null)[],
    answer: Answer<unknown> | undefined,
    failure: unknown,
  ): void {
    let place = 0;
    for (const one of members) {
      const { length } = one.parcel.jobs;
      const own = records.slice(place, place + length).filter((record) => record !== null);
      const extra =
        members.length === 1 ? records.slice(length).filter((record) => record !== null) : [];
      place += length;
      if (own.length === length && (!failure || members.length > 1)) {
        one.state.outcome = undefined;
        one.resolve({ ...(answer ?? knownAnswer()), data: [...own, ...extra] });
      } else {
        this.#reject(one, failure, 'unknown');
      }
    }
  }

  // The jobs of a call that was given up are paid for, though their caller no longer waits.
  async #onLate({ claims }: Batch, read: () => JobRecord[]): Promise<void> {
    let records: readonly (JobRecord | null)[];
    let unassigned: readonly JobRecord[] = [];
    try {
      records = read();
    } catch (failure) {
      if (!(failure instanceof FileIdsMissingError)) {
        return; // a no: the outcome stays unknown
      }
      ({ jobs: records, unassigned } = failure.accepted);
    }
    const known = [...records, ...unassigned].filter((record) => record !== null);
    known.forEach((record) => this.#parts.onAccepted(record, undefined));
    await this.#parts.ledger?.accept(claims, records, unassigned);
  }

  async #fail(
    batch: Batch,
    failure: unknown,
    { slots, outcome }: { readonly slots: Slots; readonly outcome: CallState['outcome'] },
  ): Promise<void> {
    const { members, claims } = batch;
    const isUnknown = outcome !== 'not-sent' && outcome !== 'rejected';
    for (const { parcel } of members) {
      parcel.lane?.leave(-parcel.jobs.length);
    }
    if (isUnknown) {
      // Its claims stay, and its slots for a while: its jobs may have been made.
      lanesOf(members).forEach((lane) => lane.unanswered());
      this.#pause(failure, firstPauseMs);
      members.forEach((one) => void this.#againIfAllowed(one, failure, claims));
      return;
    }
    slots.release(batch.slots);
    await this.#parts.ledger?.release(claims);
    if (outcome === 'not-sent') {
      members.forEach((one) => this.#turnBack(one, failure));
      this.#pause(failure, firstPauseMs);
      return;
    }
    lanesOf(members).forEach((lane) => lane.answered());
    const jobs = count(members);
    if (isAboutLimit(failure)) {
      const isFull = isPendingLimitError(failure);
      for (const one of members) {
        one.refusals++;
        if ((isFull || one.refusals > 1) && jobs > 1) {
          one.company = Math.ceil(jobs / 2);
        }
        const isPatient = one.parcel.lane !== undefined || one.refusals <= maxRefusals;
        if (!isPatient || this.#parts.clock.now() - one.since > patienceMs) {
          this.#reject(one, failure, 'rejected');
        } else {
          this.#wait(one);
        }
      }
      this.#pause(
        failure,
        isFull ? Math.max(this.#gapMs, askAgainMs) : firstPauseMs,
        maxFullPauseMs,
      );
    } else if (members.length > 1 && !isForAll(failure, members)) {
      // Nothing was made, and one of them is at fault: smaller calls show which.
      for (const one of members) {
        one.company = Math.ceil(jobs / 2);
        this.#wait(one);
      }
    } else {
      members.forEach((one) => this.#reject(one, failure, 'rejected'));
    }
  }

  // A caller may say that a call may happen twice.
  async #againIfAllowed(
    one: Waiting,
    failure: unknown,
    claims: readonly Known<Claimed>[],
  ): Promise<void> {
    if (one.parcel.options.retry?.unknownOutcome && one.tries++ < this.#retriesOf(one)) {
      await this.#parts.ledger?.release(claims);
      this.#wait(one);
    } else {
      this.#reject(one, failure, 'unknown');
    }
  }

  /** A job that certainly was not sent goes again, unless it is no outage, or an endless one. */
  #turnBack(one: Waiting, failure: unknown): void {
    const { lane } = one.parcel;
    const mayPass =
      isPostreelError(failure) && isTransient(failure) && failure.code !== 'QUEUE_TIMEOUT';
    const isPatient = lane
      ? lane.hasConnected && this.#parts.clock.now() - one.since < patienceMs
      : one.tries < this.#retriesOf(one);
    one.tries++;
    if (mayPass && isPatient) {
      this.#wait(one);
    } else {
      this.#reject(one, failure, 'not-sent');
    }
  }

  #retriesOf({ parcel }: Waiting): number {
    return parcel.options.retries ?? this.#parts.retries;
  }

  #reject(one: Waiting, failure: unknown, outcome: CallState['outcome']): void {
    one.state.outcome = isPostreelError(failure) ? failure.outcome : outcome;
    one.reject(failure);
  }

  #pause(failure: unknown, firstMs: number, mostMs = maxPauseMs): void {
    const askedMs = isPostreelError(failure) ? failure.retryAfterMs : undefined;
    const growingMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#pauses++, 10));
    this.#pausedUntil = this.#parts.clock.now() + (askedMs ?? growingMs);
  }
}

function mayLeave({ parcel }: Waiting): boolean {
  return !parcel.lane || parcel.lane.room >= parcel.jobs.length;
}

function urgency({ parcel }: Waiting): number {
  return parcel.options.priority === 'bulk' ? 1 : 0;
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

function count(members: readonly Waiting[]): number {
  return members.reduce((sum, { parcel }) => sum + parcel.jobs.length, 0);
}

function lanesOf(members: readonly Waiting[]): Set<Lane> {
  return new Set(members.flatMap(({ parcel }) => parcel.lane ?? []));
}

/** What the jobs of one call have in common. */
function envelopeOf({ parcel }: Waiting): string {
  const { kind, jobs, options, lane } = parcel;
  const { file, folderId } = folderOf(parcel);
  // "applies to every video of the request" (Brand kit behaviour): others must not get it.
  const brands = [...new Set(jobs.map((job) => brandOf(job) ?? null))].sort();
  const { headers, timeout, retry } = options;
  const own = headers || retry ? [...new Headers(headers as HeadersInit | undefined)] : [];
  return JSON.stringify([
    kind,
    file,
    folderId,
    brands,
    own,
    timeout,
    retry,
    lane && folderId === undefined && 'lane',
  ]);
}

function folderOf({ folder, lane }: Parcel): Parcel['folder'] {
  return folder.folderId === undefined && lane?.folderId !== undefined
    ? { ...folder, folderId: lane.folderId }
    : folder;
}

function bodyOf(members: readonly Waiting[]): unknown {
  const [first] = members;
  const payload = members.flatMap(({ parcel }) => parcel.jobs);
  return first?.parcel.kind === 'video' ? { ...folderOf(first.parcel), payload } : payload[0];
}

function isAboutLimit(failure: unknown): boolean {
  return (isPostreelError(failure) && failure.status === 429) || isPendingLimitError(failure);
}

/** Would each of the jobs be refused like this by itself? */
function isForAll(failure: unknown, members: readonly Waiting[]): boolean {
  if (!isPostreelError(failure)) {
    return true;
  }
  const hasBrand = members.some(({ parcel }) => parcel.jobs.some((job) => brandOf(job)));
  return failure.status === 401 || (hasBrand && /brand kit/i.test(failure.message));
}

function lateError({ parcel, state }: Waiting): PostreelError {
  const { method, path } = routes[parcel.kind];
  if (!state.hasLeft) {
    state.outcome = 'not-sent';
    return queueTimeout({ reason: 'limit', waitMs: 1_000 }, { method, path });
  }
  state.outcome = 'unknown';
  return new TimeoutError(`${method} ${path} was not answered before its \`deadline\`.`, {
    code: 'TIMEOUT',
    outcome: 'unknown',
    method,
    path,
  });
}

/** The answer to a call that needed none, or whose answer was an error. */
export function knownAnswer(): Omit<Answer<never>, 'data'> {
  return { response: new Response(null, { status: 200 }), requestId: undefined };
}

// Without a journal nothing is claimed.
const noClaim = {} as Known<Claimed>;

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
