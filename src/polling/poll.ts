import { monotonicMs } from '../async/clock.js';
import { onAbort } from '../async/abort.js';
import { positive } from '../transport/settings.js';
import { sleep, startTimer } from '../async/timers.js';

/** What a look found. */
export interface Look<Record> {
  /** The number of this look, from 1. */
  readonly attempt: number;
  readonly elapsedMs: number;
  readonly status: string | undefined;
  readonly record: Record;
  /** Is this status another than at the look before? */
  readonly changed: boolean;
}

/** What a wait is made of. */
export interface PollPlan<Record, Result> {
  /** Looks once; the signal aborts when the wait is over. An error ends the wait unless it passes. */
  look(signal: AbortSignal): Promise<Record>;
  statusOf(record: Record): string | undefined;
  /** The result once there is one; throws when the job has failed. */
  finish(look: Look<Record>): { readonly result: Result } | undefined;
  /** Milliseconds until the next look. */
  nextDelayMs(look: Look<Record>): number;
  /** Called with every look; the last one has no next poll. */
  report?(look: Look<Record>, nextPollInMs: number): void;
  /** May this error be gone at the next look? Milliseconds to wait, or `undefined` to give up. */
  passingDelayMs?(error: unknown, failures: number, elapsedMs: number): number | undefined;
  /** The error when the time is up. */
  timeoutError(last: Look<Record> | undefined, polls: number, elapsedMs: number): Error;
  /** Calls back when a look is worthwhile before its time. */
  onNews?(listener: () => void): () => void;
  readonly timeoutMs: number;
  readonly firstDelayMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Looks again and again until the job is done, has failed, the time is up or the caller aborts. */
export async function poll<Record, Result>(plan: PollPlan<Record, Result>): Promise<Result> {
  positive('timeout', plan.timeoutMs);
  plan.signal?.throwIfAborted();
  const startedAt = monotonicMs();
  const elapsed = () => monotonicMs() - startedAt;
  let last: Look<Record> | undefined;
  let polls = 0;
  let failures = 0;
  let delayMs = plan.firstDelayMs;
  for (;;) {
    const leftMs = plan.timeoutMs - elapsed();
    const napMs = Math.min(delayMs, Math.max(0, leftMs));
    if (napMs > 0) {
      await nap(napMs, plan);
    }
    if (elapsed() >= plan.timeoutMs) {
      throw plan.timeoutError(last, polls, elapsed());
    }
    polls++;
    const timer = startTimer(plan.timeoutMs - elapsed(), plan.signal);
    try {
      const record = await Promise.race([plan.look(timer.signal), timer.aborted]);
      failures = 0;
      const status = plan.statusOf(record);
      const changed = last !== undefined && status !== last.status;
      last = { attempt: polls, elapsedMs: elapsed(), status, record, changed };
    } catch (error) {
      if (timer.timedOut) {
        throw plan.timeoutError(last, polls, elapsed());
      }
      const wait = plan.passingDelayMs?.(error, ++failures, elapsed());
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

// A nap ends early when there is news, or when the caller aborts.
async function nap(
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

// The look that ends a wait in failure is reported like every other.
function finish<Record, Result>(
  plan: PollPlan<Record, Result>,
  look: Look<Record>,
): { readonly result: Result } | undefined {
  try {
    return plan.finish(look);
  } catch (failure) {
    plan.report?.(look, 0);
    throw failure;
  }
}
