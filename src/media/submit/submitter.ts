import { macrotask, Notifier, onAbort, type Clock } from '../../core/async.js';
import type { CallState } from '../../core/call.js';
import {
  isPostreelError,
  RateLimitError,
  TimeoutError,
  type PostreelError,
} from '../../core/errors.js';
import type { Transport } from '../../core/send.js';
import { estimatedMinutes } from '../generate/media-job.js';
import { routes } from '../generate/routes.js';
import type { JobRecord } from '../jobs/job.js';
import type { JobLedger } from '../jobs/ledger.js';
import type { FileKind } from '../status/intervals.js';
import { BatchPolicy, batchKeyOf } from './batch-policy.js';
import type { QueueQuota } from './queue-quota.js';
import { PaidCall, type CallHost } from './paid-call.js';
import type { Submission, Submitted, WaitingSubmission } from './submission.js';
import type { Slots } from './slots.js';

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
  /** Does each call go by itself, since no request may wait for another (Workers)? */
  readonly mustBeAlone: boolean;
  /** Checks a file that has a slot; never rejects. */
  readonly check: (fileId: string, signal: AbortSignal) => Promise<unknown>;
  /** Do status checks count towards the rate limit? */
  readonly areChecksCharged: () => boolean;
  readonly onAccepted: (record: JobRecord, callId: number | undefined) => void;
  /** Calls cannot be sent, or the journal does not answer, and a queue waits for it. */
  readonly onSubmitError: (failure: unknown) => void;
  /** Jobs wait for slots. */
  readonly onWait: (waitMs: number, queued: number) => void;
}

// A queue that reads on: its next jobs fill the call.
const fillMs = 1_000;
const checkEveryMs = 10_000;
const freshMs = 3_000;
const maxCheckMs = 5_000;
const usualJobMs = 5 * 60_000;
const maxWithoutMs = 10 * 60_000;
const usualPatienceMs = 24 * 60 * 60_000;
const maxRefusals = 8;
const reportEveryMs = 60_000;
// An answer takes a second. What hangs holds up the next call no longer than this.
const maxFlightMs = 10_000;
const aloneAskAgainMs = 1_000;

/**
 * When a call leaves. What is to be submitted waits here until the rate limit grants a call and slots are
 * free; then as many jobs leave with it as there are slots, longest first. While more jobs wait than slots
 * are free, a call waits until it is worth one of "10 requests per 10 minutes": until the free slots have
 * been idle for long enough, all together.
 */
