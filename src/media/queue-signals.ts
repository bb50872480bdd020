import { onAbort } from '../transport/on-abort.js';
import { monotonicMs } from '../transport/clock.js';
import type { QueueOptions, QueueProgress, QueueResult } from './queue-options.js';

/** What goes on around a queue: results, progress, changes to wait for, and its end. */
export class QueueSignals {
  readonly results: QueueResult[] = [];
  readonly #options: QueueOptions;
  readonly #counts: () => { pending: number; waiting: number };
  readonly #controller = new AbortController();
  readonly #startedAt = monotonicMs();
  readonly #stopListening: () => void;
  #done = 0;
  #failed = 0;
  #busy = 0;
  #wake: () => void = () => undefined;

  constructor(options: QueueOptions, counts: () => { pending: number; waiting: number }) {
    this.#options = options;
    this.#counts = counts;
    this.#stopListening = onAbort(options.signal, () => {
      this.#controller.abort(options.signal?.reason);
      this.#wake();
    });
  }

  /** Aborts with the caller's signal, and when nobody iterates any more. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Is a call under way? */
  get isBusy(): boolean {
    return this.#busy > 0;
  }

  /** Hands on a result. */
  push(result: QueueResult): void {
    if (result.error === undefined) this.#done++;
    else this.#failed++;
    this.results.push(result);
    this.report();
    this.wake();
  }

  /** Ends the current wait for a change. */
  wake(): void {
    this.#wake();
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
  async change(delayMs: number, reading: Promise<void> | undefined): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (Number.isFinite(delayMs)) timer = setTimeout(resolve, Math.max(1, delayMs));
      void reading?.then(resolve);
      if (this.results.length > 0 || this.signal.aborted) resolve();
    });
    clearTimeout(timer);
  }

  /** Ends all waiting. */
  stop(): void {
    this.#stopListening();
    this.#controller.abort();
  }

  /** Tells the caller how far the queue is. */
  report(): void {
    try {
      this.#options.onProgress?.(this.#progress());
    } catch {
      // A callback that throws must not stop the queue.
    }
  }

  #progress(): QueueProgress {
    const { pending, waiting } = this.#counts();
    const ended = this.#done + this.#failed;
    const perJobMs = (monotonicMs() - this.#startedAt) / ended;
    const etaMs = ended === 0 ? undefined : perJobMs * (pending + waiting);
    return { done: this.#done, failed: this.#failed, pending, waiting, etaMs };
  }
}
