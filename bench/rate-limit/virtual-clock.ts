interface Task {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** A handle like that of Node's `setTimeout`: limiters call `unref()`. */
class Handle {
  task: Task;

  constructor(task: Task) {
    this.task = task;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  cancel(): void {
    this.task.run = undefined;
  }
}

const turn = setImmediate;
// Any fixed date: the result must not depend on the day of the run.
const epochMs = Date.UTC(2030, 0, 1);

/** A clock that advances only when no task is left to run now. Minutes take milliseconds. */
export class VirtualClock {
  now = 0;
  #order = 0;
  readonly #heap: Task[] = [];

  /** Runs a task later; not rounded, unlike `setTimeout`. */
  at(time: number, run: () => void): Handle {
    const task: Task = { at: Math.max(time, this.now), order: this.#order++, run };
    this.#push(task);
    return new Handle(task);
  }

  /** Resolves later; the simulated network uses this. */
  after(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.at(this.now + delayMs, resolve));
  }

  /** Replaces the real clock with this one while `work` runs. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const restore = this.#install();
    try {
      let isDone = false;
      const result = work().finally(() => {
        isDone = true;
      });
      result.catch(() => undefined); // awaited below
      for (;;) {
        await new Promise((resolve) => turn(resolve));
        // as: `isDone` changes during the await
        if (isDone as boolean) {
          return await result;
        }
        this.#step();
      }
    } finally {
      restore();
    }
  }

  /** Advances to the next moment with a task, and runs all tasks of that moment. */
  #step(): void {
    const first = this.#pop();
    if (!first) {
      throw new Error('Somebody waits for what will never happen.');
    }
    this.now = first.at;
    for (let task: Task | undefined = first; task; task = this.#popAt(first.at)) {
      const { run } = task;
      task.run = undefined;
      run?.();
    }
  }

  #install(): () => void {
    const timers = { setTimeout, clearTimeout, setInterval, clearInterval };
    const dateNow = Date.now;
    const performanceNow = performance.now.bind(performance);
    const later = (run: (...facts: unknown[]) => void, delayMs = 1, ...facts: unknown[]) =>
      this.at(this.now + roundDelay(delayMs), () => run(...facts));
    const repeat = (run: () => void, delayMs = 1) => this.#repeat(run, roundDelay(delayMs));
    const forget = (handle: Handle | undefined) => handle?.cancel();
    Object.assign(globalThis, {
      setTimeout: later,
      clearTimeout: forget,
      setInterval: repeat,
      clearInterval: forget,
    });
    Date.now = () => epochMs + Math.floor(this.now);
    performance.now = () => this.now;
    return () => {
      Object.assign(globalThis, timers);
      Date.now = dateNow;
      performance.now = performanceNow;
    };
  }

  #repeat(run: () => void, everyMs: number): Handle {
    const again = () => {
      handle.task = this.at(this.now + everyMs, again).task;
      run();
    };
    const handle = this.at(this.now + everyMs, again);
    return handle;
  }

  #popAt(time: number): Task | undefined {
    return this.#heap[0]?.at === time ? this.#pop() : undefined;
  }

  #push(task: Task): void {
    const heap = this.#heap;
    let index = heap.push(task) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(task, heap[parent]!)) {
        break;
      }
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = task;
  }

  /** The next task that was not cancelled. */
  #pop(): Task | undefined {
    for (;;) {
      const first = this.#heap[0];
      const last = this.#heap.pop();
      if (!first || !last) {
        return undefined;
      }
      if (this.#heap.length > 0) {
        this.#sink(last);
      }
      if (first.run) {
        return first;
      }
    }
  }

  #sink(task: Task): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) {
        break;
      }
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) {
        child++;
      }
      if (!isBefore(heap[child]!, task)) {
        break;
      }
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = task;
  }
}

// Rounds like the real timers: to whole milliseconds, at least one.
function roundDelay(delayMs: number): number {
  return Math.max(1, Math.trunc(delayMs));
}

function isBefore(one: Task, other: Task): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
