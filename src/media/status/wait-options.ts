import { invalidRequest } from '../../core/errors.js';
import {
  abortSignal,
  callback,
  milliseconds,
  oneOf,
  readOptions,
  withMethods,
  type OptionKinds,
} from '../../core/options.js';
import { kindOf } from '../../core/values.js';
import type { Inbox } from '../../core/types.js';
import type { FileStatus, StatusRecord } from '../generate/types.js';

/** When a wait for many files ends. */
export type Settle = 'all' | 'any' | 'first-error';

/** The result of a status check of a file. */
export interface FileUpdate {
  readonly fileId: string;
  readonly status: FileStatus;
  /** The progress as the service sent it; `undefined` when it sent none. */
  readonly progress: number | undefined;
  /** The number of this check, from 1. */
  readonly attempt: number;
  /** The time since the wait began, in milliseconds. */
  readonly elapsedMs: number;
  readonly nextPollInMs: number;
  readonly raw: StatusRecord;
}

/** How to wait for a file. All times are in milliseconds. */
export interface WaitOptions {
  /**
   * The longest time that the wait may take, in milliseconds; `Infinity` is allowed.
   * @default 1_800_000 for a video, 600_000 for an audio
   */
  timeout?: number | undefined;
  /**
   * The time between two checks: milliseconds, a function of the last check, or `'auto'`. `'auto'` grows
   * (video 10 to 30 s, audio 3 to 5 s) and starts again from the minimum when the status changes. The shortest
   * time is 100 ms.
   * @default 'auto'
   */
  interval?: 'auto' | number | ((update: Omit<FileUpdate, 'nextPollInMs'>) => number) | undefined;
  /** Ends the wait at once. The job itself continues and keeps its pending slot. */
  signal?: AbortSignal | undefined;
  /**
   * The inbox that receives callbacks (`createInbox()` of `postreel/webhooks`). The wait checks the status
   * when the callback arrives, and every 60 s until then. The callback alone is not trusted: it is not
   * signed.
   */
  inbox?: Inbox | undefined;
  /** Called after every status check. An error that it throws is ignored. */
  onUpdate?: ((update: FileUpdate) => void) | undefined;
}

const waitOptions: OptionKinds<WaitOptions> = {
  timeout: milliseconds,
  interval: {
    form: "a number of milliseconds, a function or 'auto'",
    allows: (value) =>
      value === 'auto' || typeof value === 'function' || (typeof value === 'number' && value >= 0),
  },
  signal: abortSignal,
  inbox: withMethods('an inbox, such as `createInbox()` of postreel/webhooks', 'wait'),
  onUpdate: callback(),
};

/** Checks the options of a wait and returns them. */
export function readWaitOptions(given: WaitOptions | undefined): WaitOptions {
  return readOptions(given, waitOptions, { name: 'a wait' });
}

/** Checks the options of a wait for many files and returns them. */
export function readWaitsOptions(
  given: (WaitOptions & { settle?: Settle | undefined }) | undefined,
): WaitOptions & { settle?: Settle | undefined } {
  const settle = oneOf('all', 'any', 'first-error');
  return readOptions(given, { ...waitOptions, settle }, { name: 'a wait' });
}

/** Throws when the value is not a list. A text would be iterated by its characters. */
export function requireList(field: string, list: unknown): void {
  if (!Array.isArray(list)) {
    throw invalidRequest([{ field, message: `must be a list; got ${kindOf(list)}` }]);
  }
}
