import { onAbort, maxDelayMs } from '../../core/async.js';

/** A waiter in a {@link WaitQueue}. */
export interface Waiter<Data, Grant> {
  readonly data: Data;
  /** Ends the wait with what was waited for. */
  grant(value: Grant): void;
  /** Ends the wait with an error. */
  reject(reason: unknown): void;
}

/** How to wait. */
export interface WaitTerms {
  /** An abort ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** 0 goes first. */
  readonly priority?: number;
  /** The longest wait, in milliseconds; `timeoutError` makes the error after it. */
  readonly maxWaitMs?: number;
  readonly timeoutError?: () => Error;
}

/**
 * First come, first served within each priority. Every waiter has an abort and a timer of its own;
 * joining, leaving and being next cost the same however many wait.
 */
export class WaitQueue<Data, Grant = void> implements Iterable<Waiter<Data, Grant>> {
  readonly #lines: readonly Fifo<Waiter<Data, Grant>>[];
  readonly #onLeave: () => void;

  /** `onLeave` is called when a waiter leaves without a grant. */
  constructor(priorities = 1, onLeave: () => void = () => undefined) {
    this.#lines = Array.from({ length: priorities }, () => new Fifo());
    this.#onLeave = onLeave;
  }

  get size(): number {
    return this.sizeUpTo(this.#lines.length - 1);
  }

  /** How many wait with this priority or one that goes before it. */
  sizeUpTo(priority: number): number {
    return this.#lines.slice(0, priority + 1).reduce((sum, line) => sum + line.size, 0);
  }

  /** Waits until granted or refused. */
  wait(data: Data, terms: WaitTerms = {}): Promise<Grant> {
    const { signal, priority = 0, maxWaitMs = Number.POSITIVE_INFINITY, timeoutError } = terms;
    return new Promise<Grant>((resolve, reject) => {
      if (signal?.aborted) {
        reject(asError(signal.reason));
        return;
      }
      const leave = () => {
        leaveLine();
        clearTimeout(timer);
        stopListening();
      };
      const waiter: Waiter<Data, Grant> = {
        data,
        grant(value) {
          leave();
          resolve(value);
        },
        reject: (reason) => {
          leave();
          reject(asError(reason));
          this.#onLeave();
        },
      };
      const giveUp = () => {
        leaveLine(); // the error may count those that wait
        waiter.reject(timeoutError?.());
      };
      const leaveLine = this.#line(priority).join(waiter);
      const timer = Number.isFinite(maxWaitMs)
        ? setTimeout(giveUp, Math.min(maxWaitMs, maxDelayMs))
        : undefined;
      const stopListening = onAbort(signal, () => waiter.reject(signal?.reason));
    });
  }

  /** Whose turn it is, without taking the turn. */
  peek(): Waiter<Data, Grant> | undefined {
    return this.#lines.find((line) => line.size > 0)?.peek();
  }

  *[Symbol.iterator](): Iterator<Waiter<Data, Grant>> {
    for (const line of this.#lines) {
      yield* line;
    }
  }

  #line(priority: number): Fifo<Waiter<Data, Grant>> {
    return this.#lines[priority] as Fifo<Waiter<Data, Grant>>; // priorities are counted from 0
  }
}

// An abort may have any reason at all, and it is passed on as it is.
function asError(reason: unknown): Error {
  return reason as Error;
}

/** A list that is joined at the end and left anywhere. */
class Fifo<T> implements Iterable<T> {
  /** A place that was left stays empty until it comes to the front. */
  #places: (T | undefined)[] = [];
  #front = 0;
  #dropped = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Joins at the end. Call the answer to leave; later calls do nothing. */
  join(one: T): () => void {
    const place = this.#dropped + this.#places.length;
    this.#places.push(one);
    this.#size++;
    return () => this.#leave(place);
  }

  peek(): T | undefined {
    if (this.#size === 0) {
      return undefined;
    }
    while (this.#places[this.#front] === undefined) {
      this.#front++;
    }
    this.#compact();
    return this.#places[this.#front];
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const one of this.#places.slice(this.#front)) {
      if (one !== undefined) {
        yield one;
      }
    }
  }

  #leave(place: number): void {
    const index = place - this.#dropped;
    if (this.#places[index] === undefined) {
      return;
    }
    this.#places[index] = undefined;
    this.#size--;
    this.#compact();
  }

  #compact(): void {
    if (this.#size > 0 && this.#front < 1024) {
      return;
    }
    const gone = this.#size === 0 ? this.#places.length : this.#front;
    this.#places = this.#places.slice(gone);
    this.#dropped += gone;
    this.#front = 0;
  }
}
