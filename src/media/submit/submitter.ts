import { macrotask, onAbort } from '../../core/async.js';
import type { CallState } from '../../core/call/call.js';
import { hasIoContexts } from '../../core/runtime.js';
import type { StatusPoller } from '../status/poller.js';
import { PaidCall, type PaidCallParts } from './paid-call.js';
import { Scheduler } from './scheduler.js';
import type { ClientSlots, Slots } from './slots.js';
import { WaitingSubmission, type Submission, type Submitted } from './submission.js';

/** The parts of the client that a submitter uses. */
export interface SubmitterParts extends PaidCallParts {
  readonly slots: ClientSlots;
  readonly poller: StatusPoller;
}

// While the slots are full, the files that hold them are checked this often.
const checkEveryMs = 10_000;
// Files that were checked this recently are not checked again before a call. The check of a wait counts, too.
const freshMs = 3_000;
// Checks that take longer than this no longer delay the call.
const maxCheckMs = 5_000;
// A wait emits `throttled` this often.
const reportEveryMs = 60_000;
// On Workers a submission looks this often whether it may be sent: nothing can wake it.
const recheckEveryMs = 1_000;

/**
 * Sends every paid call of a client. A submission waits here until the rate limit grants a call and slots are
 * free. The scheduler decides when the next call is sent, and with which submissions. The path of a job:
 *
 *     Generate            checks the job of `generate.video()` or of a queue, and makes a submission
 *     OnceJobs            with a key: reads its journal entry, then replays, waits, rejects or sends
 *     Submitter           holds the submission until its call
 *     Scheduler.next()    decides when the next call is sent, and which submission is its head
 *     PaidCall            makes one call for the head
 *     Transport           waits until the rate limit grants a slot, then runs the hook `beforeSending`:
 *     #prepareBatch()     chooses the other submissions, takes pending slots, claims the keys, makes the body
 *     fetch               sends the request
 *
 * The response returns to `PaidCall`. It writes the ids to the journal, assigns the slots to the files and
 * settles each submission; a submission that is sent again returns to the submitter.
 */
