import { macrotask, Notifier, onAbort, type Clock } from '../../core/async.js';
import type { CallState } from '../../core/call/call.js';
import {
  isPostreelError,
  RateLimitError,
  TimeoutError,
  type PostreelError,
} from '../../core/errors.js';
import { estimatedMinutes } from '../generate/media-job.js';
import { routes } from '../generate/routes.js';
import type { FileKind } from '../status/intervals.js';
import { BatchPolicy, batchKeyOf } from './batch-policy.js';
import type { QueueQuota } from './queue-quota.js';
import { PaidCall, type CallHost, type PaidCallParts } from './paid-call.js';
import type { Submission, Submitted, WaitingSubmission } from './submission.js';
import type { Slots } from './slots.js';

/** The dependencies of a submitter. */
interface SubmitterParts extends PaidCallParts {
  readonly clock: Clock;
  readonly slots: () => Promise<Slots>;
  /** The rate limit; `undefined` when the caller enforces it. */
  readonly limits: { readonly limit: number; readonly windowMs: number } | undefined;
  /** Is each submission sent in a separate call? On Workers one request may not wait for another. */
  readonly mustBeAlone: boolean;
  /** Checks the status of a file that has a slot; never rejects. */
  readonly check: (fileId: string, signal: AbortSignal) => Promise<unknown>;
  /** Do status checks count towards the rate limit? */
  readonly areChecksCharged: () => boolean;
  /** Called about once a minute while submissions wait. */
  readonly onWait: (waitMs: number, queued: number) => void;
}

// While a queue reads its input, a call with room waits this long for the next job.
const fillMs = 1_000;
const checkEveryMs = 10_000;
// Files that were checked this recently are not checked again before a call.
const freshMs = 3_000;
const maxCheckMs = 5_000;
const usualJobMs = 5 * 60_000;
// After this time without an accepted call, a call is sent even if it gets only one slot.
const maxWithoutMs = 10 * 60_000;
// How long a direct call is retried after it was refused. A queue sets its own time.
const usualPatienceMs = 24 * 60 * 60_000;
const maxRefusals = 8;
const reportEveryMs = 60_000;
// A response usually takes a second. A call that hangs delays the next one no longer than this.
const maxFlightMs = 10_000;
const aloneAskAgainMs = 1_000;

/**
 * Decides when a paid call is sent and which submissions it contains. A submission waits here until the rate
 * limit grants a call and slots are free. The call then takes as many jobs as there are free slots, longest
 * first.
 *
 * Requests are scarce ("10 requests per 10 minutes"). While more videos wait than slots are free, the
 * submitter delays a call so that it fills more slots. It adds up how long the free slots have been idle
 * (`#idleMs`, slots × milliseconds) and sends the call when the sum reaches `#worthMs()`.
 */
