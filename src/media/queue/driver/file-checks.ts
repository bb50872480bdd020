import { jobStage, statusOf, passingDelayMs } from '../../../core/wait.js';
import {
  isPostreelError,
  UnexpectedResponseError,
  type WaitDetails,
} from '../../../core/errors.js';
import type { StatusRecord } from '../../generate/types.js';
import { failureOf } from '../../status/failure.js';
import type { MediaFile } from '../../jobs/file.js';
import type { QueueHost } from '../host.js';
import type { Seen } from '../steps/events.js';
import type { RunningJob } from '../steps/jobs.js';

/** What the last check of a file found. */
export interface LastCheck {
  readonly status: string;
  /** From 0 to 1. */
  readonly progress: number | undefined;
  readonly raw: StatusRecord;
}

const usualIntervalMs = 10_000;
// The address of a file has expired, or is not there any more.
const expired = new Set([403, 404, 410]);

/** The status checks of a queue, read for its scheduler. */
export class FileChecks {
  readonly #host: QueueHost;
  readonly #signal: AbortSignal;
  readonly #last = new Map<string, LastCheck>();
  readonly #files = new Map<string, MediaFile>();
  readonly #counts = new Map<string, number>();
  #hasPercentages = false;

  constructor(host: QueueHost, signal: AbortSignal) {
    this.#host = host;
    this.#signal = signal;
  }

  last(fileId: string): LastCheck | undefined {
    return this.#last.get(fileId);
  }

  /** The file, once it is finished. */
  file(fileId: string): MediaFile | undefined {
    return this.#files.get(fileId);
  }

  summary(fileId = ''): { readonly status: string | undefined; readonly checks: number } {
    return { status: this.#last.get(fileId)?.status, checks: this.#counts.get(fileId) ?? 0 };
  }

  /** This file is no longer asked for. */
  forget(fileId: string): void {
    this.#last.delete(fileId);
    this.#files.delete(fileId);
    this.#counts.delete(fileId);
  }

  /** Checks a file; never rejects. */
  async check(fileId: string, job: RunningJob | undefined): Promise<Seen> {
    try {
      const raw = await this.#host.check(fileId, this.#signal);
      return this.#read(fileId, raw, job);
    } catch (error) {
      return troubleOf(error);
    }
  }

  /** Saves a file; an address that has expired is asked for again, once. */
  async saved(fileId: string, save: (file: MediaFile) => Promise<unknown>): Promise<void> {
    const file = this.#files.get(fileId);
    if (!file) {
      throw this.noDownload(fileId);
    }
    try {
      await save(file);
    } catch (error) {
      if (!isPostreelError(error) || !expired.has(error.status ?? 0)) {
        throw error;
      }
      await this.check(fileId, undefined);
      await save(this.#files.get(fileId) ?? file);
    }
  }

  noDownload(fileId: string): UnexpectedResponseError {
    return new UnexpectedResponseError(
      `The file ${fileId} is finished, but the service gives no address to download it from.`,
      { code: 'DOWNLOAD_MISSING', outcome: 'rejected' },
    );
  }

  #read(fileId: string, raw: StatusRecord, job: RunningJob | undefined): Seen {
    const status = statusOf(raw) ?? '';
    const progress = this.#share(raw.progress);
    this.#last.set(fileId, { status, progress, raw });
    const attempt = (this.#counts.get(fileId) ?? 0) + 1;
    this.#counts.set(fileId, attempt);
    const stage = jobStage(status);
    const elapsedMs = job ? this.#host.clock.now() - job.followedAt : 0;
    if (job) {
      const nextPollInMs = stage === 'active' ? usualIntervalMs : 0;
      const update = { fileId, status: raw.status, progress: raw.progress, attempt, raw };
      this.#host.report({ ...update, elapsedMs, nextPollInMs });
    }
    if (stage === 'failed') {
      return { type: 'failed', error: this.#failure(fileId, raw, elapsedMs) };
    }
    if (stage === 'done') {
      if (raw.download) {
        this.#files.set(fileId, this.#host.file(fileId, raw.download));
      }
      return { type: 'success', hasDownload: Boolean(raw.download) };
    }
    if (attempt === 1 && status !== 'queued' && status !== 'processing') {
      this.#host.reportUnknown(fileId, raw.status);
    }
    return { type: 'pending', text: `${status} ${raw.progress}` };
  }

  // The document gives neither unit nor range: above 1 it must be a percentage, from then on for all.
  #share(progress: unknown): number | undefined {
    if (typeof progress !== 'number' || !(progress >= 0)) {
      return undefined;
    }
    this.#hasPercentages ||= progress > 1;
    return Math.min(1, this.#hasPercentages ? progress / 100 : progress);
  }

  #failure(fileId: string, raw: StatusRecord, elapsedMs: number): Error {
    const status = statusOf(raw);
    const details: WaitDetails = {
      id: fileId,
      lastStatus: status,
      elapsedMs,
      polls: this.#counts.get(fileId) ?? 0,
      resume: () => Promise.reject(new TypeError('A job that has ended cannot be waited for.')),
    };
    return failureOf(fileId, status, raw, { ...details, clean: this.#host.clean });
  }
}

function troubleOf(error: unknown): Seen {
  if (passingDelayMs(error, 1, usualIntervalMs) !== undefined) {
    const { retryAfterMs } = isPostreelError(error) ? error : {};
    return { type: 'unclear', error, retryAfterMs };
  }
  const status = isPostreelError(error) ? error.status : undefined;
  const isGone = status === 404 || status === 410;
  const isKeyRefused = status === 401;
  return { type: 'refused', error, about: isGone ? 'file' : isKeyRefused ? 'key' : undefined };
}
