import pThrottle from 'p-throttle';
import { abortable, callSafely, onAbort, sleep, systemClock, Timer, type Clock } from './async.js';
import {
  isApiError,
  isPostreelError,
  isTransient,
  JobFailedError,
  WaitTimeoutError,
} from './errors.js';
import {
  abortSignal,
  atLeast,
  callback,
  milliseconds,
  readOptions,
  type OptionKinds,
} from './options.js';
import { stageOf, statusOf } from './job-status.js';
import { isRecord, type OpenRecord } from './values.js';

/**
 * Waits for something that the service does by itself: a job, a campaign, a domain, a file. `poll()` is the loop of
 * status checks. `waitForRecord()` runs it for everything except files, which `media/status/` waits for.
 */

// ---- how often

/**
 * The shortest time between two checks of one wait, in milliseconds. Without it, a wait with `interval: 0` would never
 * let the clock of a fake advance.
 */
export const minIntervalMs = 100;

/** The status checks of one client. */
export interface StatusChecks {
  readonly clock: Clock;
  /** Makes a check after the checks before it: they are evenly spaced, never in bursts. */
  make<T>(check: () => Promise<T>, signal: AbortSignal | undefined): Promise<T>;
}

/** Creates the status checks of a client: at most ten in a second, for jobs that take seconds to minutes. */
export function createStatusChecks(clock: Clock): StatusChecks {
  // p-throttle keeps the queue: it starts the checks of all waits in order, at most one per interval, with one
  // timer. It knows only the time of the process; with the clock of a fake, checks need no interval.
  const interval = clock === systemClock ? minIntervalMs : 0;
  const spaced = pThrottle({ limit: 1, interval })(async (
    check: () => Promise<unknown>,
    signal: AbortSignal | undefined,
  ) => {
    signal?.throwIfAborted(); // the caller may have aborted while the check waited
    return check();
  });
  return {
    clock,
    async make<T>(check: () => Promise<T>, signal: AbortSignal | undefined) {
      signal?.throwIfAborted();
      return abortable(spaced(check, signal) as Promise<T>, signal); // as: the result of the check
    },
  };
}

// ---- the loop

/** The result of one status check. */
export interface Check<Record> {
  /** The number of this check, from 1. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly status: string | undefined;
  readonly record: Record;
  /** Does the status differ from that of the previous check? */
  readonly changed: boolean;
}

/** The facts of a wait that exceeded its timeout. */
interface TimeoutFacts {
  readonly polls: number;
  readonly elapsedMs: number;
  /** The error of the last check; `undefined` if the check succeeded. */
  readonly failure: unknown;
}

