import { callSafely, Notifier } from '../../../async/notifier.js';
import type { QueueOptions, QueueProgress, QueueResult } from '../options.js';

/** The progress of a queue beside its results. */
export type Counts = Pick<QueueProgress, 'pending' | 'waiting' | 'total' | 'etaMs'>;

/** The results of a queue that were not taken yet, and the signal for new ones. */
export class QueueResults {
  /** Rings when there is something to yield. */
  readonly news = new Notifier();
  readonly #results: QueueResult[] = [];
  readonly #options: QueueOptions;
  #done = 0;
  #failed = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get finished(): readonly QueueResult[] {
    return this.#results.filter(({ job, file }) => job !== undefined && file !== undefined);
  }

  push(result: QueueResult): void {
    if (result.error === undefined) {
      this.#done++;
    } else {
      this.#failed++;
    }
    this.#results.push(result);
    this.news.notify();
  }

  take(): QueueResult | undefined {
    return this.#results.shift();
  }

  /** Tells the caller how far the queue is. */
  report(counts: Counts): void {
    const progress = { done: this.#done, failed: this.#failed, ...counts };
    callSafely(() => this.#options.onProgress?.(progress));
  }
}