export class Submitter {
  readonly #parts: SubmitterParts;
  readonly #scheduler: Scheduler;
  /** Is each submission sent in a separate call? On Workers one request may not wait for another. */
  readonly #mustBeAlone = hasIoContexts();
  #isRunning = false;
  /** The paid call that waits for the rate limit and is not sent yet. */
  #next: PaidCall | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: SubmitterParts) {
    this.#parts = parts;
    this.#scheduler = new Scheduler(parts.connection.settings);
  }

  /** Wakes the submitter after a change elsewhere: a queue was resumed, or one of its jobs has ended. */
  wake(): void {
    if (!this.#mustBeAlone) {
      this.#scheduler.changes.notify();
    }
  }

  /**
   * Submits a submission together with the others that wait. Resolves to `undefined` when another process
   * claims its idempotency key first.
   */
  async submit(submission: Submission, state: CallState): Promise<Submitted | undefined> {
    if (this.#mustBeAlone && this.#scheduler.size > 0) {
      return new Submitter(this.#parts).submit(submission, state);
    }
    const { signal, deadline = Number.POSITIVE_INFINITY } = submission.options;
    const { clock } = this.#parts.connection.settings;
    const one = new WaitingSubmission(submission, state);
    // An abort does not stop a request that has been sent: its response is read and written to the journal.
    const stopListening = onAbort(signal, () => one.abort(signal?.reason));
    const stopTimer = Number.isFinite(deadline)
      ? clock.limit(deadline, () => one.expire())
      : undefined;
    this.#add(one);
    try {
      return await one.result;
    } finally {
      stopListening();
      stopTimer?.();
      this.#remove(one);
      one.end();
    }
  }

  #add(one: WaitingSubmission): void {
    if (one.isOver) {
      return;
    }
    one.markWaiting();
    const { cancelSignal } = one.submission;
    if (cancelSignal?.aborted) {
      one.abort(cancelSignal.reason); // the caller gave up while the request was in flight
      return;
    }
    this.#scheduler.add(one);
    void this.#run();
  }

  #remove(one: WaitingSubmission): void {
    this.#scheduler.remove(one);
    const next = this.#next;
    if (next && !this.#scheduler.waiting.some(({ submission }) => submission.kind === next.kind)) {
      next.cancel();
    }
  }

  async #run(): Promise<void> {
    if (this.#isRunning) {
      return;
    }
    this.#isRunning = true;
    let stop: () => void = () => undefined;
    try {
      const slots = await this.#parts.slots.open();
      stop = this.#mustBeAlone ? stop : slots.onFree(() => this.#scheduler.changes.notify());
      while (this.#scheduler.size > 0) {
        await macrotask(); // collects the jobs that are submitted in the same tick
        await this.#sendOrWait(slots);
      }
    } catch (reason) {
      // The API key cannot be loaded, or there is a bug: no caller may wait for ever.
      this.#scheduler.waiting.forEach((one) => one.abort(reason));
    } finally {
      stop();
      this.#isRunning = false;
      this.#scheduler.reset();
    }
  }

  /** Sends the next call if its time has come; otherwise waits for that time or for a change. */
  async #sendOrWait(slots: Slots): Promise<void> {
    const next = this.#scheduler.next(slots);
    const now = this.#parts.connection.settings.clock.now();
    if (!next) {
      await this.#waitForChange(Number.POSITIVE_INFINITY);
    } else if (next.at > now) {
      await this.#waitUntil(next.head, slots, next.at, now);
    } else if (!(await this.#checkBeforeCall(next.head, slots, now))) {
      await this.#send(next.head, slots);
    }
  }

  /**
   * Waits until a time, or for a change. While the slots are full, checks the files that hold them every ten
   * seconds. Reports the wait once a minute.
   */
  async #waitUntil(head: WaitingSubmission, slots: Slots, at: number, now: number): Promise<void> {
    const { acceptedAt, size, spacingMs } = this.#scheduler;
    const isFull = slots.free < Math.min(head.submission.jobs.length, slots.limit);
    const checkAt = isFull ? this.#checkedAt + checkEveryMs : Number.POSITIVE_INFINITY;
    if (checkAt <= now) {
      await this.#checkAll(slots);
      return;
    }
    const reportedAt = Math.max(this.#reportedAt, acceptedAt);
    if (now - reportedAt >= reportEveryMs) {
      if (reportedAt > Number.NEGATIVE_INFINITY) {
        const waitMs = Number.isFinite(at) ? at - now : spacingMs;
        const wait = { reason: 'limit', waitMs, queued: size } as const;
        this.#parts.connection.events.emit('throttled', wait);
      }
      this.#reportedAt = now;
    }
    const reportAt = Math.max(this.#reportedAt, acceptedAt) + reportEveryMs;
    await this.#waitForChange(Math.min(at, checkAt, slots.nextAt, reportAt) - now);
  }

  async #waitForChange(maxMs: number): Promise<void> {
    // On Workers no other request may wake this one.
    const limitMs = this.#mustBeAlone ? Math.min(maxMs, recheckEveryMs) : maxMs;
    await this.#scheduler.changes.wait(limitMs, this.#parts.connection.settings.clock);
  }

  /**
   * Checks the files that hold slots before a call is sent: some may have ended, and the call can then carry
   * more jobs. Returns whether it has checked them.
   */
  async #checkBeforeCall(
    { submission }: WaitingSubmission,
    slots: Slots,
    now: number,
  ): Promise<boolean> {
    const shouldCheck = submission.kind === 'video' && this.#scheduler.isCrowded(slots);
    if (!shouldCheck || now - this.#checkedAt < freshMs || slots.files.length === 0) {
      return false;
    }
    return this.#checkAll(slots);
  }

  async #checkAll(slots: Slots): Promise<boolean> {
    const { connection, poller } = this.#parts;
    const { clock } = connection.settings;
    this.#checkedAt = clock.now();
    if (poller.areChecksCharged) {
      return false;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const stop = clock.limit(maxCheckMs, () => controller.abort());
    const checks = slots.files.map((fileId) => poller.checkStatus(fileId, freshMs, signal));
    await Promise.allSettled(checks); // a check that failed is made again before the next call
    stop();
    return true;
  }

  /** Makes one call. Resolves when the request is sent, or when the call has ended without being sent. */
  async #send(head: WaitingSubmission, slots: Slots): Promise<void> {
    const call = new PaidCall(this.#parts, this.#scheduler, slots, head);
    this.#next = call;
    await Promise.race([call.sent, this.#makeCall(call, head)]);
    this.#next = undefined;
  }

  async #makeCall(call: PaidCall, head: WaitingSubmission): Promise<void> {
    try {
      const repeated = await call.run();
      repeated.forEach((one) => this.#add(one));
    } finally {
      this.#scheduler.noteEnd(head);
    }
  }
}
