import { callSafely, Notifier } from '../../async/notifier.js';
import { onAbort } from '../../async/abort.js';
import type { QueueOptions, QueueProgress, QueueResult } from './options.js';

/** What goes on around a queue: results, progress, changes to wait for, and its end. */
export class QueueSignals {
  readonly results: QueueResult[] = [];
  /** Rings when there is something to hand out. */
  readonly news = new Notifier();
  readonly #changes = new Notifier();
  readonly #options: QueueOptions;
  readonly #counts: () => Omit<QueueProgress, 'done' | 'failed'>;
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  #done = 0;
  #failed = 0;
  #busy = 0;

  constructor(options: QueueOptions, counts: () => Omit<QueueProgress, 'done' | 'failed'>) {
    this.#options = options;
    this.#counts = counts;
    this.#stopListening = onAbort(options.signal, () => this.#abort(options.signal?.reason));
  }

  /** Aborts with the caller's signal, and when nobody iterates any more. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Is a call under way? */
  get isBusy(): boolean {
    return this.#busy > 0;
  }

  /** Adds a result. */
  push(result: QueueResult): void {
    if (result.error === undefined) {
      this.#done++;
    } else {
      this.#failed++;
    }
    this.results.push(result);
    this.report();
    this.wake();
    this.news.notify();
  }

  /** The next result to hand out. */
  take(): QueueResult | undefined {
    const result = this.results.shift();
    if (result) {
      this.wake();
    } // there is room for another one
    return result;
  }

  /** Something has changed. */
  wake(): void {
    this.#changes.notify();
  }

  /** Counts a call that is under way. */
  async busy(call: Promise<void>): Promise<void> {
    this.#busy++;
    await call;
    this.#busy--;
    this.report();
    this.wake();
  }

  /** Waits until something changed, at most so long. */
  change(delayMs: number, reading: Promise<void> | undefined): Promise<void> {
    return this.#changes.wait(delayMs, reading);
  }

  /** Ends all waiting. */
  stop(): void {
    this.#stopListening();
    this.#abort();
  }

  /** Tells the caller how far the queue is. */
  report(): void {
    const progress = { done: this.#done, failed: this.#failed, ...this.#counts() };
    callSafely(() => this.#options.onProgress?.(progress));
  }

  #abort(reason?: unknown): void {
    this.#controller.abort(reason);
    this.wake();
    this.news.notify();
  }
}
