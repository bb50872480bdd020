import {
  abortable,
  onAbort,
  callSafely,
  Notifier,
  answerWithin,
  systemClock,
  type Clock,
} from '../../../core/async.js';
import { isRecord } from '../../../core/values.js';
import { isError, isPostreelError, PostreelError } from '../../../core/errors.js';
import type { MediaJob } from '../../generate/media-job.js';
import { isAboutKey } from '../driver/failures.js';
import type { QueueResult } from '../options.js';
import type { AcknowledgingSource, SourceItem } from './job-source.js';

// So that a call is filled at once when slots come free, and other workers find something too.
const inHandPerSlot = 2;
const idleMs = 1_000;
const extendEveryMs = 30_000;
// An engine whose store restarts gets a report again, for so long.
const reportAgainMs = [1_000, 2_000, 5_000, 15_000];
const askAgainMs = 15_000;
// A client of a store that is down may queue its calls, and answer none. With the repeats above that
// is 43 s at most, so that a queue can end.
const maxAnswerMs = 5_000;

/** A source that acknowledges, as the input of a queue. Each job is named by its id in the source. */
export class EngineInput<Item extends SourceItem = SourceItem> {
  readonly #source: AcknowledgingSource<Item>;
  readonly #warn: (message: string) => void;
  readonly #clock: Clock;
  readonly #maxInHand: number;
  /** What was taken and is not acknowledged, by its place in the input; below 0 what cannot be read. */
  readonly #inHand = new Map<number, Item>();
  /** What the source is being told, by the same places. */
  readonly #reports = new Map<number, Promise<void>>();
  #count = 0;
  #unreadable = 0;
  /** The last `take()`. */
  #taking: Promise<unknown> = Promise.resolve();
  #refusal: { readonly reason: unknown } | undefined;
  readonly #ids = new WeakMap<MediaJob, string>();
  readonly #capacityFreed = new Notifier();
  readonly #controller = new AbortController();
  #stopExtending: () => void = () => undefined;

  constructor(
    source: AcknowledgingSource<Item>,
    { concurrency }: { readonly concurrency: number },
    warn: (message: string) => void,
    clock: Clock = systemClock,
  ) {
    this.#source = source;
    this.#warn = warn;
    this.#clock = clock;
    this.#maxInHand = inHandPerSlot * concurrency;
  }

  /** Why no job can be submitted at all: no connection, no journal, or a key that is refused. */
  get refusal(): { readonly reason: unknown } | undefined {
    return this.#refusal;
  }

  /** The id of a job that `jobs()` has yielded. */
  idOf(job: MediaJob): string {
    return this.#ids.get(job) ?? '';
  }

  /** The jobs, as they can be taken. */
  async *jobs(): AsyncGenerator<MediaJob, void, undefined> {
    this.#extendLater();
    for (;;) {
      const items = await this.#take();
      if (items === undefined) {
        return;
      }
      for (const { id, job } of items) {
        const own = this.#ownJob(job);
        this.#ids.set(own, id);
        yield own;
      }
    }
  }

