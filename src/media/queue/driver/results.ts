import { callSafely, Notifier } from '../../../core/async.js';
import type { QueueKey } from '../keys/queue-key.js';
import type { QueueOptions, QueueProgress, QueueResult } from '../options.js';

/** The progress of a queue beside its results. */
export type Counts = Pick<QueueProgress, 'pending' | 'waiting' | 'total' | 'etaMs'>;

/** A result, what its job is called in the journal, and the key that made it. */
export interface NamedResult {
  readonly result: QueueResult;
  readonly name: string | undefined;
  /** `undefined` where no key could. */
  readonly key: QueueKey | undefined;
}

/** The results of a queue that were not taken yet, and the signal for new ones. */
export class QueueResults {
  /** Rings when there is something to yield. */
  readonly wake = new Notifier();
  readonly #results: NamedResult[] = [];
  readonly #options: QueueOptions;
  #done = 0;
  #failed = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get finished(): readonly QueueResult[] {
    const results = this.#results.map(({ result }) => result);
    return results.filter(({ job, file }) => job !== undefined && file !== undefined);
  }

  /** How many results wait to be taken. */
  get size(): number {
    return this.#results.length;
  }

  push(named: NamedResult): void {
    if (named.result.error === undefined) {
      this.#done++;
    } else {
      this.#failed++;
    }
    this.#results.push(named);
    this.wake.notify();
  }

  take(): NamedResult | undefined {
    return this.#results.shift();
  }

  /** Tells the caller how far the queue is. */
  report(counts: Counts): void {
    const progress = { done: this.#done, failed: this.#failed, ...counts };
    callSafely(() => this.#options.onProgress?.(progress));
  }
}
