import { macrotask, type TaskOptions } from '../../core/async.js';
import { amount, callback, oneOf, readOptions, type OptionKinds } from '../../core/options.js';
import { isDate } from '../../core/values.js';

/** The clock of a fake service and of its clients, with the tasks scheduled on it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** `now()` as a `Date`. */
  date(): Date;
  /** Runs a task once after this delay; returns the function that cancels it. */
  after(delayMs: number, task: Task): () => void;
  /** Advances the time, runs all tasks that become due in order, and waits for them. */
  advance(duration: Duration): Promise<void>;
  /** Runs all due tasks, without waiting for slow ones; every request does this first. */
  runDue(): void;
  /** For clients: ends a pause, during which the client does nothing else. @internal */
  at(time: number, task: () => void, options?: TaskOptions): () => void;
  /** For clients: ends an operation that takes too long. @internal */
  limit(delayMs: number, task: () => void): () => void;
  /** For fakes: the clock does not advance by itself until this work is done. @internal */
  whileAnswering<T>(work: () => Promise<T>): Promise<T>;
  /**
   * For fakes: a fault delays a response; the time limits of clients then end like their pauses. @internal
   */
  whileHeld<T>(wait: Promise<T>): Promise<T>;
}

/** The options of a fake's clock. */
export interface ClockOptions {
  /** The time at the start. @default the wall clock at creation */
  start?: Date | number;
  /**
   * `virtual` time advances by `advance()`, and by itself when a client of the fake pauses; `manual` time by
   * `advance()` only; `real` time follows the wall clock. @default 'virtual'
   */
  mode?: 'virtual' | 'manual' | 'real';
  /** The speed of `real` time, as a multiple of the wall clock. @default 1 */
  speed?: number;
  /** Follows another clock, e.g. `() => Date.now()` under a test runner's fake timers. */
  now?: () => number;
}

const owner = { name: '`createClock()`', example: "{ mode: 'real' }" };
const clockOptions: OptionKinds<ClockOptions> = {
  start: {
    form: 'a valid date, or milliseconds since 1970',
    allows: (value) =>
      (typeof value === 'number' || isDate(value)) && !Number.isNaN(new Date(value).getTime()),
  },
  mode: oneOf('virtual', 'manual', 'real'),
  speed: amount,
  now: callback(),
};

/** Creates a clock. By default it advances by itself when a client pauses. */
export function createClock(given?: ClockOptions): Clock {
  return new FakeClock(readOptions(given, clockOptions, owner));
}

/** The clock for the `clock` option of a fake. */
export function clockOf(clock: Clock | ClockOptions = {}): Clock {
  return 'advance' in clock ? clock : createClock(clock);
}

// Captured at import, so that the fake timers of a test runner do not stop the time.
const realMs = performance.now.bind(performance);

/** After this many turns of the event loop without a new request, the clients count as waiting. */
const quietTurns = 5;
/**
 * An operation with a time limit runs in real time: the clock waits this long, or the limit, before it passes
 * the limit.
 */
const patienceMs = 1_000;
/** The longest delay of a timer, in milliseconds. */
const maxTimerMs = 2 ** 31 - 1;

class FakeClock implements Clock {
  readonly #mode: 'virtual' | 'manual' | 'real' | 'followed';
  readonly #speed: number;
  readonly #outsideMs: () => number;
  readonly #schedule = new Schedule();
  #skippedMs = 0;
  /** Set while a task starts, so that the tasks it schedules count from its due time. */
  #taskTime: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isMoving = false;
  /** Incremented by every action of a client. */
  #activity = 0;
  #answering = 0;
  #held = 0;
  /** The running tasks of the service, such as calls of webhooks. */
  readonly #slowTasks = new Set<Promise<void>>();

  constructor(options: ClockOptions) {
    const { mode = 'virtual', speed = 1, now } = options;
    this.#mode = now ? 'followed' : mode;
    this.#speed = speed;
    this.#outsideMs = sourceOf(options);
  }

  now(): number {
    return this.#taskTime ?? this.#outsideMs() + this.#skippedMs;
  }

  date(): Date {
    return new Date(this.now());
  }

  after(delayMs: number, task: Task): () => void {
    return this.#add({ due: this.now() + delayMs, kind: 'task', task });
  }

