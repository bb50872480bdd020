import { onAbort } from '../../../async/abort.js';
import { Notifier } from '../../../async/notifier.js';
import { systemClock, type Clock } from '../../../async/clock.js';
import { isPostreelError, PostreelError } from '../../../errors/index.js';
import type { MediaJob } from '../../generate/media-job.js';
import { isAboutKey } from '../driver/failures.js';
import type { QueueOptions, QueueResult } from '../options.js';
import type { AcknowledgingSource, SourceItem } from './job-source.js';

// So that a call is filled at once when slots come free, and other workers find something too.
const inHandPerSlot = 2;
const usualConcurrency = 20;
const idleMs = 1_000;
const extendEveryMs = 30_000;
// An engine whose store restarts gets a report again, for so long.
const reportAgainMs = [1_000, 2_000, 5_000, 15_000];
const askAgainMs = 15_000;

/** A source that acknowledges, as the input of a queue. Each job is named by its id in the source. */
export class EngineInput<Item extends SourceItem = SourceItem> {
  readonly #source: AcknowledgingSource<Item>;
  readonly #warn: (message: string) => void;
  readonly #clock: Clock;
  readonly #maxInHand: number;
  /** What was taken and is not acknowledged, by its place in the input. */
  readonly #inHand = new Map<number, Item>();
  /** Acknowledgements that are repeated. */
  readonly #repeated = new Set<Promise<void>>();
  #count = 0;
  #refusal: { readonly reason: unknown } | undefined;
  readonly #ids = new WeakMap<MediaJob, string>();
  readonly #capacityFreed = new Notifier();
  readonly #controller = new AbortController();
  #stopExtending: () => void = () => undefined;

  constructor(
    source: AcknowledgingSource<Item>,
    { concurrency = usualConcurrency }: Pick<QueueOptions, 'concurrency'>,
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
      for (const { id, job } of items.filter((item) => this.#isNew(item))) {
        const own = { ...job }; // an object of its own: two items may share one
        this.#ids.set(own, id);
        yield own;
      }
    }
  }

  /** Takes an item in hand; one that is there already, or cannot be read, is no new job. */
  #isNew(item: Item): boolean {
    for (const [index, held] of this.#inHand) {
      if (held.id === item.id) {
        this.#inHand.set(index, item); // it lost its lock in a pause: reports go to the new copy from now on
        return false;
      }
    }
    if (item.problem !== undefined) {
      this.#failUnreadable(item);
      return false;
    }
    this.#inHand.set(this.#count++, item);
    return true;
  }

  #failUnreadable(item: Item): void {
    const { id, problem } = item;
    this.#warn(`The job ${id} of the source cannot be read, and fails: ${messageOf(problem)}`);
    this.#repeat(() => this.#source.fail(item, problem, { outcome: 'not-sent' }));
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
    try {
      return await this.#source.take(capacity);
    } catch (error) {
      this.#warn(`The source of the queue cannot be asked: ${messageOf(error)}`);
      await this.#pause(askAgainMs, this.#controller.signal);
      return [];
    }
  }

  /**
   * Reports what became of a job. What failed for no fault of its own goes back, without a try counted,
   * and no more is taken: the others would come back, too.
   */
  async acknowledge({ index, file, error, job }: QueueResult): Promise<void> {
    // A job that was submitted is followed with the next key: the journal knows its file.
    const isOfQueue = !file && (job ? isAboutKey(error) : isNoFaultOfJob(error));
    if (isOfQueue) {
      this.stop();
      this.#refusal ??= isBound(error) ? undefined : { reason: error };
    }
    const report = async () => {
      const item = this.#inHand.get(index); // a later copy may have taken its place
      if (item && file) {
        await this.#source.done(item, file);
      } else if (item && isOfQueue) {
        await this.#release(item);
      } else if (item) {
        const outcome = job ? undefined : outcomeOf(error);
        await this.#source.fail(item, error, { outcome });
      }
    };
    const isOver = () => {
      this.#inHand.delete(index);
      this.#capacityFreed.notify();
    };
    try {
      await report();
      isOver();
    } catch {
      // Other results do not wait for it.
      this.#repeat(report, isOver);
    }
  }

  #repeat(report: () => Promise<void>, isOver: () => void = () => undefined): void {
    const reported = this.#reportAgain(report).then(isOver);
    this.#repeated.add(reported);
    void reported.then(() => this.#repeated.delete(reported));
  }

  // A source hands out again what was not reported to it, and the journal knows the job by then.
  async #reportAgain(report: () => Promise<void>): Promise<void> {
    let failure: unknown;
    for (const delayMs of reportAgainMs) {
      await this.#pause(delayMs, undefined);
      try {
        await report();
        return;
      } catch (error) {
        failure = error;
      }
    }
    this.#warn(`The source of the queue was not told of a job: ${messageOf(failure)}`);
  }

  /** Takes no more. */
  stop(): void {
    this.#controller.abort();
    this.#capacityFreed.notify();
  }

  /** The queue has ended: what it did not finish goes back. */
  async end(): Promise<void> {
    this.stop();
    await Promise.all(this.#repeated);
    this.#stopExtending();
    await this.#handBack();
  }

  // What was submitted is in the journal: the next process that takes it follows it.
  async #handBack(): Promise<void> {
    const items = [...this.#inHand.values()];
    this.#inHand.clear();
    await Promise.allSettled(items.map((item) => this.#release(item)));
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
      this.#source.extend?.(item).catch(() => undefined); // the next one is half a minute away
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
  return error instanceof Error ? error.message : 'unknown';
}
