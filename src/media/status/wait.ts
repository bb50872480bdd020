import { callSafely } from '../../core/async.js';
import { redact } from '../../core/call/redact.js';
import { isPostreelError, UnexpectedResponseError, WaitTimeoutError } from '../../core/errors.js';
import { isCanceled, stageOf, statusOf } from '../../core/job-status.js';
import {
  lastStatusText,
  minIntervalMs,
  passingDelayMs,
  poll,
  type Check,
} from '../../core/wait.js';
import type { MediaConnection } from '../connection.js';
import type { StatusRecord } from '../generate/types.js';
import { MediaFile } from '../jobs/file.js';
import type { JobLedger } from '../jobs/ledger.js';
import type { MediaNotices } from '../notices.js';
import { listenForCallback, type CallbackListener } from './callback.js';
import { failureOf } from './failure.js';
import {
  customDelayMs,
  durationText,
  growingDelayMs,
  paces,
  type FileKind,
  type Pace,
} from './intervals.js';
import type { StatusPoller } from './poller.js';
import type { FileUpdate, WaitOptions } from './wait-options.js';

/** The parts of the client that a wait uses. */
export interface WaitParts {
  readonly connection: MediaConnection;
  readonly ledger: JobLedger | undefined;
  readonly notices: MediaNotices;
  readonly poller: StatusPoller;
}

/** The file that a wait is for. */
export interface AwaitedFile {
  readonly fileId: string;
  readonly kind: FileKind | undefined;
  /** The age of the job in milliseconds; `undefined` when this client did not submit it. */
  readonly ageMs: number | undefined;
}

// A wait uses the check of another wait if it is younger than this share of the interval.
const maxAgeShare = 0.8;
const firstMaxAgeMs = 1_000;

// The service may not know a new job yet: a 404 is retried while the job is younger than this.
const newJobMs = 30_000;

// The interval with an inbox. The callback triggers a check, so the checks at this interval only have to
// notice a lost callback.
const withInboxMs = 60_000;

/** A wait for a file. Each status check is reported, and the journal learns how the file ended. */
export class FileWait {
  readonly #awaited: AwaitedFile;
  readonly #parts: WaitParts;
  readonly #options: WaitOptions;
  readonly #pace: Pace;
  #checksAtStatus = 0;
  #checksWithoutDownload = 0;
  #polls = 0;
  #lastStatus: string | undefined;
  #maxAgeMs = firstMaxAgeMs;
  #hasReportedStatus = false;
  #callback: CallbackListener | undefined;

  constructor(awaited: AwaitedFile, parts: WaitParts, options: WaitOptions) {
    this.#awaited = awaited;
    this.#parts = parts;
    this.#options = options;
    this.#pace = paces[awaited.kind ?? 'video'];
  }

  /** Resolves to the file when it is finished. */
  run(): Promise<MediaFile> {
    const { fileId, ageMs } = this.#awaited;
    const { connection, notices, poller } = this.#parts;
    const { signal, inbox, timeout = this.#pace.timeoutMs } = this.#options;
    const callback = listenForCallback(inbox, fileId, (error) =>
      notices.warnOfInbox(fileId, error),
    );
    this.#callback = callback;
    return poll<StatusRecord, MediaFile>({
      signal,
      clock: connection.settings.clock,
      timeoutMs: timeout,
      firstDelayMs: ageMs === undefined ? 0 : Math.max(0, this.#freshMs() - ageMs),
      check: (until) => poller.checkStatus(fileId, this.#maxAgeMs, until),
      onNews: (listener) => {
        const stops = [poller.onEnd(fileId, listener), callback.onArrival(listener)];
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
    return Math.min(this.#pace.minMs, Math.max(minIntervalMs, this.#ownIntervalMs()));
  }

  #ownIntervalMs(): number {
    const { interval } = this.#options;
    return typeof interval === 'number' ? interval : Number.POSITIVE_INFINITY;
  }

  #finish(check: Check<StatusRecord>): { result: MediaFile } | undefined {
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
          clean: (text) => redact(text, [this.#parts.connection.keyring.current]),
        });
      default:
        this.#reportUnknownStatus(check.status);
        return undefined;
    }
  }

  // A file may be done a moment before the service returns its download URL, so one check without a URL is
  // accepted.
  #succeed({ download }: StatusRecord): { result: MediaFile } | undefined {
    const { fileId } = this.#awaited;
    if (download) {
      return { result: this.#file(download) };
    }
    if (++this.#checksWithoutDownload < 2) {
      return undefined;
    }
    throw new UnexpectedResponseError(
      `The file ${fileId} is finished, but the service gives no address to download it from.`,
      { code: 'DOWNLOAD_MISSING', outcome: 'rejected' },
    );
  }

  /** The finished file. When its URL has expired, a status check gets a new one. */
  #file(url: string): MediaFile {
    const { fileId } = this.#awaited;
    const { connection, poller } = this.#parts;
    const { fetch, clock } = connection.settings;
    const freshUrl = async (signal: AbortSignal | undefined) =>
      (await poller.checkStatus(fileId, 0, signal)).download;
    return new MediaFile(fileId, url, { fetch, clock, freshUrl });
  }

  #nextDelayMs(check: Check<StatusRecord>): number {
    const delayMs = this.#wantedDelayMs(check);
    this.#maxAgeMs = delayMs * maxAgeShare;
    return Math.max(delayMs, this.#parts.poller.minDelayMs);
  }

  #wantedDelayMs(check: Check<StatusRecord>): number {
    const { interval = 'auto' } = this.#options;
    if (typeof interval === 'number') {
      return interval;
    }
    // Once the callback has arrived, the usual intervals apply, because the status may lag behind the
    // callback.
    const isCallbackDue = this.#options.inbox && !this.#callback?.hasArrived;
    if (isCallbackDue && interval === 'auto') {
      return withInboxMs;
    }
    const usualMs = growingDelayMs(this.#pace, this.#checksAtStatus);
    return interval === 'auto'
      ? usualMs
      : customDelayMs(() => interval(this.#update(check)), usualMs);
  }

  #reportUnknownStatus(status: unknown): void {
    if (this.#hasReportedStatus || status === 'queued' || status === 'processing') {
      return;
    }
    this.#hasReportedStatus = true;
    this.#parts.notices.reportUnknownStatus(this.#awaited.fileId, status);
  }

  #report(check: Check<StatusRecord>, nextPollInMs: number): void {
    const update: FileUpdate = { ...this.#update(check), nextPollInMs };
    this.#parts.connection.events.emit('job:update', update);
    const stage = stageOf(check.status);
    if (stage !== 'active') {
      const end = isCanceled(check.status) ? 'canceled' : stage;
      this.#parts.ledger?.finish(this.#awaited.fileId, end);
    }
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
    const isTooEarly = isPostreelError(error) && error.status === 404 && ageMs < newJobMs;
    if (isTooEarly) {
      return this.#minMs();
    }
    return passingDelayMs(error, failures, this.#minMs());
  }

  #details(elapsedMs: number) {
    const resume = (again: WaitOptions = {}) =>
      new FileWait({ ...this.#awaited, ageMs: undefined }, this.#parts, {
        ...this.#options,
        ...again,
      }).run();
    const [polls, lastStatus] = [this.#polls, this.#lastStatus];
    return { id: this.#awaited.fileId, lastStatus, elapsedMs, polls, resume };
  }
}
