import { callSafely, abortable, sleep, systemClock, type Clock } from '../../core/async.js';
import {
  ConnectionError,
  isPostreelError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../core/errors.js';
import { isBrowser } from '../../core/runtime.js';
import {
  contentRangeOf,
  isCertainlySame,
  isPart,
  isSameFile,
  type ContentRange,
} from './content-range.js';
import { IdleTimeout } from './idle-timeout.js';
import type { TransferOptions } from './transfer-options.js';

/** The source of a download's bytes. */
export interface DownloadSource {
  readonly fileId: string;
  /** The clock of the client; without it the system clock. */
  readonly clock?: Clock | undefined;
  /** Connects and resolves to a response with status 200, or 206 if a range was requested. */
  response(options: {
    signal: AbortSignal;
    range?: string | undefined;
    ifRange?: string | undefined;
  }): Promise<Response>;
}

/** The target of a download's bytes. */
export interface DownloadTarget {
  /** Called with the first response, with each that continues it, and when the download starts over. */
  begin?(response: Response, range: ContentRange): PromiseLike<void> | void;
  write(chunk: Uint8Array, position: number): PromiseLike<void> | void;
  /** Discards the bytes that were written. Throws when the target cannot do that. */
  restart(): PromiseLike<void> | void;
}

/** The state of an earlier download of the same file that was interrupted. */
export interface EarlierDownload {
  readonly bytes: number;
  readonly range: ContentRange;
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 8;
const minPauseMs = 250;
const maxPauseMs = 30_000;
// When the server asks for a longer pause than this, the download fails at once.
const maxRetryAfterMs = 600_000;

/**
 * Downloads a file to its target and reconnects when a connection breaks. `#begin()` compares each response
 * with the bytes received so far:
 *
 *     response                                     the download
 *     206 from the requested offset, same version  continues
 *     206 with another offset or version           discards everything and tries again
 *     200, certainly the same version              skips the bytes that it already has
 *     200 otherwise                                discards everything and starts over with this response
 */
export class Download {
  readonly #source: DownloadSource;
  readonly #target: DownloadTarget;
  readonly #options: TransferOptions;
  #received = 0;
  #furthest = 0;
  /** How many bytes of this response were received before and are skipped. */
  #skip = 0;
  /** The size and version of the file; `undefined` before the first response. */
  #range: ContentRange | undefined;

  constructor(
    source: DownloadSource,
    target: DownloadTarget,
    options: TransferOptions,
    earlier?: EarlierDownload,
  ) {
    this.#source = source;
    this.#target = target;
    this.#options = options;
    this.#received = earlier?.bytes ?? 0;
    this.#furthest = this.#received;
    this.#range = earlier?.range;
  }

  /** Resolves when every byte is written. */
  async run(): Promise<void> {
    const { signal, retries = defaultRetries } = this.#options;
    const { clock } = this.#source;
    for (let failures = 0; ;) {
      const furthest = this.#furthest;
      try {
        await this.#connect();
        return;
      } catch (error) {
        signal?.throwIfAborted();
        if (!isRetryable(error)) {
          throw error;
        }
        failures = this.#furthest > furthest ? 1 : failures + 1;
        if (failures > retries) {
          throw this.#finalError(error);
        }
        await sleep(pauseMs(error, failures), signal, clock);
      }
    }
  }

  async #connect(): Promise<void> {
    const { signal, timeout = defaultTimeoutMs } = this.#options;
    const idle = new IdleTimeout(timeout, signal, this.#source.clock ?? systemClock);
    try {
      idle.start();
      const response = await abortable(this.#open(idle.signal), idle.signal);
      idle.pause();
      await this.#begin(response);
      for await (const chunk of chunksOf(response, idle)) {
        await this.#write(chunk);
      }
      const { totalBytes = this.#received } = this.#range ?? {};
      if (this.#received < totalBytes) {
        throw brokenError('The response ended too early.');
      }
    } finally {
      idle.stop();
    }
  }

  async #open(signal: AbortSignal): Promise<Response> {
    const { version, isEncoded } = this.#range ?? {};
    // Without a version, or with a compressed body, the download cannot be continued: it starts over.
    if (version === undefined || isEncoded) {
      await this.#restart();
    }
    if (this.#received === 0) {
      return this.#source.response({ signal });
    }
    const range = `bytes=${this.#received}-`;
    try {
      return await this.#source.response({ signal, range, ifRange: version });
    } catch (error) {
      if (isPostreelError(error) && error.status === 416) {
        await this.#restart();
      }
      throw error;
    }
  }

  /** Reads the range of a response and decides whether it continues the received bytes. */
  async #begin(response: Response): Promise<void> {
    const range = contentRangeOf(response);
    const known = this.#range;
    this.#skip = 0;
    if (isPart(response)) {
      if (range?.from !== this.#received || !isSameFile(range, known ?? range)) {
        await this.#restart();
        throw brokenError('The server sent a different part than the one asked for.');
      }
      this.#range = { ...range, totalBytes: range.totalBytes ?? known?.totalBytes };
    } else if (range && known && isCertainlySame(range, known)) {
      this.#skip = this.#received; // the server ignores ranges and sends the whole file again
      return;
    } else {
      await this.#restart();
      this.#range = range;
    }
    if (range) {
      this.#checkEncoding(range);
      await this.#target.begin?.(response, range);
    }
  }

  // Rejects a compressed body, because its length cannot be checked. A page in a browser is exempt: it cannot
  // request an uncompressed body.
  #checkEncoding({ isEncoded }: ContentRange): void {
    if (!isEncoded || isBrowser()) {
      return;
    }
    const message = `The server sent ${this.#source.fileId} compressed, although the request asked for an uncompressed body. The download could not be checked for completeness, so nothing was saved.`;
    throw new UnexpectedResponseError(message, { code: 'DOWNLOAD_ENCODED', outcome: 'rejected' });
  }

  async #restart(): Promise<void> {
    if (this.#received > 0) {
      await this.#target.restart();
    }
    this.#received = 0;
    this.#skip = 0;
    this.#range = undefined;
  }

  async #write(chunk: Uint8Array): Promise<void> {
    const known = Math.min(this.#skip, chunk.length);
    this.#skip -= known;
    const fresh = chunk.subarray(known);
    if (fresh.length === 0) {
      return;
    }
    const { totalBytes } = this.#range ?? {};
    if (totalBytes !== undefined && this.#received + fresh.length > totalBytes) {
      await this.#restart();
      throw brokenError('The server sent more than it announced.');
    }
    const writing = Promise.resolve(this.#target.write(fresh, this.#received));
    await abortable(writing, this.#options.signal);
    this.#received += fresh.length;
    this.#furthest = Math.max(this.#furthest, this.#received);
    const progress = { receivedBytes: this.#received, totalBytes };
    callSafely(() => this.#options.onProgress?.(progress));
  }

  // Chooses the final error. The error of a response explains more than "the connection broke".
  #finalError(cause: unknown): unknown {
    if (this.#furthest === 0 && isPostreelError(cause) && cause.status !== undefined) {
      return cause;
    }
    const { totalBytes = 'unknown' } = this.#range ?? {};
    const message = `The download of ${this.#source.fileId} failed repeatedly, the last time after ${this.#received} of ${totalBytes} bytes. Try again later.`;
    return new ConnectionError(message, { code: 'DOWNLOAD_FAILED', outcome: 'rejected', cause });
  }
}

/** Yields the bytes of a response as they arrive. Any error while reading counts as a broken connection. */
async function* chunksOf(response: Response, idle: IdleTimeout): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) {
    return;
  }
  try {
    for (;;) {
      idle.start();
      const reading = reader.read().catch((cause: unknown) => {
        throw brokenError('The connection broke.', cause);
      });
      const { value } = await abortable(reading, idle.signal);
      idle.pause();
      if (!value) {
        return;
      }
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // the connection may be broken already
  }
}

function brokenError(message: string, cause?: unknown): ConnectionError {
  return new ConnectionError(message, { code: 'DOWNLOAD_BROKEN', outcome: 'rejected', cause });
}

function pauseMs(error: unknown, failures: number): number {
  const backoffMs = Math.min(maxPauseMs, minPauseMs * 2 ** (failures - 1));
  const asked = isPostreelError(error) ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(asked, backoffMs * (0.5 + Math.random() / 2));
}

/** Is it worth connecting again after this error? */
function isRetryable(error: unknown): boolean {
  if (!isPostreelError(error) || (error.retryAfterMs ?? 0) > maxRetryAfterMs) {
    return false;
  }
  const isOfConnection = [ConnectionError, TimeoutError, ServerError].some(
    (kind) => error instanceof kind,
  );
  // 416: the file is now shorter than the bytes received, which were discarded.
  return isOfConnection || [408, 416, 429].includes(error.status ?? 0);
}
