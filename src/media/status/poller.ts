import type { Call, RequestOptions } from '../../core/types.js';
import { isPostreelError, isTransient, type PostreelError } from '../../core/errors.js';
import { sleep, abortable } from '../../core/async.js';
import { stageOf, statusOf } from '../../core/job-status.js';
import { hasIoContexts } from '../../core/runtime.js';
import { createStatusChecks, type StatusChecks } from '../../core/wait.js';
import type { MediaConnection } from '../connection.js';
import { routes } from '../generate/routes.js';
import type { StatusQuery, StatusRecord } from '../generate/types.js';
import type { MediaNotices } from '../notices.js';
import type { ClientSlots } from '../submit/slots.js';
import { countedIntervalMs, sharedCountedPoller, type CountedPoller } from './counted-poller.js';
import { isForOtherFile, otherFileError } from './other-file.js';

interface RunningCheck {
  readonly record: Promise<StatusRecord>;
  readonly controller: AbortController;
  waiters: number;
}

const maxRecords = 1000;

/**
 * Makes the status checks of a client. Waits for the same file share one check, and all checks are spaced
 * evenly. When the service repeatedly refuses checks with 429, they are charged to the rate limit.
 */
export class StatusPoller {
  readonly #connection: MediaConnection;
  readonly #slots: ClientSlots;
  readonly #notices: MediaNotices;
  readonly #checks: StatusChecks;
  readonly #running = new Map<string, RunningCheck>();
  readonly #seen = new Map<string, { record: StatusRecord; at: number }>();
  readonly #listeners = new Map<string, Set<() => void>>();
  #counted: CountedPoller | undefined;
  /** The time of the first failed check since the last successful one; `undefined` after a success. */
  #failingSince: number | undefined;

  constructor(connection: MediaConnection, slots: ClientSlots, notices: MediaNotices) {
    this.#connection = connection;
    this.#slots = slots;
    this.#notices = notices;
    this.#checks = createStatusChecks(connection.settings.clock);
  }

  /** Do status checks count towards the rate limit, as far as the clients of this project have found out? */
  get areChecksCharged(): boolean {
    return this.#counted?.areChecksCharged ?? false;
  }

  /** The minimum time between two checks of a file, in milliseconds. */
  get minDelayMs(): number {
    return this.areChecksCharged ? countedIntervalMs : 0;
  }

  /** Requests the status of a file at once. */
  request(query: StatusQuery, options: RequestOptions | undefined): Call<StatusRecord> {
    const isCharged = this.areChecksCharged;
    return this.#connection.transport.send(routes.status, { query, isCharged }, options);
  }

  /** Checks the status of a file, or returns the record of another wait if it is younger than `maxAgeMs`. */
  async checkStatus(fileId: string, maxAgeMs: number, signal?: AbortSignal): Promise<StatusRecord> {
    const seen = this.#seen.get(fileId);
    if (seen && this.#checks.clock.now() - seen.at < maxAgeMs) {
      return seen.record;
    }
    // On Workers each request has an I/O context: one request must not wait for the check of another.
    const shared = hasIoContexts() ? undefined : this.#running.get(fileId);
    const running = shared ?? this.#start(fileId);
    running.waiters++;
    try {
      return await abortable(running.record, signal);
    } finally {
      // When no wait needs the response any more, the request is aborted.
      if (--running.waiters === 0) {
        if (this.#running.get(fileId) === running) {
          this.#running.delete(fileId);
        }
        running.controller.abort();
      }
    }
  }

  /** Calls the listener when any status check finds that the file has ended. Returns a function to stop. */
  onEnd(fileId: string, listener: () => void): () => void {
    if (hasIoContexts()) {
      return () => undefined; // on Workers one request must not end the wait of another
    }
    const listeners = this.#listeners.get(fileId) ?? new Set();
    this.#listeners.set(fileId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) {
        this.#listeners.delete(fileId);
      }
    };
  }

  #start(fileId: string): RunningCheck {
    const controller = new AbortController();
    const record = this.#check(fileId, controller.signal);
    record.catch(() => undefined); // all waits for this check may have been aborted
    const running = { record, controller, waiters: 0 };
    this.#running.set(fileId, running);
    return running;
  }

  async #check(fileId: string, signal: AbortSignal): Promise<StatusRecord> {
    this.#counted ??= sharedCountedPoller(await this.#connection.project());
    const counted = this.#counted;
    const record = await this.#requestInTurn(fileId, signal, counted);
    this.#remember(fileId, record);
    return record;
  }

  // Waits for the check's turn. When another check is refused in that time, this one waits for the pause to
  // end, or is charged to the rate limit.
  async #requestInTurn(
    fileId: string,
    signal: AbortSignal,
    counted: CountedPoller,
  ): Promise<StatusRecord> {
    const request = () => this.#requestOnce(fileId, signal, counted);
    const mayRequest = () => !counted.areChecksCharged && counted.pauseMs === 0;
    while (!counted.areChecksCharged) {
      if (counted.pauseMs > 0) {
        await sleep(counted.pauseMs, signal, this.#checks.clock);
      }
      const record = await this.#checks.make(
        async () => (mayRequest() ? request() : undefined),
        signal,
      );
      if (record !== undefined) {
        return record;
      }
    }
    return counted.runInTurn(request, signal);
  }

  async #requestOnce(
    fileId: string,
    signal: AbortSignal,
    counted: CountedPoller,
  ): Promise<StatusRecord> {
    const sentAt = this.#checks.clock.now();
    try {
      // The wait itself retries a failed check.
      const options = { signal, retries: 0, priority: 'bulk' } as const;
      const record = await this.request({ fileId }, options);
      if (isForOtherFile(record, fileId)) {
        this.#notices.reportOtherFile(fileId);
        throw otherFileError(fileId);
      }
      this.#failingSince = undefined;
      return record;
    } catch (failure) {
      if (!isPostreelError(failure)) {
        throw failure;
      }
      if (failure.status === 429) {
        const isNews = counted.noteRefusal(sentAt, failure.retryAfterMs);
        if (isNews) {
          this.#notices.reportChargedChecks();
        }
      } else if (isTransient(failure)) {
        this.#noteFailure(failure, sentAt);
      }
      throw failure;
    }
  }

  // A single failed check is not reported.
  #noteFailure(failure: PostreelError, sentAt: number): void {
    if (this.#failingSince === undefined) {
      this.#failingSince = sentAt;
    } else {
      const forMs = this.#checks.clock.now() - this.#failingSince;
      this.#notices.warnOfFailingChecks(failure, forMs);
    }
  }

  #remember(fileId: string, record: StatusRecord): void {
    const isOver = stageOf(statusOf(record)) !== 'active';
    this.#slots.noteStatus(fileId, isOver);
    if (isOver) {
      for (const listener of this.#listeners.get(fileId) ?? []) {
        listener();
      }
    }
    this.#seen.delete(fileId);
    this.#seen.set(fileId, { record, at: this.#checks.clock.now() });
    if (this.#seen.size <= maxRecords) {
      return;
    }
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) {
      this.#seen.delete(oldest);
    }
  }
}