/** The parts of a wait that differ between files and other records. */
interface PollPlan<Record, Result> {
  /** Makes one status check. The signal aborts when the wait is over. */
  check(signal: AbortSignal | undefined): Promise<Record>;
  statusOf(record: Record): string | undefined;
  /** Returns the result if the job is done; throws if it has failed. */
  finish(check: Check<Record>): { readonly result: Result } | undefined;
  /** Milliseconds until the next check. */
  nextDelayMs(check: Check<Record>): number;
  /** Called after each check. `nextPollInMs` is 0 after the last one. */
  report?(check: Check<Record>, nextPollInMs: number): void;
  /** How long to wait after a check that failed, in milliseconds; `undefined` if the error will not pass. */
  passingDelayMs?(error: unknown, failures: number, elapsedMs: number): number | undefined;
  /** How long to wait after a check that the service rejected, in milliseconds. */
  readonly refusedDelayMs: number;
  /** The error of a wait that exceeds its timeout. */
  timeoutError(last: Check<Record> | undefined, facts: TimeoutFacts): Error;
  /** Adds a listener for news, e.g. a callback: the next check is then made at once. Returns its removal. */
  onNews?(listener: () => void): () => void;
  readonly timeoutMs: number;
  readonly firstDelayMs: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

// The service may answer 404 for a file or job that was created a moment ago: the first check is repeated this soon.
const firstRepeatMs = 1_000;

/** Repeats the status check until the job is done or has failed, the timeout is over, or the caller aborts. */
export async function poll<Record, Result>(plan: PollPlan<Record, Result>): Promise<Result> {
  const { clock } = plan;
  plan.signal?.throwIfAborted();
  const startedAt = clock.now();
  const elapsed = () => clock.now() - startedAt;
  let last: Check<Record> | undefined;
  let polls = 0;
  let failures = 0;
  let isRefused = false;
  let failure: unknown;
  const timeUp = () => plan.timeoutError(last, { polls, elapsedMs: elapsed(), failure });

  // One 4xx does not end a wait; two in a row do. 401 and 403 end it at once, because they concern the key.
  const delayAfter = (error: unknown): number | undefined => {
    const passingMs = plan.passingDelayMs?.(error, ++failures, elapsed());
    const status = isPostreelError(error) ? error.status : undefined;
    const isSecond = isRefused;
    isRefused = isApiError(error) && passingMs === undefined;
    if (!isRefused || status === 401 || status === 403) {
      return passingMs;
    }
    return isSecond
      ? undefined
      : last
        ? plan.refusedDelayMs
        : Math.min(firstRepeatMs, plan.refusedDelayMs);
  };

  for (let delayMs = plan.firstDelayMs; ;) {
    const pauseMs = Math.min(delayMs, Math.max(0, plan.timeoutMs - elapsed()));
    if (pauseMs > 0) {
      await pause(pauseMs, plan);
    }
    if (elapsed() >= plan.timeoutMs) {
      throw timeUp();
    }
    polls++;
    const timer = new Timer(plan.timeoutMs - elapsed(), plan.signal, clock);
    try {
      const record = await timer.withinThenStop(plan.check(timer.signal));
      const status = plan.statusOf(record);
      const changed = last !== undefined && status !== last.status;
      last = { attempt: polls, elapsedMs: elapsed(), status, record, changed };
      failures = 0;
      isRefused = false;
      failure = undefined;
    } catch (error) {
      if (timer.timedOut) {
        throw timeUp();
      }
      failure = error;
      const passingMs = delayAfter(error);
      if (passingMs === undefined) {
        throw error;
      }
      delayMs = Math.max(minIntervalMs, passingMs);
      continue;
    }
    let end;
    try {
      end = plan.finish(last);
    } catch (failure) {
      plan.report?.(last, 0); // report this check like every other
      throw failure;
    }
    delayMs = end ? 0 : Math.max(minIntervalMs, plan.nextDelayMs(last));
    plan.report?.(last, delayMs);
    if (end) {
      return end.result;
    }
  }
}

// Sleeps for the delay. Ends earlier if there is news or the caller aborts.
async function pause(
  delayMs: number,
  { signal, onNews, clock }: Pick<PollPlan<never, never>, 'signal' | 'onNews' | 'clock'>,
): Promise<void> {
  if (!onNews) {
    return sleep(delayMs, signal, clock);
  }
  const rest = new AbortController();
  const stop = [onNews(() => rest.abort()), onAbort(signal, () => rest.abort())];
  await sleep(delayMs, rest.signal, clock).catch(() => undefined);
  stop.forEach((end) => end());
  signal?.throwIfAborted();
}

/**
 * How long to wait after a status check that failed but may succeed later, in milliseconds. `undefined` for an
 * error that will not pass, such as 401, 403 and 404.
 */
export function passingDelayMs(
  error: unknown,
  failures: number,
  intervalMs: number,
): number | undefined {
  if (!isPostreelError(error)) {
    return undefined;
  }
  const { status, code } = error;
  // A gateway or a captive portal may answer in place of the service.
  const isForeign = code === 'UNEXPECTED_RESPONSE' && status !== undefined && status < 300;
  if (!isForeign && !isTransient(error) && code !== 'QUEUE_TIMEOUT') {
    return undefined;
  }
  const backoffMs = Math.min(60_000, intervalMs * 2 ** Math.min(failures - 1, 10));
  return Math.max(error.retryAfterMs ?? 0, backoffMs);
}

/** The part of a timeout's message that names the last status and the error of the last check. */
export function lastStatusText(status: string | undefined, failure: unknown): string {
  const last = `last status "${status ?? 'none'}"`;
  return failure instanceof Error ? `${last}; the last check failed: ${failure.message}` : last;
}

// ---- the wait of jobs, campaigns, domains and executions

/** How to wait for a record. All times are in milliseconds. */
export interface RecordWaitOptions<Item> {
  /** The longest that the wait may take, in milliseconds; `Infinity` is allowed. */
  timeout?: number | undefined;
  /** The time between two status checks, in milliseconds: at least 100. */
  interval?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called after every status check. An error that it throws is ignored. */
  onUpdate?: ((record: Item) => void) | undefined;
  /** Decides whether the wait is over. For services with status values that this package does not know. */
  isDone?: ((record: Item) => boolean) | undefined;
}

/** How to wait for an import or bulk job. All times are in milliseconds. */
export interface JobWaitOptions<Job> extends Omit<RecordWaitOptions<Job>, 'onUpdate'> {
  /**
   * The longest that the wait may take, in milliseconds; `Infinity` is allowed.
   * @default 600_000
   */
  timeout?: number | undefined;
  /**
   * The time between two status checks, in milliseconds: at least 100.
   * @default 2_000
   */
  interval?: number | undefined;
  /** Called after every status check. An error that it throws is ignored. */
  onUpdate?: ((update: JobUpdate<Job>) => void) | undefined;
}

/** The result of a status check of a job. */
export interface JobUpdate<Job> {
  readonly jobId: string;
  readonly status: string | undefined;
  /** The progress as the service sent it: a share, a percentage, or `undefined`. */
  readonly progress: unknown;
  /** The number of this status check, from 1. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly nextPollInMs: number;
  readonly raw: Job;
}

/** The options of each wait inside a call that has one `signal` for all its waits. */
export const innerWaitOptions: OptionKinds<Omit<RecordWaitOptions<unknown>, 'signal'>> = {
  timeout: milliseconds,
  interval: atLeast(0),
  onUpdate: callback(),
  isDone: callback(),
};

const recordWaitOptions: OptionKinds<RecordWaitOptions<unknown>> = {
  ...innerWaitOptions,
  signal: abortSignal,
};

/** The facts of one wait for a record. */
interface RecordWait<Item> {
  readonly id: string;
  /** The kind of the record, for messages: `Campaign`. */
  readonly kind: string;
  readonly check: (signal: AbortSignal | undefined) => PromiseLike<Item>;
  readonly isDone: (status: string | undefined, record: Item) => boolean;
  /** The default timeout, in milliseconds. */
  readonly timeout: number;
  /** The default time between two status checks, in milliseconds. */
  readonly interval: number;
  /** The shortest time between two status checks that a caller may set, in milliseconds. @default minIntervalMs */
  readonly minInterval?: number;
  readonly checks: StatusChecks;
  /** Reports each check to the listeners, and to the caller's `onUpdate`. */
  readonly report?: (check: Check<Item>, nextPollInMs: number, onUpdate: unknown) => void;
  /** The outcome of a wait that times out, and of a job that failed: a part of the work may be done. */
  readonly outcome?: 'unknown';
}

/** Waits until a record is done. Rejects with a `JobFailedError` if it failed or was canceled. */
export async function waitForRecord<Item>(
  plan: RecordWait<Item>,
  given: RecordWaitOptions<Item> | undefined,
): Promise<Item> {
  const { id, kind, checks, minInterval = minIntervalMs, outcome } = plan;
  const owner = { name: 'a wait' };
  const options = readOptions(given, recordWaitOptions, owner);
  const { timeout = plan.timeout, signal, onUpdate, isDone } = options;
  const interval = Math.max(minInterval, options.interval ?? plan.interval);
  const resume = async (again?: object) =>
    waitForRecord(plan, { ...options, ...readOptions(again, recordWaitOptions, owner) });
  return poll<Item, Item>({
    signal,
    timeoutMs: timeout,
    firstDelayMs: 0,
    nextDelayMs: () => interval,
    refusedDelayMs: interval,
    statusOf,
    passingDelayMs: (error, failures) => passingDelayMs(error, failures, interval),
    clock: checks.clock,
    check: (until) => checks.make(async () => plan.check(until), until),
    finish({ record, status }) {
      if (isDone ? isDone(record) : plan.isDone(status, record)) {
        return { result: record };
      }
      if (stageOf(status) === 'failed') {
        const message = `${kind} ${id} ended with the status "${status ?? ''}"${reasonOf(record)}.`;
        throw new JobFailedError(message, { jobId: id, job: record, outcome });
      }
      return undefined;
    },
    report: (check, nextPollInMs) =>
      plan.report
        ? plan.report(check, nextPollInMs, onUpdate)
        : callSafely(() => onUpdate?.(check.record)),
    timeoutError: (last, { polls, elapsedMs, failure: cause }) => {
      const lastStatus = last?.status;
      const seconds = Math.round(elapsedMs / 1000);
      const hint = outcome ? ' The job is still running. Call' : ' Call';
      return new WaitTimeoutError(
        `${kind} ${id} was not done within ${seconds} s (${lastStatusText(lastStatus, cause)}).${hint} \`resume({ timeout })\`, in milliseconds, to keep waiting.`,
        { id, lastStatus, elapsedMs, polls, resume, outcome, cause },
      );
    },
  });
}

/** The reason for a failure, from the record. */
function reasonOf(record: unknown): string {
  const reason = isRecord(record) ? record['failedReason'] : undefined;
  return typeof reason === 'string' && reason !== '' ? `: ${reason.replace(/\.$/, '')}` : '';
}

/** The parts of a client that its waits share. */
export interface JobWatch {
  readonly checks: StatusChecks;
  /** Reports a status check to the client's listeners. */
  readonly report: (update: JobUpdate<OpenRecord>) => void;
}

/**
 * Waits until an import or bulk job is done. Rejects with a `NotFoundError` if the service forgets the job before
 * that: its end is then unknown.
 */
export async function waitForJob<Job extends OpenRecord>(
  jobId: string,
  check: (signal: AbortSignal | undefined) => Promise<Job>,
  { checks, report: reportUpdate }: JobWatch,
  given: JobWaitOptions<Job> | undefined,
): Promise<Job> {
  const report: RecordWait<Job>['report'] = (found, nextPollInMs, onUpdate) => {
    const { status, attempt, elapsedMs, record } = found;
    const progress = record['progress'];
    const update = { jobId, status, progress, attempt, elapsedMs, nextPollInMs, raw: record };
    reportUpdate(update);
    callSafely(() => (onUpdate as JobWaitOptions<Job>['onUpdate'])?.(update)); // as: the options of a job
  };
  const isDone = (status: string | undefined) => stageOf(status) === 'done';
  const plan = { id: jobId, kind: 'Job', check, isDone, checks, report } as const;
  const times = { timeout: 600_000, interval: 2_000, outcome: 'unknown' } as const;
  return waitForRecord<Job>({ ...plan, ...times }, given as RecordWaitOptions<Job> | undefined); // as: only `onUpdate` differs
}
