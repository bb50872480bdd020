import { callSafely } from '../../async/notifier.js';
import {
  isPostreelError,
  type PostreelError,
  UnexpectedResponseError,
} from '../../errors/index.js';
import {
  GenerationCanceledError,
  GenerationFailedError,
  WaitTimeoutError,
} from '../../errors/wait-errors.js';
import { isCanceled, jobStage, statusOf } from '../../contract/job-status.js';
import { passingDelayMs } from '../../polling/transient.js';
import { poll, type Check } from '../../polling/poll.js';
import { callbackNews, type CallbackNews } from './callback.js';
import type { StatusRecord } from '../generate/types.js';
import { askedDelayMs, growingDelayMs, paces, type FileKind, type Pace } from './intervals.js';
import type { FileUpdate, WaitOptions } from './wait-options.js';

/** What a wait needs from its client. */
export interface WaitSource<File> {
  /** Looks at a file; a look of another wait that is not older than so much will do. */
  look(fileId: string, maxAgeMs: number, signal: AbortSignal | undefined): Promise<StatusRecord>;
  /** The least time between two looks right now. */
  readonly leastDelayMs: number;
  /** A status that is not in the service's document. */
  onUnknown(fileId: string, status: unknown): void;
  /** Calls back when another status check finds the file at its end. */
  onEnd(fileId: string, listener: () => void): () => void;
  finished(fileId: string, url: string): File;
  onUpdate(update: FileUpdate): void;
}

/** The file that a wait is for. */
export interface Awaited {
  readonly fileId: string;
  readonly kind: FileKind | undefined;
  /** How long ago the job was made; `undefined` for a file that was there already. */
  readonly ageMs: number | undefined;
}

// A look that another wait made within this share of the interval is as good as an own one.
const shareableAge = 0.8;
const justNowMs = 1_000;

// A look that failed is never repeated sooner.
const leastRepeatMs = 100;

// The service may not know a job in its first seconds.
const tolerantMs = 30_000;

/** Waits until a file is finished and resolves with it. */
export function waitForFile<File>(
  awaited: Awaited,
  source: WaitSource<File>,
  options: WaitOptions,
): Promise<File> {
  return new FileWait(awaited, source, options).run();
}

// The callback comes when it comes; looking behind it only has to notice a lost one.
const behindInboxMs = 60_000;

class FileWait<File> {
  readonly #awaited: Awaited;
  readonly #source: WaitSource<File>;
  readonly #options: WaitOptions;
  readonly #pace: Pace;
  #looksAtStatus = 0;
  #looksWithoutDownload = 0;
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
    const callback = callbackNews(inbox, fileId);
    this.#callback = callback;
    return poll<StatusRecord, File>({
      signal,
      timeoutMs: timeout,
      firstDelayMs: ageMs === undefined ? 0 : Math.max(0, this.#freshMs() - ageMs),
      check: (until) => this.#source.look(fileId, this.#maxAgeMs, until),
      onNews: (listener) => {
        const stops = [this.#source.onEnd(fileId, listener), callback.onNews(listener)];
        return () => stops.forEach((stop) => stop());
      },
      statusOf,
      nextDelayMs: (look) => this.#nextDelayMs(look),
      refusedDelayMs: this.#shortestMs(),
      finish: (look) => this.#finish(look),
      report: (look, nextPollInMs) => this.#report(look, nextPollInMs),
      passingDelayMs: (error, failures, elapsedMs) =>
        this.#passingDelayMs(error, failures, elapsedMs),
      timeoutError: (_, polls, elapsedMs) => {
        this.#polls = polls;
        const minutes = Math.round(elapsedMs / 6000) / 10;
        const message = `The file ${fileId} was not finished within ${minutes} min (last status "${this.#lastStatus ?? 'none'}"). The job goes on; call \`resume()\` to wait again.`;
        return new WaitTimeoutError(message, this.#details(elapsedMs));
      },
    }).finally(() => callback.stop());
  }

  // A job is not done in its first seconds; a caller who wants to look more often may.
  #freshMs(): number {
    return Math.min(this.#pace.freshMs, this.#ownIntervalMs());
  }

  #shortestMs(): number {
    return Math.min(this.#pace.shortestMs, Math.max(leastRepeatMs, this.#ownIntervalMs()));
  }

  #ownIntervalMs(): number {
    const { interval } = this.#options;
    return typeof interval === 'number' ? interval : Number.POSITIVE_INFINITY;
  }

  #finish(look: Check<StatusRecord>): { result: File } | undefined {
    const { record, elapsedMs } = look;
    this.#polls = look.attempt;
    this.#lastStatus = look.status;
    this.#looksAtStatus = look.changed ? 1 : this.#looksAtStatus + 1;
    switch (jobStage(look.status)) {
      case 'done':
        return this.#succeed(record);
      case 'failed':
        throw this.#failure(look.status, elapsedMs);
      default:
        this.#noteUnknown(look.status);
        return undefined;
    }
  }

  #failure(status: string | undefined, elapsedMs: number): PostreelError {
    const details = this.#details(elapsedMs);
    const { fileId } = this.#awaited;
    return isCanceled(status)
      ? new GenerationCanceledError(`The generation of ${fileId} was canceled.`, details)
      : new GenerationFailedError(`The generation of ${fileId} failed.`, details);
  }

  // A file may be done a moment before its address is known.
  #succeed({ download }: StatusRecord): { result: File } | undefined {
    const { fileId } = this.#awaited;
    if (download) {
      return { result: this.#source.finished(fileId, download) };
    }
    if (++this.#looksWithoutDownload < 2) {
      return undefined;
    }
    throw new UnexpectedResponseError(
      `The file ${fileId} is finished, but the service gives no address to download it from.`,
      { code: 'DOWNLOAD_MISSING', outcome: 'rejected' },
    );
  }

  #nextDelayMs(look: Check<StatusRecord>): number {
    const delayMs = this.#wantedDelayMs(look);
    this.#maxAgeMs = delayMs * shareableAge;
    return Math.max(delayMs, this.#source.leastDelayMs);
  }

  #wantedDelayMs(look: Check<StatusRecord>): number {
    const { interval = 'auto' } = this.#options;
    if (typeof interval === 'number') {
      return interval;
    }
    // The status may lag behind the callback: from then on it is not the callback that is waited for.
    const isBehindInbox = this.#options.inbox && !this.#callback?.hasCome;
    if (isBehindInbox && interval === 'auto') {
      return behindInboxMs;
    }
    const usualMs = growingDelayMs(this.#pace, this.#looksAtStatus);
    return interval === 'auto'
      ? usualMs
      : askedDelayMs(() => interval(this.#update(look)), usualMs);
  }

  #noteUnknown(status: unknown): void {
    if (this.#hasNoted || status === 'queued' || status === 'processing') {
      return;
    }
    this.#hasNoted = true;
    this.#source.onUnknown(this.#awaited.fileId, status);
  }

  #report(look: Check<StatusRecord>, nextPollInMs: number): void {
    const update: FileUpdate = { ...this.#update(look), nextPollInMs };
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
      return this.#shortestMs();
    }
    return passingDelayMs(error, failures, this.#shortestMs());
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
