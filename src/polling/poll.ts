import { isPostreelError } from '../errors/index.js';
import { AttemptTimer, monotonicMs, sleep } from '../async/timers.js';
import { onAbort } from '../async/abort.js';

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

/** What a wait is made of. */
export interface PollPlan<Record, Result> {
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
  /**
   * Milliseconds until the service is asked again after it has refused a check. One refusal is no
   * fact: it ends the wait when it has come twice, and for a job that was seen before, for half a minute.
   */
  readonly refusedDelayMs: number;
  /** The error when the time is up. */
  timeoutError(last: Check<Record> | undefined, polls: number, elapsedMs: number): Error;
  /** Calls back when a check is worthwhile before its time. */
  onNews?(listener: () => void): () => void;
  readonly timeoutMs: number;
  readonly firstDelayMs: number;
  readonly signal: AbortSignal | undefined;
}

// As long as a service may take to know a job everywhere.
const refusalMs = 30_000;
// A wait for what was never seen, such as a mistyped id, asks once more, and soon.
const soonMs = 1_000;

/** Checks again and again until the job is done, has failed, the time is up or the caller aborts. */
export async function poll<Record, Result>(plan: PollPlan<Record, Result>): Promise<Result> {
  plan.signal?.throwIfAborted();
  const startedAt = monotonicMs();
  const elapsed = () => monotonicMs() - startedAt;
  let last: Check<Record> | undefined;
  let polls = 0;
  let failures = 0;
  const refusal = new Refusal();
  let delayMs = plan.firstDelayMs;
  for (;;) {
    const leftMs = plan.timeoutMs - elapsed();
    const pauseMs = Math.min(delayMs, Math.max(0, leftMs));
    if (pauseMs > 0) {
      await pause(pauseMs, plan);
    }
    if (elapsed() >= plan.timeoutMs) {
      throw plan.timeoutError(last, polls, elapsed());
    }
    polls++;
    const timer = new AttemptTimer(plan.timeoutMs - elapsed(), plan.signal);
    try {
      const record = await timer.within(plan.check(timer.signal));
      failures = 0;
      refusal.isOver();
      const status = plan.statusOf(record);
      const changed = last !== undefined && status !== last.status;
      last = { attempt: polls, elapsedMs: elapsed(), status, record, changed };
    } catch (error) {
      if (timer.timedOut) {
        throw plan.timeoutError(last, polls, elapsed());
      }
      const wait =
        plan.passingDelayMs?.(error, ++failures, elapsed()) ??
        refusal.delayMs(error, plan, { isSeen: last !== undefined, elapsedMs: elapsed() });
      if (wait === undefined) {
        throw error;
      }
      delayMs = wait;
      continue;
    } finally {
      timer.stop();
    }
    const end = finish(plan, last);
    delayMs = end ? 0 : plan.nextDelayMs(last);
    plan.report?.(last, delayMs);
    if (end) {
      return end.result;
    }
  }
}

/** A refusal by the service, which is believed when it stays. */
class Refusal {
  #sinceMs: number | undefined;

  /** How long to wait before it is asked for again; `undefined` when it stands. */
  delayMs(
    error: unknown,
    { refusedDelayMs }: Pick<PollPlan<never, never>, 'refusedDelayMs'>,
    { isSeen, elapsedMs }: { readonly isSeen: boolean; readonly elapsedMs: number },
  ): number | undefined {
    // Only what the service has answered: any other failure is one of ours.
    if (!isPostreelError(error) || error.status === undefined || error.outcome !== 'rejected') {
      return undefined;
    }
    const isFirst = this.#sinceMs === undefined;
    this.#sinceMs ??= elapsedMs;
    if (isSeen) {
      return isFirst || elapsedMs - this.#sinceMs < refusalMs ? refusedDelayMs : undefined;
    }
    return isFirst ? Math.min(soonMs, refusedDelayMs) : undefined;
  }

  isOver(): void {
    this.#sinceMs = undefined;
  }
}

// A pause ends early at a notification, or when the caller aborts.
async function pause(
  delayMs: number,
  { signal, onNews }: Pick<PollPlan<never, never>, 'signal' | 'onNews'>,
): Promise<void> {
  if (!onNews) {
    return sleep(delayMs, signal);
  }
  const rest = new AbortController();
  const stop = [onNews(() => rest.abort()), onAbort(signal, () => rest.abort())];
  await sleep(delayMs, rest.signal).catch(() => undefined);
  for (const end of stop) {
    end();
  }
  signal?.throwIfAborted();
}

// The check that ends a wait in failure is reported like every other.
function finish<Record, Result>(
  plan: PollPlan<Record, Result>,
  check: Check<Record>,
): { readonly result: Result } | undefined {
  try {
    return plan.finish(check);
  } catch (failure) {
    plan.report?.(check, 0);
    throw failure;
  }
}
