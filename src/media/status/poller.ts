import type { RequestOptions } from '../../contract/call.js';
import { isPostreelError } from '../../errors/index.js';
import type { Spacing } from '../../polling/spacing.js';
import { hasIoContexts } from '../../async/timers.js';
import { monotonicMs } from '../../async/clock.js';
import { abortable } from '../../async/abort.js';
import type { CountedPoller } from './counted-poller.js';
import type { StatusRecord } from '../generate/types.js';

/** Asks the service for a file's status; `isCharged` when that counts towards the rate limit. */
export type AskStatus = (
  fileId: string,
  options: RequestOptions,
  isCharged: boolean,
) => PromiseLike<StatusRecord>;

interface Running {
  readonly record: Promise<StatusRecord>;
  readonly controller: AbortController;
  watchers: number;
}

const manyRecords = 1000;

/**
 * The looks of a client at its files. Waits for the same file share one look, all looks are spaced
 * evenly, and once the service refuses a look with 429 they count towards the rate limit.
 */
export class StatusPoller {
  readonly #ask: AskStatus;
  readonly #spacing: Spacing;
  readonly #findCounted: () => Promise<CountedPoller>;
  readonly #running = new Map<string, Running>();
  readonly #seen = new Map<string, { record: StatusRecord; at: number }>();
  readonly #onLearned: () => void;
  readonly #news = new Map<string, Set<() => void>>();
  #counted: CountedPoller | undefined;

  constructor(
    ask: AskStatus,
    findCounted: () => Promise<CountedPoller>,
    spacing: Spacing,
    onLearned: () => void,
  ) {
    this.#ask = ask;
    this.#findCounted = findCounted;
    this.#spacing = spacing;
    this.#onLearned = onLearned;
  }

  /** Do looks count towards the rate limit, as far as a client with this key has found out? */
  get counts(): boolean {
    return this.#counted?.isNeeded ?? false;
  }

  /** Looks at a file, or hands on what another wait has seen of it lately. */
  async look(fileId: string, maxAgeMs: number, signal?: AbortSignal): Promise<StatusRecord> {
    const seen = this.#seen.get(fileId);
    if (seen && monotonicMs() - seen.at < maxAgeMs) {
      return seen.record;
    }
    // One request must not wait for the answer to another one where each has an I/O context.
    const shared = hasIoContexts() ? undefined : this.#running.get(fileId);
    const running = shared ?? this.#start(fileId);
    running.watchers++;
    try {
      return await abortable(running.record, signal);
    } finally {
      // Nobody waits for the answer any more: no request is left behind.
      if (--running.watchers === 0) {
        if (this.#running.get(fileId) === running) {
          this.#running.delete(fileId);
        }
        running.controller.abort();
      }
    }
  }

  /** Calls back when a look by somebody else finds the file at its end. */
  onEnd(fileId: string, listener: () => void): () => void {
    const listeners = this.#news.get(fileId) ?? new Set();
    this.#news.set(fileId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) {
        this.#news.delete(fileId);
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
    // A wait repeats a failed look itself.
    const options = { signal, retries: 0, priority: 'bulk' } as const;
    const ask = async (isCharged: boolean) => this.#ask(fileId, options, isCharged);
    this.#counted ??= await this.#findCounted();
    const counted = this.#counted;
    try {
      const record = counted.isNeeded
        ? await counted.inTurn(() => ask(true), signal)
        : await this.#spacing(() => ask(false), signal);
      this.#keep(fileId, record);
      return record;
    } catch (failure) {
      if (isPostreelError(failure) && failure.status === 429) {
        this.#learn(counted);
      }
      throw failure;
    }
  }

  #learn(counted: CountedPoller): void {
    if (counted.isNeeded) {
      return;
    }
    counted.isNeeded = true;
    this.#onLearned();
  }

  #keep(fileId: string, record: StatusRecord): void {
    if (isEnd(record.status)) {
      for (const listener of this.#news.get(fileId) ?? []) {
        listener();
      }
    }
    this.#seen.delete(fileId);
    this.#seen.set(fileId, { record, at: monotonicMs() });
    if (this.#seen.size <= manyRecords) {
      return;
    }
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) {
      this.#seen.delete(oldest);
    }
  }
}

/** Has a file with this status come to its end? */
export function isEnd(status: string): boolean {
  return status === 'success' || status === 'error' || status === 'canceled';
}
