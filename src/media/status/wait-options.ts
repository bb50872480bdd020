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
import { kindOf } from '../../core/request.js';
import type { Inbox } from '../../core/types.js';
import type { FileStatus, StatusRecord } from '../generate/types.js';

/** When a wait for many files is over. */
export type Settle = 'all' | 'any' | 'first-error';

/** What a status check of a file found. */
export interface FileUpdate {
  readonly fileId: string;
  readonly status: FileStatus;
  /** As the service sent it; `undefined` when it sent none. */
  readonly progress: number | undefined;
  /** The number of this check, from 1. */
  readonly attempt: number;
  /** How long the wait has been going on. */
  readonly elapsedMs: number;
  readonly nextPollInMs: number;
  readonly raw: StatusRecord;
}

/** How to wait for a file. All times are in milliseconds. */
export interface WaitOptions {
  /**
   * The longest that the wait may take, in milliseconds; `Infinity` is allowed.
   * @default 1_800_000 for a video, 600_000 for an audio
   */
  timeout?: number | undefined;
  /**
   * The time between two checks: milliseconds, a function of the last check, or `'auto'`, which grows
   * (video 10 to 30 s, audio 3 to 5 s) and starts over when the status changes.
   * @default 'auto'
   */
  interval?: 'auto' | number | ((update: Omit<FileUpdate, 'nextPollInMs'>) => number) | undefined;
  /** Ends the wait at once. The job itself goes on and keeps its place. */
  signal?: AbortSignal | undefined;
  /**
   * Where callbacks arrive (`createInbox()` of `postreel/webhooks`): the wait checks when the
   * callback comes, and every 60 s behind it. The callback alone is not trusted: it is not signed.
   */
  inbox?: Inbox | undefined;
  /** Called after every status check. What it throws is ignored. */
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

/** The options of a wait as they were given, checked. */
export function readWaitOptions(given: WaitOptions | undefined): WaitOptions {
  return readOptions(given, waitOptions, { name: 'a wait' });
}

/** The same for a wait for many files. */
export function readWaitsOptions(
  given: (WaitOptions & { settle?: Settle | undefined }) | undefined,
): WaitOptions & { settle?: Settle | undefined } {
  const settle = oneOf('all', 'any', 'first-error');
  return readOptions(given, { ...waitOptions, settle }, { name: 'a wait' });
}

/** Refuses what is no list: a text would be taken for its characters. */
export function requireList(field: string, list: unknown): void {
  if (!Array.isArray(list)) {
    throw invalidRequest([{ field, message: `must be a list; got ${kindOf(list)}` }]);
  }
}