  at(time: number, task: () => void, { movesTime = true }: TaskOptions = {}): () => void {
    this.#slowTasks.clear(); // one of these tasks may be the pausing client
    return this.#add({ due: Math.ceil(time), kind: movesTime ? 'pause' : 'background', task });
  }

  limit(delayMs: number, task: () => void): () => void {
    const patientMs = Math.min(delayMs, patienceMs);
    const limitMs = this.#mode === 'real' ? Math.max(delayMs, patientMs * this.#speed) : delayMs;
    const patientUntil = realMs() + patientMs;
    return this.#add({ due: this.now() + limitMs, kind: 'limit', task, patientUntil });
  }

  advance(duration: Duration): Promise<void> {
    const due = this.now() + parseDuration(duration);
    return new Promise((resolve) => this.#add({ due, kind: 'goal', task: resolve }));
  }

  runDue(): void {
    const until = this.now();
    const isDue = (next: ScheduledEntry | undefined) =>
      next && next.due <= until && next.kind !== 'goal';
    while (isDue(this.#schedule.next())) {
      this.#run(this.#schedule.take());
    }
    this.#wake();
  }

  async whileAnswering<T>(work: () => Promise<T>): Promise<T> {
    this.#answering++;
    try {
      return await work();
    } finally {
      this.#answering--;
      this.#activity++;
    }
  }

  async whileHeld<T>(wait: Promise<T>): Promise<T> {
    this.#held++;
    this.#wake();
    try {
      return await wait;
    } finally {
      this.#held--;
      this.#activity++;
    }
  }

  #add(entry: ScheduledEntry): () => void {
    const takeBack = this.#schedule.add(entry);
    if (entry.kind !== 'task') {
      this.#activity++;
    }
    this.#wake();
    return () => {
      takeBack();
      this.#wake();
    };
  }

  #run(entry: ScheduledEntry): void {
    const { due, kind, task } = entry;
    const outerTime = this.#taskTime; // a task may make a request, which runs the due tasks
    this.#taskTime = due;
    try {
      const result = task();
      if (result) {
        this.#slowTasks.add(result);
        void result.finally(() => this.#slowTasks.delete(result));
      }
    } finally {
      this.#taskTime = outerTime;
    }
    if (kind !== 'task') {
      this.#activity++;
    }
  }

  #wake(): void {
    if (this.#taskTime !== undefined) {
      return; // whoever runs the task goes on
    }
    if (this.#mayMove()) {
      void this.#move();
    } else if (this.#mode === 'real' || this.#mode === 'followed') {
      this.#setTimer();
    }
  }

  // ---- time that the clock moves itself

  #mayMove(): boolean {
    const schedule = this.#schedule;
    const isWaitedFor = schedule.has('pause') || (this.#held > 0 && schedule.has('limit'));
    return schedule.has('goal') || (this.#mode === 'virtual' && isWaitedFor);
  }

  /** Advances from entry to entry as long as a client waits; lets the clients run in between. */
  async #move(): Promise<void> {
    if (this.#isMoving) {
      return;
    }
    this.#isMoving = true;
    let quietAt: number | undefined;
    try {
      for (
        let next = this.#schedule.next();
        next && this.#mayMove();
        next = this.#schedule.next()
      ) {
        if (quietAt !== this.#activity || this.#isBusy()) {
          await this.#quiet();
          quietAt = this.#activity;
        } else if (this.#mustWaitFor(next)) {
          await macrotask();
          quietAt = undefined;
        } else {
          this.#skippedMs += Math.max(0, next.due - this.now());
          this.#run(this.#schedule.take());
        }
      }
    } finally {
      this.#isMoving = false;
    }
    this.#wake();
  }