  // An object for one item alone: two may share one. A copy keeps its class, e.g. a `toJSON()`.
  #ownJob(job: MediaJob): MediaJob {
    if (!isRecord(job)) {
      return { ...(job as object) } as MediaJob; // plain JavaScript; it fails as a job
    }
    if (!this.#ids.has(job)) {
      return job;
    }
    const prototype = Object.getPrototypeOf(job) as object | null;
    return Object.create(prototype, Object.getOwnPropertyDescriptors(job)) as MediaJob;
  }

  /** Takes an item in hand; one that is there already, or cannot be read, is no new job. */
  #isNew(item: Item): boolean {
    if (this.#isHeld(item)) {
      return false;
    }
    if (item.problem !== undefined) {
      this.#failUnreadable(item);
      return false;
    }
    this.#inHand.set(this.#count++, item);
    return true;
  }

  #isHeld(item: Item): boolean {
    for (const [place, held] of this.#inHand) {
      if (held.id === item.id) {
        this.#inHand.set(place, item); // it lost its lock in a pause: reports go to the new copy from now on
        return true;
      }
    }
    return false;
  }

  #failUnreadable(item: Item): void {
    const { id, problem } = item;
    this.#warn(`The job ${id} of the source cannot be read, and fails: ${messageOf(problem)}`);
    const place = --this.#unreadable;
    this.#inHand.set(place, item);
    void this.#report(place, (held) => this.#source.fail(held, problem, { outcome: 'not-sent' }));
  }

  /** The next jobs, once there is capacity for some; `undefined` at the end. */
  async #take(): Promise<readonly Item[] | undefined> {
    const { signal } = this.#controller;
    while (!signal.aborted) {
      const capacity = this.#maxInHand - this.#inHand.size;
      if (capacity <= 0) {
        await this.#capacityFreed.wait();
        continue;
      }
      const items = await this.#ask(capacity);
      if (items === undefined || items.length > 0) {
        return items;
      }
      await this.#pause(idleMs, signal);
    }
    return undefined;
  }

  // A store that is down is asked until it is there again.
  async #ask(capacity: number): Promise<readonly Item[] | undefined> {
    const { signal } = this.#controller;
    const taking = this.#takeInHand(capacity);
    this.#taking = taking.catch(() => undefined);
    try {
      return await abortable(taking, signal);
    } catch (error) {
      if (signal.aborted) {
        return undefined;
      }
      this.#warn(`The source of the queue cannot be asked: ${messageOf(error)}`);
      await this.#pause(askAgainMs, signal);
      return [];
    }
  }

  /** The new jobs among the next ones. What comes after the end goes back. */
  async #takeInHand(capacity: number): Promise<readonly Item[] | undefined> {
    const items = await this.#source.take(capacity);
    if (!this.#controller.signal.aborted) {
      return items?.filter((item) => this.#isNew(item));
    }
    for (const item of items ?? []) {
      if (!this.#isHeld(item)) {
        const place = this.#count++;
        this.#inHand.set(place, item);
        void this.#handBack(place);
      }
    }
    return undefined;
  }

  /**
   * Reports what became of a job. What failed for no fault of its own goes back, without a try counted,
   * and no more is taken: the others would come back, too.
   */
  async acknowledge({ index, file, error, job }: QueueResult): Promise<void> {
    // A job that was submitted is followed with the next key: the journal knows its file.
    const isOfQueue = !file && (job ? isAboutKey(error) : isBound(error) || isNoFaultOfJob(error));
    if (isOfQueue) {
      this.stop();
      this.#refusal ??= isBound(error) ? undefined : { reason: error };
    }
    await this.#report(index, (item) => {
      if (file) {
        return this.#source.done(item, file);
      }
      const outcome = job ? undefined : outcomeOf(error);
      return isOfQueue ? this.#release(item) : this.#source.fail(item, error, { outcome });
    });
  }

  // Only the first try is waited for: other results do not wait for the next ones.
  async #report(place: number, tell: (item: Item) => Promise<void>): Promise<void> {
    const first = this.#tell(place, tell);
    const all = first
      .catch(() => this.#tellAgain(place, tell))
      .then(() => void this.#reports.delete(place));
    this.#reports.set(place, all);
    await first.catch(() => undefined);
  }

  async #tell(place: number, tell: (item: Item) => Promise<void>): Promise<void> {
    const item = this.#inHand.get(place); // a later copy may have taken its place
    if (!item) {
      return; // told, by a call that had seemed to hang
    }
    const telling = async () => {
      await tell(item);
      this.#forget(place); // also late
    };
    await answerWithin(telling(), maxAnswerMs, { onLate: () => undefined, clock: this.#clock });
  }

  // A source hands out again what was not reported to it, and the journal knows the job by then.
  async #tellAgain(place: number, tell: (item: Item) => Promise<void>): Promise<void> {
    let failure: unknown;
    for (const delayMs of reportAgainMs) {
      await this.#pause(delayMs, undefined);
      try {
        await this.#tell(place, tell);
        return;
      } catch (error) {
        failure = error;
      }
    }
    this.#warn(`The source of the queue was not told of a job: ${messageOf(failure)}`);
    this.#forget(place);
  }

  #forget(place: number): void {
    this.#inHand.delete(place);
    this.#capacityFreed.notify();
  }

  /** Takes no more. */
  stop(): void {
    this.#controller.abort();
    this.#capacityFreed.notify();
  }

  /** The queue has ended: what it did not finish goes back. */
  async end(): Promise<void> {
    this.stop();
    const unfinished = [...this.#inHand.keys()].filter((place) => !this.#reports.has(place));
    unfinished.forEach((place) => void this.#handBack(place));
    const terms = { onLate: () => undefined, clock: this.#clock };
    await answerWithin(this.#taking, maxAnswerMs, terms).catch(() => undefined);
    await Promise.all(this.#reports.values());
    this.#stopExtending();
  }

  // What was submitted is in the journal: the next process that takes it follows it.
  #handBack(place: number): Promise<void> {
    return this.#report(place, (item) => this.#release(item));
  }

  async #release(item: Item): Promise<void> {
    if (this.#source.release) {
      await this.#source.release(item);
      return;
    }
    const reason = new PostreelError('The queue ended before this job did. Take it again.', {
      code: 'QUEUE_ENDED',
      outcome: 'not-sent',
    });
    await this.#source.fail(item, reason, { outcome: undefined });
  }

  #extendLater(): void {
    this.#stopExtending = this.#clock.at(this.#clock.now() + extendEveryMs, () => {
      this.#extend();
      this.#extendLater();
    });
  }

  async #pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    let stopListening: () => void = () => undefined;
    await new Promise<void>((resolve) => {
      const stopTimer = this.#clock.at(this.#clock.now() + delayMs, resolve);
      stopListening = onAbort(signal, () => {
        stopTimer();
        resolve();
      });
    });
    stopListening();
  }

  #extend(): void {
    for (const item of this.#inHand.values()) {
      callSafely(() => this.#source.extend?.(item)); // the next one is half a minute away
    }
  }
}

// Any other job would have ended like this.
function isNoFaultOfJob(error: unknown): boolean {
  if (!isPostreelError(error) || error.name === 'InvalidRequestError') {
    return false;
  }
  return error.outcome === 'not-sent' || isAboutKey(error);
}

// A bound that the caller has set is no failure.
function isBound(error: unknown): boolean {
  return isPostreelError(error) && ['SPENDING_CAP', 'DEADLINE_EXCEEDED'].includes(error.code);
}

// A failure with an unknown outcome.
function outcomeOf(error: unknown) {
  return isPostreelError(error) ? (error.outcome ?? 'unknown') : 'unknown';
}

function messageOf(error: unknown): string {
  return isError(error) ? error.message : 'unknown';
}
