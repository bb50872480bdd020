import type { RequestOptions } from '../../core/types.js';
import { isPostreelError, isTransient, type PostreelError } from '../../core/errors.js';
import { jobStage, statusOf, type StatusChecks } from '../../core/wait.js';
import { hasIoContexts, sleep, abortable } from '../../core/async.js';
import type { CountedPoller } from './counted-poller.js';
import type { StatusRecord } from '../generate/types.js';

/** Asks the service for a file's status; `isCharged`: the check is charged to the rate limit. */
export type AskStatus = (
  fileId: string,
  options: RequestOptions,
  isCharged: boolean,
) => PromiseLike<StatusRecord>;

/** What the checks of a client tell it. */
export interface PollerNotices {
  /** Status checks turn out to be charged to the rate limit. */
  readonly onLearned: () => void;
  /** A check has seen a file. */
  readonly onSeen: (fileId: string, isOver: boolean) => void;
  /** Checks fail one after another, for so long by now. */
  readonly onFailing: (failure: PostreelError, forMs: number) => void;
}

interface Running {
  readonly record: Promise<StatusRecord>;
  readonly controller: AbortController;
  watchers: number;
}

const maxRecords = 1000;

/**
 * The status checks of a client. Waits for the same file share one check, all checks are spaced
 * evenly, and when the service keeps refusing them with 429 they count towards the rate limit.
 */
export class StatusPoller {
  readonly #ask: AskStatus;
  readonly #checks: StatusChecks;
  readonly #findCounted: () => Promise<CountedPoller>;
  readonly #running = new Map<string, Running>();
  readonly #seen = new Map<string, { record: StatusRecord; at: number }>();
  readonly #notices: PollerNotices;
  readonly #listeners = new Map<string, Set<() => void>>();
  #counted: CountedPoller | undefined;
  /** Since when no check has been answered, where the last one was not. */
  #failingSince: number | undefined;

  constructor(
    ask: AskStatus,
    findCounted: () => Promise<CountedPoller>,
    checks: StatusChecks,
    notices: PollerNotices,
  ) {
    this.#ask = ask;
    this.#findCounted = findCounted;
    this.#checks = checks;
    this.#notices = notices;
  }

  /** Do status checks count towards the rate limit, as far as a client with this key has found out? */
  get areChecksCharged(): boolean {
    return this.#counted?.isNeeded ?? false;
  }

  /** Checks the status of a file, or hands on what another wait has seen of it lately. */
  async checkStatus(fileId: string, maxAgeMs: number, signal?: AbortSignal): Promise<StatusRecord> {
    const seen = this.#seen.get(fileId);
    if (seen && this.#checks.clock.now() - seen.at < maxAgeMs) {
      return seen.record;
    }
    // One request must not wait for the answer to another one where each has an I/O context.
    const shared = hasIoContexts() ? undefined : this.#running.get(fileId);
    const running = shared ?? this.#start(fileId);
    running.watchers++;
    try {
      return await abortable(running.record, signal);
    } finally {
      // No caller waits for the answer any more: no request is left behind.
      if (--running.watchers === 0) {
        if (this.#running.get(fileId) === running) {
          this.#running.delete(fileId);
        }
        running.controller.abort();
      }
    }
  }

  /** Calls back when another status check finds the file at its end. */
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
    record.catch(() => undefined); // its watchers may all have left
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

  // While a check waits for its turn another one may be refused: then it waits again, or is charged.
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
      // A wait repeats a failed check itself.
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

  // A single failed check is nothing to tell of.
  #noteFailure(failure: PostreelError, sentAt: number): void {
    if (this.#failingSince === undefined) {
      this.#failingSince = sentAt;
    } else {
      this.#notices.onFailing(failure, this.#checks.clock.now() - this.#failingSince);
    }
  }

  #keep(fileId: string, record: StatusRecord): void {
    const isOver = jobStage(statusOf(record)) !== 'active';
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
