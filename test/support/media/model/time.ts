interface Timer {
  readonly at: number;
  readonly task: () => void;
  isStopped: boolean;
}

/** Turns of the event loop in which nothing happened: by then every promise that can settle has, those that wait for a turn too. */
const quietTurns = 5;
const { setTimeout, clearTimeout, setImmediate } = globalThis;
const own = { Date: { now: Date.now }, Math: { random: Math.random } };
const traceLimit = Error.stackTraceLimit;
const performanceNow = performance.now.bind(performance);

/** Virtual time: goes from timer to timer, once all promises have settled. */
export class VirtualTime {
  #now = 1_800_000_000_000;
  #timers: Timer[] = [];
  #activity = 0;

  now(): number {
    return this.#now;
  }

  at(time: number, task: () => void): () => void {
    const timer = { at: Math.max(this.#now, time), task, isStopped: false };
    let place = this.#timers.length;
    while (place > 0 && this.#timers[place - 1]!.at > timer.at) {
      place--;
    }
    this.#timers.splice(place, 0, timer);
    this.#activity++;
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

  /** Lets all promises settle. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      const seen = this.#activity;
      await new Promise((resolve) => setImmediate(resolve));
      if (seen !== this.#activity) {
        quiet = -1;
      }
    }
  }

  /** Goes to the next timer; false when there is none: nothing would ever happen again. */
  async step(): Promise<boolean> {
    for (let timer = this.#timers.shift(); timer; timer = this.#timers.shift()) {
      if (!timer.isStopped) {
        this.#now = timer.at;
        timer.task();
        await this.settle();
        return true;
      }
    }
    return false;
  }

  /** Makes this the time of the process, with these random numbers, until the end that it answers. */
  rule(next: () => number): () => void {
    const start = this.#now;
    const later = (task: () => void, delayMs = 0) => this.after(delayMs, task);
    const stop = (timer: unknown) =>
      typeof timer === 'function' ? (timer as () => void)() : undefined;
    Object.assign(globalThis, { setTimeout: later, clearTimeout: stop });
    Date.now = () => this.#now;
    performance.now = () => this.#now - start;
    Math.random = next;
    Error.stackTraceLimit = 0; // traces take a third of the time, and nobody reads them
    return () => {
      this.#timers = [];
      Object.assign(globalThis, { setTimeout, clearTimeout });
      Object.assign(Date, own.Date);
      Object.assign(performance, { now: performanceNow });
      Object.assign(Math, own.Math);
      Error.stackTraceLimit = traceLimit;
    };
  }
}
