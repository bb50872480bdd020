import type { RequestOptions } from '../../core/types.js';
import { isPostreelError, isTransient, type PostreelError } from '../../core/errors.js';
import type { StatusChecks } from '../../core/wait.js';
import { stageOf, statusOf } from '../../core/job-status.js';
import { sleep, abortable } from '../../core/async.js';
import { hasIoContexts } from '../../core/runtime.js';
import type { CountedPoller } from './counted-poller.js';
import type { StatusRecord } from '../generate/types.js';

/** Requests a file's status from the service. `isCharged`: the check is charged to the rate limit. */
export type RequestStatus = (
  fileId: string,
  options: RequestOptions,
  isCharged: boolean,
) => PromiseLike<StatusRecord>;

/** The listeners of a client for its status checks. */
export interface PollerNotices {
  /** Called when the poller finds out that status checks are charged to the rate limit. */
  readonly onLearned: () => void;
  /** Called after each successful check of a file. */
  readonly onSeen: (fileId: string, isOver: boolean) => void;
  /** Called when checks fail repeatedly; `forMs` is the time since the first failure. */
  readonly onFailing: (failure: PostreelError, forMs: number) => void;
}

interface Running {
  readonly record: Promise<StatusRecord>;
  readonly controller: AbortController;
  watchers: number;
}

const maxRecords = 1000;

/**
 * Makes the status checks of a client. Waits for the same file share one check, and all checks are spaced
 * evenly. When the service repeatedly refuses checks with 429, they are charged to the rate limit.
 */
export class StatusPoller {
  readonly #ask: RequestStatus;
  readonly #checks: StatusChecks;
  readonly #findCounted: () => Promise<CountedPoller>;
  readonly #running = new Map<string, Running>();
  readonly #seen = new Map<string, { record: StatusRecord; at: number }>();
  readonly #notices: PollerNotices;
  readonly #listeners = new Map<string, Set<() => void>>();
  #counted: CountedPoller | undefined;
  /** The time of the first failed check since the last successful one; `undefined` after a success. */
  #failingSince: number | undefined;

  constructor(
    ask: RequestStatus,
    findCounted: () => Promise<CountedPoller>,
    checks: StatusChecks,
    notices: PollerNotices,
  ) {
    this.#ask = ask;
    this.#findCounted = findCounted;
    this.#checks = checks;
    this.#notices = notices;
  }

  /** Do status checks count towards the rate limit, as far as the clients of this project have found out? */
  get areChecksCharged(): boolean {
    return this.#counted?.isNeeded ?? false;
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
    running.watchers++;
    try {
      return await abortable(running.record, signal);
    } finally {
      // When no wait needs the response any more, the request is aborted.
      if (--running.watchers === 0) {
        if (this.#running.get(fileId) === running) {
          this.#running.delete(fileId);
        }
        running.controller.abort();
      }
    }
  }

  /** Calls the listener when any status check finds that the file has ended. Returns a function to stop. */
  onEnd(fileId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(fileId) ?? new Set();
    this.#listeners.set(fileId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) {
        this.#listeners.delete(fileId);
      }
    };
  }

  #start(fileId: string): Running {
    const controller = new AbortController();
    const record = this.#lookOnce(fileId, controller.signal);
    record.catch(() => undefined); // all waits for this check may have been aborted
    const running = { record, controller, watchers: 0 };
    this.#running.set(fileId, running);
    return running;
  }

  async #lookOnce(fileId: string, signal: AbortSignal): Promise<StatusRecord> {
    this.#counted ??= await this.#findCounted();
    const counted = this.#counted;
    const record = await this.#askInTurn(fileId, signal, counted);
    this.#keep(fileId, record);
    return record;
  }

  // Waits for the check's turn. When another check is refused in that time, this one waits for the pause to
  // end, or is charged to the rate limit.
  async #askInTurn(
    fileId: string,
    signal: AbortSignal,
    counted: CountedPoller,
  ): Promise<StatusRecord> {
    const ask = () => this.#askOnce(fileId, signal, counted);
    const mayAsk = () => !counted.isNeeded && counted.pauseMs === 0;
    while (!counted.isNeeded) {
      if (counted.pauseMs > 0) {
        await sleep(counted.pauseMs, signal, this.#checks.clock);
      }
      const record = await this.#checks.make(async () => (mayAsk() ? ask() : undefined), signal);
      if (record !== undefined) {
        return record;
      }
    }
    return counted.inTurn(ask, signal);
  }

  async #askOnce(
    fileId: string,
    signal: AbortSignal,
    counted: CountedPoller,
  ): Promise<StatusRecord> {
    const sentAt = this.#checks.clock.now();
    try {
      // The wait itself retries a failed check.
      const options = { signal, retries: 0, priority: 'bulk' } as const;
      const record = await this.#ask(fileId, options, counted.isNeeded);
      this.#failingSince = undefined;
      return record;
    } catch (failure) {
      if (!isPostreelError(failure)) {
        throw failure;
      }
      if (failure.status === 429) {
        const isNews = counted.refused(sentAt, failure.retryAfterMs);
        if (isNews) {
          this.#notices.onLearned();
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
      this.#notices.onFailing(failure, this.#checks.clock.now() - this.#failingSince);
    }
  }

  #keep(fileId: string, record: StatusRecord): void {
    const isOver = stageOf(statusOf(record)) !== 'active';
    this.#notices.onSeen(fileId, isOver);
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
