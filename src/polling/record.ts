import { callSafely } from '../async/notifier.js';
import { jobStage } from '../contract/job-status.js';
import {
  abortSignal,
  atLeast,
  callback,
  milliseconds,
  readOptions,
  type OptionKinds,
} from '../contract/options.js';
import { isRecord } from '../contract/records.js';
import { JobFailedError, WaitTimeoutError } from '../errors/wait-errors.js';
import { poll } from './poll.js';
import type { Spacing } from './spacing.js';
import { passingDelayMs } from './failed-check.js';

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

/** The options of a wait; those of a job have the same names. */
export const recordWaitOptions: OptionKinds<RecordWaitOptions<unknown>> = {
  timeout: milliseconds,
  interval: atLeast(0),
  signal: abortSignal,
  onUpdate: callback(),
  isDone: callback(),
};

/** What is particular to one kind of record. */
export interface RecordWait<Item> {
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
  readonly spacing: Spacing;
}

/** Checks a record until it has come to its end; a failed or cancelled one rejects. */
export async function waitForRecord<Item>(
  plan: RecordWait<Item>,
  given: RecordWaitOptions<Item> | undefined,
): Promise<Item> {
  const { id, kind, spacing, minInterval = 0 } = plan;
  const options = readOptions(given, recordWaitOptions, { name: 'a wait' });
  const { timeout = plan.timeout, signal, onUpdate, isDone } = options;
  const interval = Math.max(minInterval, options.interval ?? plan.interval);
  const resume = async (again?: object) =>
    waitForRecord(plan, {
      ...options,
      ...readOptions(again, recordWaitOptions, { name: 'a wait' }),
    });
  return poll<Item, Item>({
    signal,
    timeoutMs: timeout,
    firstDelayMs: 0,
    nextDelayMs: () => interval,
    refusedDelayMs: interval,
    statusOf,
    passingDelayMs: (error, failures) => passingDelayMs(error, failures, interval),
    check: (until) => spacing(async () => plan.check(until), until),
    finish({ record, status }) {
      if (isDone ? isDone(record) : plan.isDone(status, record)) {
        return { result: record };
      }
      if (jobStage(status) === 'failed') {
        const message = `${kind} ${id} ended with the status "${status ?? ''}".`;
        throw new JobFailedError(message, { jobId: id, job: record });
      }
      return undefined;
    },
    report: ({ record }) => callSafely(() => onUpdate?.(record)),
    timeoutError: (last, polls, elapsedMs) => {
      const status = last?.status ?? 'none';
      const seconds = Math.round(elapsedMs / 1000);
      return new WaitTimeoutError(
        `${kind} ${id} was not done within ${seconds} s (last status "${status}"). Call \`resume({ timeout })\`, in milliseconds, to wait on.`,
        { id, lastStatus: last?.status, elapsedMs, polls, resume },
      );
    },
  });
}

function statusOf(record: unknown): string | undefined {
  const status = isRecord(record) ? (record['status'] ?? record['state']) : undefined;
  return typeof status === 'string' ? status : undefined;
}