  /** Waits until the event loop has turned a few times without new activity. */
  async #quiet(): Promise<void> {
    let seen: number | undefined;
    for (let turns = 0; turns < quietTurns; turns++) {
      if (this.#isBusy() || seen !== this.#activity) {
        seen = this.#activity;
        turns = 0;
      }
      await macrotask();
    }
  }

  #isBusy(): boolean {
    return this.#answering > 0 || this.#slowTasks.size > 0;
  }

  // A time limit may cover work outside this fake: a file, or a secret that is fetched.
  #mustWaitFor({ patientUntil = 0 }: ScheduledEntry): boolean {
    return this.#held === 0 && patientUntil > realMs();
  }

  // ---- time that runs outside

  /** A timer for the next entry. It keeps the process alive only while a client awaits an entry. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    const awaited = this.#schedule.nextOf('pause', 'limit');
    const ofClients = this.#schedule.nextOf('pause', 'limit', 'background');
    const next = this.#mode === 'real' ? this.#schedule.next() : ofClients;
    if (next === undefined) {
      return;
    }
    const delayMs = Math.ceil(Math.max(0, (next.due - this.now()) / this.#speed));
    this.#timer = setTimeout(() => this.runDue(), Math.min(delayMs, maxTimerMs));
    if (!awaited && typeof this.#timer === 'object') {
      this.#timer.unref();
    }
  }
}

/** The time without any `advance()`: constant, or following a clock from the start. */
function sourceOf({ mode, speed = 1, start, now }: ClockOptions): () => number {
  const outside = now ?? (mode === 'real' ? () => Date.now() : undefined);
  const origin = outside?.() ?? 0;
  const first = Number(start ?? outside?.() ?? Date.now());
  return () => first + ((outside?.() ?? 0) - origin) * speed;
}

/** A task that runs later. */
export type Task = () => void | Promise<void>;

/**
 * The kinds of entries. `task`: an event in the service. `pause` and `limit`: a client waits, or limits a
 * running operation. `background`: a client does something in the background. `goal`: the target of
 * `advance()`, after all other entries due by then.
 */
export type Kind = 'task' | 'pause' | 'limit' | 'background' | 'goal';

/** An entry of the schedule. */
export interface ScheduledEntry {
  readonly due: number;
  readonly kind: Kind;
  readonly task: Task;
  /** The time of the process before which the clock does not pass this limit, in milliseconds. */
  readonly patientUntil?: number;
}

/** The scheduled entries in the order of their due times; for equal times, in the order of insertion. */
export class Schedule {
  readonly #entries: ScheduledEntry[] = [];
  readonly #counts = { task: 0, pause: 0, limit: 0, background: 0, goal: 0 };

  /** Adds an entry; returns the function that removes it. */
  add(entry: ScheduledEntry): () => void {
    this.#entries.splice(this.#placeFor(entry), 0, entry);
    this.#counts[entry.kind]++;
    return () => {
      const index = this.#entries.indexOf(entry);
      if (index >= 0) {
        this.#entries.splice(index, 1);
        this.#counts[entry.kind]--;
      }
    };
  }

  has(kind: Kind): boolean {
    return this.#counts[kind] > 0;
  }

  /** The first entry. */
  next(): ScheduledEntry | undefined {
    return this.#entries[0];
  }

  /** The first entry of one of these kinds. */
  nextOf(...kinds: readonly Kind[]): ScheduledEntry | undefined {
    return this.#entries.find(({ kind }) => kinds.includes(kind));
  }

  /** Removes and returns the first entry, which must exist. */
  take(): ScheduledEntry {
    const entry = this.#entries.shift() as ScheduledEntry; // as: the caller has checked that there is one
    this.#counts[entry.kind]--;
    return entry;
  }

  // The position after all entries that are due no later, but before a goal of the same time.
  #placeFor({ due, kind }: ScheduledEntry): number {
    const isAfter = (other: ScheduledEntry) =>
      due > other.due || (due === other.due && (kind === 'goal' || other.kind !== 'goal'));
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#entries[middle];
      if (other !== undefined && isAfter(other)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A span of time: `'500ms'`, `'3s'`, `'10m'`, `'2h'`, `'1d'`, or a number of milliseconds. */
export type Duration = string | number;

/** Turns a duration into milliseconds; throws on anything it cannot read. */
export function parseDuration(duration: Duration): number {
  const ms = typeof duration === 'number' ? duration : readText(duration);
  if (Number.isNaN(ms) || ms < 0) {
    throw new RangeError(
      `Not a duration: ${JSON.stringify(duration)}. Use '500ms', '3s', '10m', '2h', '1d' or a number of milliseconds.`,
    );
  }
  return ms;
}

function readText(text: string): number {
  const [, amount, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(text) ?? [];
  return Number(amount) * (unitMs[unit] ?? Number.NaN);
}