export class Submitter {
  readonly #parts: SubmitterParts;
  readonly #waiting = new Set<WaitingSubmission>();
  readonly #news = new Notifier();
  readonly #batchPolicy = new BatchPolicy();
  #slots: Slots | undefined;
  #isRunning = false;
  /** The paid call that waits for the rate limit and is not sent yet. */
  #next: { readonly kind: FileKind; readonly call: PaidCall } | undefined;
  /**
   * When the video call that is in flight was sent; `undefined` if none is. The next video call waits for the
   * response, for `maxFlightMs` at most.
   */
  #inFlightSince: number | undefined;
  #joinedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #pauses = 0;
  /**
   * The idle time of all free slots, added up, since the last call of videos. It grows only while more videos
   * wait than slots are free.
   */
  #idleMs = Number.POSITIVE_INFINITY;
  /** When `#idleMs` was last updated, and how many slots were free then. */
  #counted = { at: 0, free: 0 };
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: SubmitterParts) {
    this.#parts = parts;
  }

  /** Wakes the submitter after a change elsewhere: a queue was resumed, or one of its jobs has ended. */
  wake(): void {
    if (!this.#parts.mustBeAlone) {
      this.#news.notify();
    }
  }

  /** Returns the slots of the project. */
  async open(): Promise<Slots> {
    this.#slots ??= await this.#parts.slots();
    return this.#slots;
  }

  /**
   * Submits a submission together with the others that wait. Resolves to `undefined` when another process
   * claims its idempotency key first.
   */
  async submit(submission: Submission, state: CallState): Promise<Submitted | undefined> {
    if (this.#parts.mustBeAlone && this.#waiting.size > 0) {
      return new Submitter(this.#parts).submit(submission, state);
    }
    const { signal, deadline = Number.POSITIVE_INFINITY } = submission.options;
    const { clock } = this.#parts;
    const { result, ...settle } = withResolvers<Submitted | undefined>();
    const waiting: WaitingSubmission = {
      submission,
      state,
      minutes: Math.max(...submission.jobs.map(estimatedMinutes)),
      failingSince: undefined,
      maxBatchSize: Number.POSITIVE_INFINITY,
      refusals: 0,
      tries: 0,
      isOver: false,
      onOver: () => undefined,
      ...settle,
    };
    // An abort does not stop a request that has been sent: its response is read and written to the journal.
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
      Object.assign(one.state, { isSent: false, outcome });
      const { stop } = one.submission;
      if (stop?.aborted) {
        one.reject(stop.reason); // the caller gave up while the request was in flight
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
    if (next && ![...this.#waiting].some(({ submission }) => submission.kind === next.kind)) {
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
        await macrotask(); // collects the jobs that are submitted in the same tick
        await this.#turn(slots);
      }
    } catch (reason) {
      // The API key cannot be loaded, or there is a bug: no caller may wait for ever.
      [...this.#waiting].forEach((one) => one.reject(reason));
    } finally {
      stop();
      this.#isRunning = false;
      this.#idleMs = Number.POSITIVE_INFINITY;
    }
  }

  /** Sends the next call if its time has come; otherwise waits for that time or for a change. */
  async #turn(slots: Slots): Promise<void> {
    const now = this.#parts.clock.now();
    this.#countIdle(slots, now);
    const head = this.#inOrder().find((one) => mayLeave(one));
    if (!head) {
      await this.#pauseForNews(Number.POSITIVE_INFINITY);
      return;
    }
    const at = this.#sendAt(head, slots, now);
    if (at > now) {
      await this.#rest(head, slots, at);
    } else if (!(await this.#hasChecked(head, slots, now))) {
      await this.#send(head, slots);
    }
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
    const gatheredAt = isFilling ? this.#joinedAt + fillMs : now;
    const answerDueAt = this.#inFlightSince === undefined ? now : this.#inFlightSince + maxFlightMs;
    const at = Math.max(this.#pausedUntil, gatheredAt, answerDueAt);
    if (!this.#isCrowded(slots)) {
      return at;
    }
    const usable = Math.min(free, submission.quota?.capacity ?? free);
    return Math.max(at, now + (this.#worthMs(slots) - this.#idleMs) / usable);
  }

  #countIdle(slots: Slots, now: number): void {
    const { at, free } = this.#counted;
    this.#idleMs += this.#isCrowded(slots) ? free * (now - at) : 0;
    this.#counted = { at: now, free: slots.free };
  }

  /**
   * The value of `#idleMs` at which a call is sent. It is the idle time that adds up between two calls if the
   * calls are spread evenly over the window:
   *
   *     slots that become free per millisecond       limit / usualJobMs
   *     free slots, t after the last call            t × limit / usualJobMs
   *     their idle time, added up until the time s   s² × limit / (2 × usualJobMs)
   *
   * s is 5/6 of the even spacing of the calls, so that some calls are left at the end of the window.
   */
  #worthMs({ limit }: Slots): number {
    return (limit * (this.#spacingMs * (5 / 6)) ** 2) / (2 * usualJobMs);
  }

  get #spacingMs(): number {
    const { limit, windowMs } = this.#parts.limits ?? { limit: 1, windowMs: 0 };
    return windowMs / limit;
  }

  /** Do more videos wait than slots are free? Then each call should carry as many as it can. */
  #isCrowded({ free }: Slots): boolean {
    return this.#waitingVideos > free;
  }

  get #waitingVideos(): number {
    let jobs = 0;
    for (const { submission } of this.#waiting) {
      jobs += submission.kind === 'video' ? submission.jobs.length : 0;
    }
    return jobs;
  }

  /**
   * Waits until a time, or for a change. While the slots are full, checks the files that hold them every ten
   * seconds. Reports the wait once a minute.
   */
  async #rest(head: WaitingSubmission, slots: Slots, at: number): Promise<void> {
    const now = this.#parts.clock.now();
    const isFull = slots.free < Math.min(head.submission.jobs.length, slots.limit);
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
    const { mustBeAlone, clock } = this.#parts;
    // On Workers no other request may wake this one.
    await this.#news.wait(mustBeAlone ? Math.min(maxMs, aloneAskAgainMs) : maxMs, clock);
  }

  /**
   * Checks the files that hold slots before a call is sent: some may have ended, and the call can then carry
   * more jobs. Returns whether it has checked them.
   */
  async #hasChecked(
    { submission }: WaitingSubmission,
    slots: Slots,
    now: number,
  ): Promise<boolean> {
    const counts = submission.kind === 'video' && this.#isCrowded(slots);
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
        compare(one.maxBatchSize, other.maxBatchSize) ||
        urgency(one) - urgency(other) ||
        one.refusals + one.tries - other.refusals - other.tries ||
        other.minutes - one.minutes,
    );
  }

  /** Makes one call. Resolves when the request is sent, or when the call has ended without being sent. */
  async #send(head: WaitingSubmission, slots: Slots): Promise<void> {
    const { kind } = head.submission;
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

  /** The part of this submitter that a paid call uses. */
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
        members.forEach(({ submission }) => this.#batchPolicy.accept(submission.jobs));
      },
      again: (one) => this.#wait(one),
      pause: (firstMs, mostMs, failure) => this.#pause(firstMs, mostMs, failure),
    };
  }

  #onLeft(members: readonly WaitingSubmission[]): void {
    this.#next = undefined;
    for (const one of members) {
      this.#waiting.delete(one);
      Object.assign(one.state, { isSent: true, outcome: 'unknown' });
      one.submission.quota?.leave(one.submission.jobs.length);
    }
    const [first] = members;
    if (first?.submission.kind === 'video') {
      this.#inFlightSince = this.#parts.clock.now();
      // This job had to be sent alone, so the slots of the call are not used up: send the next call at once.
      this.#idleMs = this.#batchPolicy.mayShare(first.submission) ? 0 : Number.POSITIVE_INFINITY;
    }
  }

  /** Chooses the submissions of a call: its head, and the others that may share the call and fit into it. */
  #choose(head: WaitingSubmission, slots: Slots): WaitingSubmission[] {
    const isOpen = this.#batchPolicy.mayShare(head.submission);
    const batchKey = batchKeyOf(head.submission);
    const mayJoin = (one: WaitingSubmission) =>
      isOpen &&
      one !== head &&
      one.maxBatchSize === head.maxBatchSize &&
      this.#batchPolicy.mayShare(one.submission) &&
      batchKeyOf(one.submission) === batchKey;
    const chosen: WaitingSubmission[] = [];
    const jobsByQuota = new Map<QueueQuota | undefined, number>();
    let most = slots.free;
    for (const one of [head, ...this.#inOrder().filter(mayJoin)]) {
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

  // When several processes share the slots, a call is sent only if it gets enough slots at once. If every process
  // took single slots, all of their calls would carry few jobs. After ten minutes without an accepted call, one
  // slot is enough.
  #fewestSlots({ submission, maxBatchSize }: WaitingSubmission, slots: Slots): number {
    const isPatient = this.#parts.clock.now() - this.#acceptedAt < maxWithoutMs;
    const mayShare = submission.kind === 'video' && this.#batchPolicy.mayShare(submission);
    if (!mayShare || !slots.areShared || !isPatient || !this.#isCrowded(slots)) {
      return 1;
    }
    const fewest = Math.ceil((slots.limit * this.#spacingMs) / usualJobMs);
    return Math.min(this.#waitingVideos, maxBatchSize, fewest);
  }

  #mayWait(one: WaitingSubmission): boolean {
    const now = this.#parts.clock.now();
    one.failingSince ??= now;
    const { quota } = one.submission;
    const isInTime = now - one.failingSince <= (quota?.deadlineMs ?? usualPatienceMs);
    const { retries = this.#parts.retries } = one.submission.options;
    const most = retries === 0 ? 0 : maxRefusals;
    return isInTime && (quota !== undefined || one.refusals <= most);
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

function mayLeave({ submission }: WaitingSubmission): boolean {
  return !submission.quota || submission.quota.capacity >= submission.jobs.length;
}

function urgency({ submission }: WaitingSubmission): number {
  return submission.options.priority === 'bulk' ? 1 : 0;
}

function compare(one: number, other: number): number {
  return one === other ? 0 : one - other;
}

function lateError({ submission, state }: WaitingSubmission): PostreelError {
  const { method, path } = routes[submission.kind];
  if (!state.isSent && !state.mayHaveHappened) {
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
