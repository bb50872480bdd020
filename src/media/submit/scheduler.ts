import { Notifier } from '../../core/async.js';
import { isPostreelError } from '../../core/errors.js';
import type { Settings } from '../../core/settings.js';
import { BatchPolicy, batchKeyOf } from './batch-policy.js';
import type { QueueQuota } from './queue-quota.js';
import type { Slots } from './slots.js';
import type { WaitingSubmission } from './submission.js';

// While a queue reads its input, a call with room waits this long for the next job.
const fillMs = 1_000;
const usualJobMs = 5 * 60_000;
// After this time without an accepted call, a call is sent even if it gets only one slot.
const maxUnacceptedMs = 10 * 60_000;
// A response usually takes a second. A call that hangs delays the next one no longer than this.
const maxInFlightMs = 10_000;

/**
 * Decides when the next paid call is sent and which of the waiting submissions it contains. A call takes as
 * many jobs as there are free slots, longest first.
 *
 * Requests are scarce ("10 requests per 10 minutes"). While more videos wait than slots are free, the
 * scheduler delays a call so that it fills more slots. It adds up how long the free slots have been idle
 * (`#idleSlotMs`, slots × milliseconds) and sends the call when the sum reaches `#minIdleSlotMs()`.
 */
export class Scheduler {
  /** Notifies of every change that may let a call be sent. */
  readonly changes = new Notifier();
  /** The time between two calls if the rate limit is spread evenly over its window, in milliseconds. */
  readonly spacingMs: number;
  readonly #clock: Settings['clock'];
  readonly #waiting = new Set<WaitingSubmission>();
  readonly #batchPolicy = new BatchPolicy();
  /**
   * When the video call in flight was sent; `undefined` if no video call is in flight. The next video call waits
   * for the response, for `maxInFlightMs` at most.
   */
  #inFlightSince: number | undefined;
  #lastAddedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauses = 0;
  /**
   * The idle time of all free slots, added up, since the last call of videos. It grows only while more videos
   * wait than slots are free.
   */
  #idleSlotMs = Number.POSITIVE_INFINITY;
  /** When `#idleSlotMs` was last updated, and how many slots were free then. */
  #lastCount = { at: 0, free: 0 };
  #acceptedAt = Number.NEGATIVE_INFINITY;

  constructor({ clock, limits }: Pick<Settings, 'clock' | 'limits'>) {
    const { limit, windowMs } = limits ?? { limit: 1, windowMs: 0 };
    this.#clock = clock;
    this.spacingMs = windowMs / limit;
  }

