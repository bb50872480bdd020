import { callSafely, type Clock } from '../../core/async.js';
import { isPostreelError, UnexpectedResponseError, WaitTimeoutError } from '../../core/errors.js';
import { lastStatusText, passingDelayMs, poll, type Check } from '../../core/wait.js';
import { stageOf, statusOf } from '../../core/job-status.js';
import { callbackNews, type CallbackNews } from './callback.js';
import { failureOf } from './failure.js';
import type { StatusRecord } from '../generate/types.js';
import {
  askedDelayMs,
  durationText,
  growingDelayMs,
  paces,
  type FileKind,
  type Pace,
} from './intervals.js';
import type { FileUpdate, WaitOptions } from './wait-options.js';

/** The part of the client that a wait uses. */
export interface WaitSource<File> {
  /** Checks the status of a file, or uses a check of another wait that is younger than `maxAgeMs`. */
  checkStatus(
    fileId: string,
    maxAgeMs: number,
    signal: AbortSignal | undefined,
  ): Promise<StatusRecord>;
  /** Removes API keys from a text that the service wrote. */
  readonly clean: (text: string) => string;
  /** The current minimum time between two checks, in milliseconds. */
  readonly minDelayMs: number;
  /** Called for a status that is not in the service's document. */
  onUnknown(fileId: string, status: unknown): void;
  /** Called when the inbox fails. The wait then checks the status as often as without an inbox. */
  onInboxFailure(fileId: string, error: unknown): void;
  /** Calls the listener when another status check finds that the file has ended. */
  onEnd(fileId: string, listener: () => void): () => void;
  finished(fileId: string, url: string): File;
  onUpdate(update: FileUpdate): void;
  readonly clock: Clock;
}

/** The file that a wait is for. */
export interface Awaited {
  readonly fileId: string;
  readonly kind: FileKind | undefined;
  /** The age of the job in milliseconds; `undefined` when this client did not submit it. */
  readonly ageMs: number | undefined;
}

// A wait uses the check of another wait if it is younger than this share of the interval.
const shareableAge = 0.8;
const justNowMs = 1_000;

// The minimum time before a failed check is retried.
const minRepeatMs = 100;

// The service may not know a new job yet: a 404 is retried while the job is younger than this.
const tolerantMs = 30_000;

/** Waits until a file is finished and resolves with it. */
export function waitForFile<File>(
  awaited: Awaited,
  source: WaitSource<File>,
  options: WaitOptions,
): Promise<File> {
  return new FileWait(awaited, source, options).run();
}

// The interval with an inbox. The callback triggers a check, so the checks at this interval only have to
// notice a lost callback.
const behindInboxMs = 60_000;

class FileWait<File> {
  readonly #awaited: Awaited;
  readonly #source: WaitSource<File>;
  readonly #options: WaitOptions;
  readonly #pace: Pace;
  #checksAtStatus = 0;
  #checksWithoutDownload = 0;
  #polls = 0;
  #lastStatus: string | undefined;
  #maxAgeMs = justNowMs;
  #hasNoted = false;
  #callback: CallbackNews | undefined;

  constructor(awaited: Awaited, source: WaitSource<File>, options: WaitOptions) {
    this.#awaited = awaited;
    this.#source = source;
    this.#options = options;
    this.#pace = paces[awaited.kind ?? 'video'];
  }

