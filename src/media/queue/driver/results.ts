import { callSafely, Notifier } from '../../../async/notifier.js';
import type { QueueOptions, QueueProgress, QueueResult } from '../options.js';

/** The progress of a queue beside its results. */
export type Counts = Pick<QueueProgress, 'pending' | 'waiting' | 'total' | 'etaMs'>;

/** A result, and what its job is called in the journal. */
export interface Named {
  readonly result: QueueResult;
  readonly name: string | undefined;
}

/** The results of a queue that were not taken yet, and the signal for new ones. */
export class QueueResults {
  /** Rings when there is something to yield. */
  readonly wake = new Notifier();
  readonly #results: Named[] = [];
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

  push(result: QueueResult, name: string | undefined): void {
    if (result.error === undefined) {
      this.#done++;
    } else {
      this.#failed++;
    }
    this.#results.push({ result, name });
    this.wake.notify();
  }

  take(): Named | undefined {
    return this.#results.shift();
  }

  /** Tells the caller how far the queue is. */
  report(counts: Counts): void {
    const progress = { done: this.#done, failed: this.#failed, ...counts };
    callSafely(() => this.#options.onProgress?.(progress));
  }
}
