import { amount, callback, oneOf, readOptions, type OptionKinds } from '../../../core/options.js';
import { isDate } from '../../../core/values.js';
import { parseDuration, type Duration } from './duration.js';
import { createSchedule, type Task } from './schedule.js';

/** The time of a fake service, and the things that happen in it later. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** `now()` as an ISO 8601 string. */
  date(): string;
  /** Runs a task once, that long from now; the answer takes it back. */
  after(delayMs: number, task: Task): () => void;
  /** Moves time on, runs everything that falls due in order, and waits for it. */
  advance(duration: Duration): Promise<void>;
  /** Runs what is due by now, without waiting for slow tasks; every request does this first. */
  runDue(): void;
}

/** How a fake's time runs. */
export interface ClockOptions {
  /** The time at the start. @default the wall clock at creation */
  start?: Date | number;
  /** `virtual` time moves only by `advance()`; `real` time follows the wall clock. @default 'virtual' */
  mode?: 'virtual' | 'real';
  /** How many times faster than the wall clock `real` time runs. @default 1 */
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
  mode: oneOf('virtual', 'real'),
  speed: amount,
  now: callback(),
};

/** The longest delay that timers can carry. */
const maxTimerMs = 2 ** 31 - 1;

/** Makes a clock: one that only moves by `advance()`, unless told otherwise. */
export function createClock(given?: ClockOptions): Clock {
  const options = readOptions(given, clockOptions, owner);
  const { mode = 'virtual', speed = 1 } = options;
  const schedule = createSchedule();
  const outsideMs = sourceOf(options);
  let skippedMs = 0;
  /** Set while a task starts, so that what it plans counts from when it was due. */
  let taskTime: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const now = () => taskTime ?? outsideMs() + skippedMs;

  function runNext(until: number): Promise<void> | undefined {
    const next = schedule.takeUntil(until);
    if (next === undefined) {
      return undefined;
    }
    taskTime = next.due;
    try {
      return Promise.resolve(next.task());
    } finally {
      taskTime = undefined;
    }
  }

  function runDue(): void {
    const until = now();
    while (runNext(until) !== undefined) {
      // `runNext` does the work.
    }
    arm();
  }

  /** Only a clock that follows the wall needs waking; no timer keeps a process alive. */
  function arm(): void {
    clearTimeout(timer);
    const due = schedule.nextDue();
    if (mode !== 'real' || due === undefined) {
      return;
    }
    const delayMs = Math.min(Math.max(0, (due - now()) / speed), maxTimerMs);
    timer = setTimeout(runDue, delayMs);
    if (typeof timer === 'object') {
      timer.unref();
    }
  }

  async function advance(duration: Duration): Promise<void> {
    const target = now() + parseDuration(duration);
    for (let due = schedule.nextDue(); due !== undefined && due <= target;) {
      skippedMs += Math.max(0, due - now());
      await runNext(due);
      due = schedule.nextDue();
    }
    skippedMs += Math.max(0, target - now());
    arm();
  }

  function after(delayMs: number, task: Task): () => void {
    const cancel = schedule.add(now() + delayMs, task);
    if (taskTime === undefined) {
      arm();
    }
    return cancel;
  }

  return { now, date: () => new Date(now()).toISOString(), after, advance, runDue };
}

/** The time before any `advance()`: it stands still, or follows a clock from the start on. */
function sourceOf({ mode, speed = 1, start, now }: ClockOptions): () => number {
  const outside = now ?? (mode === 'real' ? () => Date.now() : undefined);
  const origin = outside?.() ?? 0;
  const first = Number(start ?? outside?.() ?? Date.now());
  return () => first + ((outside?.() ?? 0) - origin) * speed;
}
