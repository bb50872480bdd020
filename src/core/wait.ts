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
import { jobStage, statusOf } from './job-status.js';
import { isRecord, type OpenRecord } from './values.js';

/**
 * Waiting for something that the service does by itself: a job, a campaign, a domain, a file. One loop,
 * `poll`, asks until there is an end; `waitFor` is what all but files need of it.
 */

// ---- how often

/** The status checks of one client. */
export interface StatusChecks {
  readonly clock: Clock;
  /** Makes a check in its turn: they are evenly spaced, never in bursts. */
  make<T>(check: () => Promise<T>, signal: AbortSignal | undefined): Promise<T>;
}

/** Ten status checks a second, for jobs of seconds to minutes. */
export function createStatusChecks(clock: Clock): StatusChecks {
  // p-throttle keeps the queue: it starts the checks of all waits in order, at most one per interval, with one
  // timer. It knows only the time of the process; with the clock of a fake, checks need no interval.
  const interval = clock === systemClock ? 100 : 0;
  const spaced = pThrottle({ limit: 1, interval })(async (
    check: () => Promise<unknown>,
    signal: AbortSignal | undefined,
  ) => {
    signal?.throwIfAborted(); // it was given up in the queue
    return check();
  });
  return {
    clock,
    async make<T>(check: () => Promise<T>, signal: AbortSignal | undefined) {
      signal?.throwIfAborted();
      return abortable(spaced(check, signal) as Promise<T>, signal); // what the check resolves to
    },
  };
}

// ---- the loop

/** What one status check found. */
export interface Check<Record> {
  /** The number of this check, from 1. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly status: string | undefined;
  readonly record: Record;
  /** Is this another status than at the check before? */
  readonly changed: boolean;
}

/** What a wait has done by the time it is over. */
interface TimeoutFacts {
  readonly polls: number;
  readonly elapsedMs: number;
  /** Why the last check failed; `undefined` if it got an answer. */
  readonly failure: unknown;
}

/** What a wait is made of. */
interface PollPlan<Record, Result> {
  /** Checks once; the signal aborts when the wait is over. An error ends the wait unless it is transient. */
  check(signal: AbortSignal | undefined): Promise<Record>;
  statusOf(record: Record): string | undefined;
  /** The result once there is one; throws when the job has failed. */
  finish(check: Check<Record>): { readonly result: Result } | undefined;
  /** Milliseconds until the next check. */
  nextDelayMs(check: Check<Record>): number;
  /** Called with every check; the last one has no next poll. */
  report?(check: Check<Record>, nextPollInMs: number): void;
  /** May this error be gone at the next check? Milliseconds to wait, or `undefined` to give up. */
  passingDelayMs?(error: unknown, failures: number, elapsedMs: number): number | undefined;
  /** Milliseconds until the service is asked again after it has refused a check. */
  readonly refusedDelayMs: number;
  /** The error when the time is up. */
  timeoutError(last: Check<Record> | undefined, facts: TimeoutFacts): Error;
  /** Calls back when a check is worthwhile before its time. */
  onNews?(listener: () => void): () => void;
  readonly timeoutMs: number;
  readonly firstDelayMs: number;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

// A file or job that was made a moment ago may not be known everywhere yet.
const soonMs = 1_000;

/** Checks again and again until the job is done, has failed, the time is up or the caller aborts. */
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

  // A single no is not trusted: the wait ends on the second in a row. 401 and 403 speak of the key.
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
        : Math.min(soonMs, plan.refusedDelayMs);
  };

  for (let delayMs: number | undefined = plan.firstDelayMs; ;) {
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
      const record = await timer.last(plan.check(timer.signal));
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
      delayMs = delayAfter(error);
      if (delayMs === undefined) {
        throw error;
      }
      continue;
    }
    let end;
    try {
      end = plan.finish(last);
    } catch (failure) {
      plan.report?.(last, 0); // the check that ends a wait in failure is reported like every other
      throw failure;
    }
    delayMs = end ? 0 : plan.nextDelayMs(last);
    plan.report?.(last, delayMs);
    if (end) {
      return end.result;
    }
  }
}

// A pause ends early at a notification, or when the caller aborts.
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
 * How long to wait after a status check that failed but may succeed later. `undefined` for
 * failures that stay, such as 401, 403 and 404.
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
  // A gateway or a captive portal answers in place of the service.
  const isForeign = code === 'UNEXPECTED_RESPONSE' && status !== undefined && status < 300;
  if (!isForeign && !isTransient(error) && code !== 'QUEUE_TIMEOUT') {
    return undefined;
  }
  const backoffMs = Math.min(60_000, intervalMs * 2 ** Math.min(failures - 1, 10));
  return Math.max(error.retryAfterMs ?? 0, backoffMs);
}

