import type { Clock } from '../../../../src/core/async.js';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly task: () => void;
  isStopped: boolean;
}

/** Virtual time: goes from timer to timer, once all promises have settled. */
export class VirtualTime implements Clock {
  #now = 0;
  #order = 0;
  #timers: Timer[] = [];
  now(): number {
    return this.#now;
  }

  at(time: number, task: () => void): () => void {
    const timer = { at: Math.max(this.#now, time), order: this.#order++, task, isStopped: false };
    let place = this.#timers.length;
    while (place > 0 && this.#timers[place - 1]!.at > timer.at) {
      place--;
    }
    this.#timers.splice(place, 0, timer);
    return () => {
      timer.isStopped = true;
    };
  }

  after(delayMs: number, task: () => void): () => void {
    return this.at(this.#now + delayMs, task);
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  within<T>(promise: Promise<T>, limitMs: number, onLate: (value: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isLate = false;
      const stop = this.after(limitMs, () => {
        isLate = true;
        reject(new Error('late'));
      });
      promise.then(
        (value) => {
          stop();
          if (isLate) {
            onLate(value);
          } else {
            resolve(value);
          }
        },
        (reason: unknown) => {
          stop();
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as it came
          reject(reason);
        },
      );
    });
  }

  /** Lets all promises settle. */
  settle(): Promise<void> {
    return settled();
  }

  /** Goes to the next timer; false when there is none: a process would end. */
  async step(): Promise<boolean> {
    for (let timer = this.#timers.shift(); timer; timer = this.#timers.shift()) {
      if (!timer.isStopped) {
        this.#now = timer.at;
        timer.task();
        await settled();
        return true;
      }
    }
    return false;
  }
}

// One turn of the event loop: by then every promise that can settle has.
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