  run(): Promise<File> {
    const { fileId, ageMs } = this.#awaited;
    const { signal, inbox, timeout = this.#pace.timeoutMs } = this.#options;
    const callback = callbackNews(inbox, fileId, (error) =>
      this.#source.onInboxFailure(fileId, error),
    );
    this.#callback = callback;
    return poll<StatusRecord, File>({
      signal,
      clock: this.#source.clock,
      timeoutMs: timeout,
      firstDelayMs: ageMs === undefined ? 0 : Math.max(0, this.#freshMs() - ageMs),
      check: (until) => this.#source.checkStatus(fileId, this.#maxAgeMs, until),
      onNews: (listener) => {
        const stops = [this.#source.onEnd(fileId, listener), callback.onNews(listener)];
        return () => stops.forEach((stop) => stop());
      },
      statusOf,
      nextDelayMs: (check) => this.#nextDelayMs(check),
      refusedDelayMs: this.#minMs(),
      finish: (check) => this.#finish(check),
      report: (check, nextPollInMs) => this.#report(check, nextPollInMs),
      passingDelayMs: (error, failures, elapsedMs) =>
        this.#passingDelayMs(error, failures, elapsedMs),
      timeoutError: (_, { polls, elapsedMs, failure: cause }) => {
        this.#polls = polls;
        const within = durationText(elapsedMs);
        const message = `The file ${fileId} was not finished within ${within} (${lastStatusText(this.#lastStatus, cause)}). The job is still running. Call \`resume({ timeout })\`, in milliseconds, to keep waiting.`;
        return new WaitTimeoutError(message, { ...this.#details(elapsedMs), cause });
      },
    }).finally(() => callback.stop());
  }

  // A job is not done in its first seconds, so the first check waits, unless the caller chose a shorter
  // interval.
  #freshMs(): number {
    return Math.min(this.#pace.freshMs, this.#ownIntervalMs());
  }

  #minMs(): number {
    return Math.min(this.#pace.minMs, Math.max(minRepeatMs, this.#ownIntervalMs()));
  }

  #ownIntervalMs(): number {
    const { interval } = this.#options;
    return typeof interval === 'number' ? interval : Number.POSITIVE_INFINITY;
  }

  #finish(check: Check<StatusRecord>): { result: File } | undefined {
    const { record, elapsedMs } = check;
    this.#polls = check.attempt;
    this.#lastStatus = check.status;
    this.#checksAtStatus = check.changed ? 1 : this.#checksAtStatus + 1;
    switch (stageOf(check.status)) {
      case 'done':
        return this.#succeed(record);
      case 'failed':
        throw failureOf(this.#awaited.fileId, check.status, record, {
          ...this.#details(elapsedMs),
          clean: this.#source.clean,
        });
      default:
        this.#noteUnknown(check.status);
        return undefined;
    }
  }

  // A file may be done a moment before the service returns its download URL, so one check without a URL is
  // accepted.
  #succeed({ download }: StatusRecord): { result: File } | undefined {
    const { fileId } = this.#awaited;
    if (download) {
      return { result: this.#source.finished(fileId, download) };
    }
    if (++this.#checksWithoutDownload < 2) {
      return undefined;
    }
    throw new UnexpectedResponseError(
      `The file ${fileId} is finished, but the service gives no address to download it from.`,
      { code: 'DOWNLOAD_MISSING', outcome: 'rejected' },
    );
  }

  #nextDelayMs(check: Check<StatusRecord>): number {
    const delayMs = this.#wantedDelayMs(check);
    this.#maxAgeMs = delayMs * shareableAge;
    return Math.max(delayMs, this.#source.minDelayMs);
  }

  #wantedDelayMs(check: Check<StatusRecord>): number {
    const { interval = 'auto' } = this.#options;
    if (typeof interval === 'number') {
      return interval;
    }
    // Once the callback has arrived, the usual intervals apply, because the status may lag behind the
    // callback.
    const isBehindInbox = this.#options.inbox && !this.#callback?.hasCome;
    if (isBehindInbox && interval === 'auto') {
      return behindInboxMs;
    }
    const usualMs = growingDelayMs(this.#pace, this.#checksAtStatus);
    return interval === 'auto'
      ? usualMs
      : askedDelayMs(() => interval(this.#update(check)), usualMs);
  }

  #noteUnknown(status: unknown): void {
    if (this.#hasNoted || status === 'queued' || status === 'processing') {
      return;
    }
    this.#hasNoted = true;
    this.#source.onUnknown(this.#awaited.fileId, status);
  }

  #report(check: Check<StatusRecord>, nextPollInMs: number): void {
    const update: FileUpdate = { ...this.#update(check), nextPollInMs };
    this.#source.onUpdate(update);
    callSafely(() => this.#options.onUpdate?.(update));
  }

  #update({ attempt, elapsedMs, record }: Check<StatusRecord>): Omit<FileUpdate, 'nextPollInMs'> {
    const { fileId } = this.#awaited;
    const { progress } = record;
    const status = statusOf(record) ?? record.status;
    return { fileId, status, progress, attempt, elapsedMs, raw: record };
  }

  #passingDelayMs(error: unknown, failures: number, elapsedMs: number): number | undefined {
    const ageMs = (this.#awaited.ageMs ?? Number.POSITIVE_INFINITY) + elapsedMs;
    const isTooEarly = isPostreelError(error) && error.status === 404 && ageMs < tolerantMs;
    if (isTooEarly) {
      return this.#minMs();
    }
    return passingDelayMs(error, failures, this.#minMs());
  }

  #details(elapsedMs: number) {
    const resume = (again: WaitOptions = {}) =>
      new FileWait({ ...this.#awaited, ageMs: undefined }, this.#source, {
        ...this.#options,
        ...again,
      }).run();
    const [polls, lastStatus] = [this.#polls, this.#lastStatus];
    return { id: this.#awaited.fileId, lastStatus, elapsedMs, polls, resume };
  }
}