/** The last status of a wait that took too long, and why its last check failed, for its message. */
export function lastStatusText(status: string | undefined, failure: unknown): string {
  const last = `last status "${status ?? 'none'}"`;
  return failure instanceof Error ? `${last}; the last check failed: ${failure.message}` : last;
}

// ---- the wait of jobs, campaigns, domains and executions

/** How to wait for a record. All times are in milliseconds. */
export interface RecordWaitOptions<Item> {
  /** The longest that the wait may take, in milliseconds; `Infinity` is allowed. */
  timeout?: number | undefined;
  /** The time between two status checks, in milliseconds. */
  interval?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with every status check. Errors it throws are ignored. */
  onUpdate?: ((record: Item) => void) | undefined;
  /** Decides whether the wait is over, where your service has other words. */
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
   * The time between two status checks, in milliseconds.
   * @default 2_000
   */
  interval?: number | undefined;
  /** Called with every status check. What it throws is ignored. */
  onUpdate?: ((update: JobUpdate<Job>) => void) | undefined;
}

/** What a status check of a job found. */
export interface JobUpdate<Job> {
  readonly jobId: string;
  readonly status: string | undefined;
  /** As the service sent it: a share, a percentage, or not at all. */
  readonly progress: unknown;
  /** The number of this status check, from 1. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly nextPollInMs: number;
  readonly raw: Job;
}

/** The options of each wait of a call that has one `signal` for all. */
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

/** What is particular to one kind of record. */
interface RecordWait<Item> {
  readonly id: string;
  /** As it stands in messages, e.g. `Campaign`. */
  readonly kind: string;
  readonly check: (signal: AbortSignal | undefined) => PromiseLike<Item>;
  readonly isDone: (status: string | undefined, record: Item) => boolean;
  /** In milliseconds. */
  readonly timeout: number;
  /** In milliseconds. */
  readonly interval: number;
  /** The least time between two status checks, in milliseconds, whatever the caller asks for. */
  readonly minInterval?: number;
  readonly checks: StatusChecks;
  /** Tells of each check, the caller's `onUpdate` too. */
  readonly report?: (check: Check<Item>, nextPollInMs: number, onUpdate: unknown) => void;
  /** Does it go on, with part of its work done, where a wait for it has failed? */
  readonly outcome?: 'unknown';
}

/** Checks a record until it has come to its end; a failed or cancelled one rejects. */
export async function waitForRecord<Item>(
  plan: RecordWait<Item>,
  given: RecordWaitOptions<Item> | undefined,
): Promise<Item> {
  const { id, kind, checks, minInterval = 0, outcome } = plan;
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
      if (jobStage(status) === 'failed') {
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

/** Why a record says that it failed. */
function reasonOf(record: unknown): string {
  const reason = isRecord(record) ? record['failedReason'] : undefined;
  return typeof reason === 'string' && reason !== '' ? `: ${reason.replace(/\.$/, '')}` : '';
}

/** What the waits of one client share. */
export interface JobWatch {
  readonly checks: StatusChecks;
  /** Tells the client's listeners of a status check. */
  readonly report: (update: JobUpdate<OpenRecord>) => void;
}

/**
 * Waits until an import or bulk job is done. One that is gone before that rejects with a `NotFoundError`:
 * how it ended is not known.
 */
export async function waitForJob<Job extends OpenRecord>(
  jobId: string,
  check: (signal: AbortSignal | undefined) => Promise<Job>,
  { checks, report: tell }: JobWatch,
  given: JobWaitOptions<Job> | undefined,
): Promise<Job> {
  const report: RecordWait<Job>['report'] = (found, nextPollInMs, onUpdate) => {
    const { status, attempt, elapsedMs, record } = found;
    const progress = record['progress'];
    const update = { jobId, status, progress, attempt, elapsedMs, nextPollInMs, raw: record };
    tell(update);
    callSafely(() => (onUpdate as JobWaitOptions<Job>['onUpdate'])?.(update)); // of a job
  };
  const isDone = (status: string | undefined) => jobStage(status) === 'done';
  const plan = { id: jobId, kind: 'Job', check, isDone, checks, report } as const;
  const times = { timeout: 600_000, interval: 2_000, outcome: 'unknown' } as const;
  return waitForRecord<Job>({ ...plan, ...times }, given as RecordWaitOptions<Job> | undefined); // but for onUpdate
}
