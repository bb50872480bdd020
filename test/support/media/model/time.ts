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

  limit(delayMs: number, task: () => void): () => void {
    return this.after(delayMs, task);
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