export class Submitter {
  readonly #parts: SubmitterParts;
  readonly #waiting = new Set<WaitingSubmission>();
  readonly #news = new Notifier();
  readonly #company = new BatchPolicy();
  #slots: Slots | undefined;
  #isRunning = false;
  /** The call that waits for the rate limit. */
  #next: { readonly kind: FileKind; readonly call: PaidCall } | undefined;
  /** Since when a call of videos is under way: the next one waits for its answer. */
  #inFlightSince: number | undefined;
  #joinedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauses = 0;
  /** How long slots were free while more jobs waited, all together, since the last call of videos. */
  #idleMs = Number.POSITIVE_INFINITY;
  #counted = { at: 0, free: 0 };
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: SubmitterParts) {
    this.#parts = parts;
  }

  /** Something has changed outside: a queue goes on, or one of its jobs is over. */
  wake(): void {
    if (!this.#parts.mustBeAlone) {
      this.#news.notify();
    }
  }

  /** The slots of the project. */
  async open(): Promise<Slots> {
    this.#slots ??= await this.#parts.slots();
    return this.#slots;
  }

  /** Waits with the others; resolves to `'taken'` when another run has claimed its key meanwhile. */
  async submit(parcel: Submission, state: CallState): Promise<Submitted | 'taken'> {
    if (this.#parts.mustBeAlone && this.#waiting.size > 0) {
      return new Submitter(this.#parts).submit(parcel, state);
    }
    const { signal, deadline = Number.POSITIVE_INFINITY } = parcel.options;
    const { clock } = this.#parts;
    const { result, ...settle } = withResolvers<Submitted | 'taken'>();
    const waiting: WaitingSubmission = {
      parcel,
      state,
      minutes: Math.max(...parcel.jobs.map(estimatedMinutes)),
      failingSince: undefined,
      maxCompany: Number.POSITIVE_INFINITY,
      refusals: 0,
      tries: 0,
      isOver: false,
      onOver: () => undefined,
      ...settle,
    };
    // A job that has left is not taken back: its response is read, and the journal hears of it.
    const stopListening = onAbort(signal, () => waiting.reject(signal?.reason));
    const stopTimer = Number.isFinite(deadline)
      ? clock.limit(deadline, () => waiting.reject(lateError(waiting)))
      : undefined;
    this.#wait(waiting);
    try {
      return await result;
    } finally {
      waiting.isOver = true;
      stopListening();
      stopTimer?.();
      this.#leave(waiting);
      waiting.onOver();
    }
  }

  #wait(one: WaitingSubmission): void {
    if (!one.isOver) {
      const outcome = one.state.mayHaveHappened ? 'unknown' : 'not-sent';
      Object.assign(one.state, { hasLeft: false, outcome });
      const { stop } = one.parcel;
      if (stop?.aborted) {
        one.reject(stop.reason); // it had left, and comes back
        return;
      }
      this.#waiting.add(one);
      this.#joinedAt = this.#parts.clock.now();
      this.#news.notify();
      void this.#run();
    }
  }

  #leave(one: WaitingSubmission): void {
    const isWaiting = this.#waiting.delete(one);
    const next = this.#next;
    if (next && ![...this.#waiting].some(({ parcel }) => parcel.kind === next.kind)) {
      next.call.cancel();
    }
    if (isWaiting) {
      this.#news.notify();
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) {
      return;
    }
    this.#isRunning = true;
    let stop: () => void = () => undefined;
    try {
      const slots = await this.open();
      stop = this.#parts.mustBeAlone ? stop : slots.onFree(() => this.#news.notify());
      while (this.#waiting.size > 0) {
        await macrotask(); // jobs that come together go together
        await this.#turn(slots);
      }
    } catch (reason) {
      // The key cannot be had, or a bug: nobody must wait for ever.
      [...this.#waiting].forEach((one) => one.reject(reason));
    } finally {
      stop();
      this.#isRunning = false;
      this.#idleMs = Number.POSITIVE_INFINITY;
    }
  }

  /** Makes the next call when its time has come, or waits for news until then. */
  async #turn(slots: Slots): Promise<void> {
    const now = this.#parts.clock.now();
    this.#countIdle(slots, now);
    const head = this.#inOrder().find((one) => mayLeave(one));
    if (!head) {
      await this.#pauseForNews(Number.POSITIVE_INFINITY);
      return;
    }
    const at = this.#departsAt(head, slots, now);
    if (at > now) {
      await this.#rest(head, slots, at);
    } else if (!(await this.#hasChecked(head, slots, now))) {
      await this.#send(head, slots);
    }
  }

  #departsAt({ parcel }: WaitingSubmission, slots: Slots, now: number): number {
    const { free } = slots;
    if (free < Math.min(parcel.jobs.length, slots.limit)) {
      return Number.POSITIVE_INFINITY;
    }
    // A text goes by itself: no other would fill its call.
    if (parcel.kind === 'audio') {
      return this.#pausedUntil;
    }
    const isFilling = parcel.lane?.isFilling && this.#waitingVideos < free;
    const gatheredAt = isFilling ? this.#joinedAt + fillMs : now;
    const landsAt = this.#inFlightSince === undefined ? now : this.#inFlightSince + maxFlightMs;
    const at = Math.max(this.#pausedUntil, gatheredAt, landsAt);
    if (!this.#isCrowded(slots)) {
      return at;
    }
    const usable = Math.min(free, parcel.lane?.capacity ?? free);
    return Math.max(at, now + (this.#worthMs(slots) - this.#idleMs) / usable);
  }

  #countIdle(slots: Slots, now: number): void {
    const { at, free } = this.#counted;
    this.#idleMs += this.#isCrowded(slots) ? free * (now - at) : 0;
    this.#counted = { at: now, free: slots.free };
  }

  /**
   * The idle time of slots that is worth a call: as much as comes together between two calls when those of
   * a window are spread over it (with some to spare for the end) and jobs take the usual time.
   */
  #worthMs({ limit }: Slots): number {
    return (limit * (this.#spacingMs * (5 / 6)) ** 2) / (2 * usualJobMs);
  }

  get #spacingMs(): number {
    const { limit, windowMs } = this.#parts.limits ?? { limit: 1, windowMs: 0 };
    return windowMs / limit;
  }

  /** Do more videos wait than may leave at once? Then each call counts. */
  #isCrowded({ free }: Slots): boolean {
    return this.#waitingVideos > free;
  }

  get #waitingVideos(): number {
    let jobs = 0;
    for (const { parcel } of this.#waiting) {
      jobs += parcel.kind === 'video' ? parcel.jobs.length : 0;
    }
    return jobs;
  }

  /** Waits until a time, or for news. Files that have the slots are checked meanwhile. */
  async #rest(head: WaitingSubmission, slots: Slots, at: number): Promise<void> {
    const now = this.#parts.clock.now();
    const isFull = slots.free < Math.min(head.parcel.jobs.length, slots.limit);
    const checkAt = isFull ? this.#checkedAt + checkEveryMs : Number.POSITIVE_INFINITY;
    if (checkAt <= now) {
      await this.#checkAll(slots);
      return;
    }
    if (now - this.#reportedAt >= reportEveryMs) {
      if (this.#reportedAt > Number.NEGATIVE_INFINITY) {
        const waitMs = Number.isFinite(at) ? at - now : this.#spacingMs;
        this.#parts.onWait(waitMs, this.#waiting.size);
      }
      this.#reportedAt = now;
    }
    await this.#pauseForNews(
      Math.min(at, checkAt, slots.nextAt, this.#reportedAt + reportEveryMs) - now,
    );
  }

  async #pauseForNews(maxMs: number): Promise<void> {
    const { mustBeAlone: goesAlone, clock } = this.#parts;
    // There nobody else may wake it.
    await this.#news.wait(goesAlone ? Math.min(maxMs, aloneAskAgainMs) : maxMs, clock);
  }

  /** A call is rare: looks whether it can carry more before it leaves. */
  async #hasChecked({ parcel }: WaitingSubmission, slots: Slots, now: number): Promise<boolean> {
    const counts = parcel.kind === 'video' && this.#isCrowded(slots);
    if (!counts || now - this.#checkedAt < freshMs || slots.files.length === 0) {
      return false;
    }
    return this.#checkAll(slots);
  }

  async #checkAll(slots: Slots): Promise<boolean> {
    const { clock, check, areChecksCharged } = this.#parts;
    this.#checkedAt = clock.now();
    if (areChecksCharged()) {
      return false;
    }
    const controller = new AbortController();
    const stop = clock.limit(maxCheckMs, () => controller.abort());
    await Promise.all(slots.files.map((fileId) => check(fileId, controller.signal)));
    stop();
    return true;
  }

  #inOrder(): WaitingSubmission[] {
    return [...this.#waiting].sort(
      (one, other) =>
        compare(one.maxCompany, other.maxCompany) ||
        urgency(one) - urgency(other) ||
        one.refusals + one.tries - other.refusals - other.tries ||
        other.minutes - one.minutes,
    );
  }

  /** Makes one call: waits until it has left, or is over. */
  async #send(head: WaitingSubmission, slots: Slots): Promise<void> {
    const { kind } = head.parcel;
    const call = new PaidCall(this.#parts, this.#hostOf(head, slots), head);
    this.#next = { kind, call };
    const over = call.run().finally(() => {
      this.#next = undefined;
      this.#inFlightSince = kind === 'video' ? undefined : this.#inFlightSince;
      this.#news.notify();
    });
    await Promise.race([call.left, over]);
    this.#next = undefined;
  }

  /** What a call asks of its submitter. */
  #hostOf(head: WaitingSubmission, slots: Slots): CallHost {
    return {
      slots,
      fewestSlots: this.#fewestSlots(head, slots),
      choose: () => this.#choose(head, slots),
      mayWait: (one) => this.#mayWait(one),
      onLeft: (members) => this.#onLeft(members),
      onAccepted: (members) => {
        this.#acceptedAt = this.#parts.clock.now();
        this.#reportedAt = this.#acceptedAt;
        this.#pauses = 0;
        members.forEach(({ parcel }) => this.#company.accept(parcel.jobs));
      },
      again: (one) => this.#wait(one),
      pause: (firstMs, mostMs, failure) => this.#pause(firstMs, mostMs, failure),
    };
  }

  #onLeft(members: readonly WaitingSubmission[]): void {
    this.#next = undefined;
    for (const one of members) {
      this.#waiting.delete(one);
      Object.assign(one.state, { hasLeft: true, outcome: 'unknown' });
      one.parcel.lane?.leave(one.parcel.jobs.length);
    }
    const [first] = members;
    if (first?.parcel.kind === 'video') {
      this.#inFlightSince = this.#parts.clock.now();
      // Once a job that had to go alone is accepted, the others follow.
      this.#idleMs = this.#company.mayShare(first.parcel) ? 0 : Number.POSITIVE_INFINITY;
    }
  }

  /** What a call carries: its head, and what may share it and fits. */
  #choose(head: WaitingSubmission, slots: Slots): WaitingSubmission[] {
    const isOpen = this.#company.mayShare(head.parcel);
    const envelope = batchKeyOf(head.parcel);
    const mayJoin = (one: WaitingSubmission) =>
      isOpen &&
      one !== head &&
      one.maxCompany === head.maxCompany &&
      this.#company.mayShare(one.parcel) &&
      batchKeyOf(one.parcel) === envelope;
    const chosen: WaitingSubmission[] = [];
    const laneJobs = new Map<QueueQuota | undefined, number>();
    let most = slots.free;
    for (const one of [head, ...this.#inOrder().filter(mayJoin)]) {
      const { jobs, lane } = one.parcel;
      const jobsOfLane = (laneJobs.get(lane) ?? 0) + jobs.length;
      const fits = jobs.length <= most && jobsOfLane <= (lane?.capacity ?? jobsOfLane);
      if (this.#waiting.has(one) && fits) {
        chosen.push(one);
        most = Math.min(most, head.maxCompany) - jobs.length;
        laneJobs.set(lane, jobsOfLane);
      }
    }
    return chosen;
  }

  // Where the slots are shared, a process leaves few of them to the others: they have a call to fill, too.
  #fewestSlots({ parcel, maxCompany }: WaitingSubmission, slots: Slots): number {
    const isPatient = this.#parts.clock.now() - this.#acceptedAt < maxWithoutMs;
    const hasCompany = parcel.kind === 'video' && this.#company.mayShare(parcel);
    if (!hasCompany || !slots.areShared || !isPatient || !this.#isCrowded(slots)) {
      return 1;
    }
    const fewest = Math.ceil((slots.limit * this.#spacingMs) / usualJobMs);
    return Math.min(this.#waitingVideos, maxCompany, fewest);
  }

  #mayWait(one: WaitingSubmission): boolean {
    const now = this.#parts.clock.now();
    one.failingSince ??= now;
    const { lane } = one.parcel;
    const isInTime = now - one.failingSince <= (lane?.deadlineMs ?? usualPatienceMs);
    const { retries = this.#parts.retries } = one.parcel.options;
    const most = retries === 0 ? 0 : maxRefusals;
    return isInTime && (lane !== undefined || one.refusals <= most);
  }

  #pause(firstMs: number, mostMs = firstMs, failure?: unknown): void {
    const askedMs = isPostreelError(failure) ? failure.retryAfterMs : undefined;
    const growingMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#pauses, 10));
    this.#pauses += failure === undefined ? 0 : 1;
    const until = this.#parts.clock.now() + (askedMs ?? growingMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const result = new Promise<T>((onValue, onReason) => {
    resolve = onValue;
    reject = onReason;
  });
  return { result, resolve, reject };
}

function mayLeave({ parcel }: WaitingSubmission): boolean {
  return !parcel.lane || parcel.lane.capacity >= parcel.jobs.length;
}

function urgency({ parcel }: WaitingSubmission): number {
  return parcel.options.priority === 'bulk' ? 1 : 0;
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

function lateError({ parcel, state }: WaitingSubmission): PostreelError {
  const { method, path } = routes[parcel.kind];
  if (!state.hasLeft && !state.mayHaveHappened) {
    state.outcome = 'not-sent';
    const message = `${method} ${path} was not sent: neither the rate limit nor the pending slots had room for it before its \`deadline\`.`;
    return new RateLimitError(message, {
      code: 'QUEUE_TIMEOUT',
      outcome: 'not-sent',
      method,
      path,
    });
  }
  state.outcome = 'unknown';
  const message = `${method} ${path} got no complete response before its \`deadline\`. It may have taken effect.`;
  return new TimeoutError(message, { code: 'DEADLINE_EXCEEDED', outcome: 'unknown', method, path });
}