  /**
   * The next submission to send, and the time of its call (`Infinity`: when slots become free). `undefined` while
   * no submission may be sent.
   */
  next(slots: Slots): { readonly head: WaitingSubmission; readonly at: number } | undefined {
    const now = this.#clock.now();
    this.#countIdle(slots, now);
    const head = this.waiting.find(({ fitsQuota }) => fitsQuota);
    return head && { head, at: this.#sendAt(head, slots, now) };
  }

  /** The submissions that wait for a call, the most urgent first. */
  get waiting(): WaitingSubmission[] {
    return [...this.#waiting].sort(
      (one, other) =>
        compare(one.maxBatchSize, other.maxBatchSize) ||
        one.urgency - other.urgency ||
        one.refusals + one.tries - other.refusals - other.tries ||
        other.minutes - one.minutes,
    );
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** When the service last accepted a call, by the client's clock. */
  get acceptedAt(): number {
    return this.#acceptedAt;
  }

  add(one: WaitingSubmission): void {
    this.#waiting.add(one);
    this.#lastAddedAt = this.#clock.now();
    this.changes.notify();
  }

  remove(one: WaitingSubmission): void {
    if (this.#waiting.delete(one)) {
      this.changes.notify();
    }
  }

  /** Do more videos wait than slots are free? Then each call should carry as many as it can. */
  isCrowded({ free }: Slots): boolean {
    return this.#waitingVideos > free;
  }

  /** Chooses the submissions of a call: its head, and the others that may share the call and fit into it. */
  choose(head: WaitingSubmission, slots: Slots): WaitingSubmission[] {
    const headMayShare = this.#batchPolicy.mayShare(head.submission);
    const batchKey = batchKeyOf(head.submission);
    const mayJoin = (one: WaitingSubmission) =>
      headMayShare &&
      one !== head &&
      one.maxBatchSize === head.maxBatchSize &&
      this.#batchPolicy.mayShare(one.submission) &&
      batchKeyOf(one.submission) === batchKey;
    const chosen: WaitingSubmission[] = [];
    const jobsByQuota = new Map<QueueQuota | undefined, number>();
    let most = slots.free;
    for (const one of [head, ...this.waiting.filter(mayJoin)]) {
      const { jobs, quota } = one.submission;
      const jobsOfQuota = (jobsByQuota.get(quota) ?? 0) + jobs.length;
      const fits = jobs.length <= most && jobsOfQuota <= (quota?.capacity ?? jobsOfQuota);
      if (this.#waiting.has(one) && fits) {
        chosen.push(one);
        most = Math.min(most, head.maxBatchSize) - jobs.length;
        jobsByQuota.set(quota, jobsOfQuota);
      }
    }
    return chosen;
  }

  /**
   * The fewest slots with which a call is sent. When several processes share the slots, a call must get enough
   * slots at once. If every process took single slots, all of their calls would carry few jobs. After ten
   * minutes without an accepted call, one slot is enough.
   */
  fewestSlots({ submission, maxBatchSize }: WaitingSubmission, slots: Slots): number {
    const isPatient = this.#clock.now() - this.#acceptedAt < maxUnacceptedMs;
    const mayShare = submission.kind === 'video' && this.#batchPolicy.mayShare(submission);
    if (!mayShare || !slots.areShared || !isPatient || !this.isCrowded(slots)) {
      return 1;
    }
    const fewest = Math.ceil((slots.limit * this.spacingMs) / usualJobMs);
    return Math.min(this.#waitingVideos, maxBatchSize, fewest);
  }

  /** A request with these submissions is about to be sent. */
  noteSent(members: readonly WaitingSubmission[]): void {
    members.forEach((one) => this.#waiting.delete(one));
    const [first] = members;
    if (first?.submission.kind === 'video') {
      this.#inFlightSince = this.#clock.now();
      // This job had to be sent alone, so the slots of the call are not used up: send the next call at once.
      this.#idleSlotMs = this.#batchPolicy.mayShare(first.submission)
        ? 0
        : Number.POSITIVE_INFINITY;
    }
  }

  /** The service has accepted the jobs of these submissions. */
  noteAccepted(members: readonly WaitingSubmission[]): void {
    this.#acceptedAt = this.#clock.now();
    this.#pauses = 0;
    members.forEach(({ submission }) => this.#batchPolicy.accept(submission.jobs));
  }

  /** The call with this submission at its head has ended. */
  noteEnd({ submission }: WaitingSubmission): void {
    this.#inFlightSince = submission.kind === 'video' ? undefined : this.#inFlightSince;
    this.changes.notify();
  }

  /** No submission waits any more: the next one does not wait for slots to be idle. */
  reset(): void {
    this.#idleSlotMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Sends no call for a while, in milliseconds: for as long as the failure asks (`Retry-After`), else for
   * `firstMs`, doubled with each failure up to `mostMs`.
   */
  pause(firstMs: number, mostMs = firstMs, failure?: unknown): void {
    const askedMs = isPostreelError(failure) ? failure.retryAfterMs : undefined;
    const growingMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#pauses, 10));
    this.#pauses += failure === undefined ? 0 : 1;
    const until = this.#clock.now() + (askedMs ?? growingMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
  }

  #sendAt({ submission }: WaitingSubmission, slots: Slots, now: number): number {
    const { free } = slots;
    if (free < Math.min(submission.jobs.length, slots.limit)) {
      return Number.POSITIVE_INFINITY;
    }
    // A call carries only one text, so there is nothing to collect for it.
    if (submission.kind === 'audio') {
      return this.#pausedUntil;
    }
    const isFilling = submission.quota?.isFilling && this.#waitingVideos < free;
    const filledAt = isFilling ? this.#lastAddedAt + fillMs : now;
    const responseDueAt =
      this.#inFlightSince === undefined ? now : this.#inFlightSince + maxInFlightMs;
    const at = Math.max(this.#pausedUntil, filledAt, responseDueAt);
    if (!this.isCrowded(slots)) {
      return at;
    }
    const usable = Math.min(free, submission.quota?.capacity ?? free);
    return Math.max(at, now + (this.#minIdleSlotMs(slots) - this.#idleSlotMs) / usable);
  }

  #countIdle(slots: Slots, now: number): void {
    const { at, free } = this.#lastCount;
    this.#idleSlotMs += this.isCrowded(slots) ? free * (now - at) : 0;
    this.#lastCount = { at: now, free: slots.free };
  }

  /**
   * The value of `#idleSlotMs` at which a call is sent. It is the idle time that adds up between two calls if the
   * calls are spread evenly over the window:
   *
   *     slots that become free per millisecond       limit / usualJobMs
   *     free slots, t after the last call            t × limit / usualJobMs
   *     their idle time, added up until the time s   s² × limit / (2 × usualJobMs)
   *
   * s is 5/6 of the even spacing of the calls, so that some calls are left at the end of the window.
   */
  #minIdleSlotMs({ limit }: Slots): number {
    return (limit * (this.spacingMs * (5 / 6)) ** 2) / (2 * usualJobMs);
  }

  get #waitingVideos(): number {
    let jobs = 0;
    for (const { submission } of this.#waiting) {
      jobs += submission.kind === 'video' ? submission.jobs.length : 0;
    }
    return jobs;
  }
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}
