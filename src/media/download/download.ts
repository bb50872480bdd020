import { callSafely, abortable, sleep, systemClock, type Clock } from '../../core/async.js';
import {
  ConnectionError,
  isPostreelError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../core/errors.js';
import { isBrowser } from '../../core/keys.js';
import {
  contentRangeOf,
  isCertainlySame,
  isPart,
  isSameFile,
  type ContentRange,
} from './content-range.js';
import { IdleTimeout } from './idle-timeout.js';
import type { TransferOptions } from './transfer-options.js';

/** Where the bytes come from. */
export interface DownloadSource {
  readonly fileId: string;
  /** The clock of the client; without it the process's own time. */
  readonly clock?: Clock | undefined;
  /** Connects, and resolves to an answer with status 200, or 206 if a range was asked for. */
  response(options: {
    signal: AbortSignal;
    range?: string | undefined;
    ifRange?: string | undefined;
  }): Promise<Response>;
}

/** Where the bytes go. */
export interface DownloadTarget {
  /** Called with the first answer, and when another version of the file begins. */
  begin?(response: Response, range: ContentRange): PromiseLike<void> | void;
  write(chunk: Uint8Array, position: number): PromiseLike<void> | void;
  /** Drops what was written; throws where that cannot be done. */
  restart(): PromiseLike<void> | void;
}

/** What an earlier download of the same file left. */
export interface Received {
  readonly bytes: number;
  readonly range: ContentRange;
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 8;
const minPauseMs = 250;
const maxPauseMs = 30_000;
// A server that asks for more is not worth the wait.
const maxRetryAfterMs = 600_000;

/** Brings a file to its target over as many connections as it takes. */
export class Download {
  readonly #source: DownloadSource;
  readonly #target: DownloadTarget;
  readonly #options: TransferOptions;
  #received = 0;
  #furthest = 0;
  /** How many bytes of this answer are there already. */
  #skip = 0;
  /** What the first connection said about the file; `undefined` before it did. */
  #range: ContentRange | undefined;

  constructor(
    source: DownloadSource,
    target: DownloadTarget,
    options: TransferOptions,
    earlier?: Received,
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
        if (!mayPass(error)) {
          throw error;
        }
        failures = this.#furthest > furthest ? 1 : failures + 1;
        if (failures > retries) {
          throw this.#givenUp(error);
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
        await this.#take(chunk);
      }
      const { totalBytes = this.#received } = this.#range ?? {};
      if (this.#received < totalBytes) {
        throw broken('The answer ended too early.');
      }
    } finally {
      idle.stop();
    }
  }

  async #open(signal: AbortSignal): Promise<Response> {
    const { version, isEncoded } = this.#range ?? {};
    // What cannot be told from another version, or has no places of its own, is not continued.
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

  /** Finds out what comes, and whether it continues what is there. */
  async #begin(response: Response): Promise<void> {
    const range = contentRangeOf(response);
    const known = this.#range;
    this.#skip = 0;
    if (isPart(response)) {
      if (range?.from !== this.#received || !isSameFile(range, known ?? range)) {
        await this.#restart();
        throw broken('The server sent a different part than the one asked for.');
      }
      this.#range = { ...range, totalBytes: range.totalBytes ?? known?.totalBytes };
    } else if (range && known && isCertainlySame(range, known)) {
      this.#skip = this.#received; // the server knows no parts: what is there comes once more
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

  // Nothing checks the length of what was compressed on its way. A page in a browser cannot ask for
  // anything else.
  #checkEncoding({ isEncoded }: ContentRange): void {
    if (!isEncoded || isBrowser()) {
      return;
    }
    const message = `The server sends ${this.#source.fileId} compressed, though it was asked not to: nothing would tell whether all of it came. Nothing was kept.`;
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

  async #take(chunk: Uint8Array): Promise<void> {
    const known = Math.min(this.#skip, chunk.length);
    this.#skip -= known;
    const fresh = chunk.subarray(known);
    if (fresh.length === 0) {
      return;
    }
    const { totalBytes } = this.#range ?? {};
    if (totalBytes !== undefined && this.#received + fresh.length > totalBytes) {
      await this.#restart();
      throw broken('The server sent more than it announced.');
    }
    const writing = Promise.resolve(this.#target.write(fresh, this.#received));
    await abortable(writing, this.#options.signal);
    this.#received += fresh.length;
    this.#furthest = Math.max(this.#furthest, this.#received);
    const progress = { receivedBytes: this.#received, totalBytes };
    callSafely(() => this.#options.onProgress?.(progress));
  }

  // An answer that says more than "the connection broke" is the better error.
  #givenUp(cause: unknown): unknown {
    if (this.#furthest === 0 && isPostreelError(cause) && cause.status !== undefined) {
      return cause;
    }
    const { totalBytes = 'unknown' } = this.#range ?? {};
    const message = `The download of ${this.#source.fileId} failed again and again, the last time after ${this.#received} of ${totalBytes} bytes. Try again later.`;
    return new ConnectionError(message, { code: 'DOWNLOAD_FAILED', outcome: 'unknown', cause });
  }
}

/** The bytes of a response as they come. Whatever interrupts them is a broken connection. */
async function* chunksOf(response: Response, idle: IdleTimeout): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) {
    return;
  }
  try {
    for (;;) {
      idle.start();
      const reading = reader.read().catch((cause: unknown) => {
        throw broken('The connection broke.', cause);
      });
      const { value } = await abortable(reading, idle.signal);
      idle.pause();
      if (!value) {
        return;
      }
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // it has broken already
  }
}

function broken(message: string, cause?: unknown): ConnectionError {
  return new ConnectionError(message, { code: 'DOWNLOAD_BROKEN', outcome: 'unknown', cause });
}

function pauseMs(error: unknown, failures: number): number {
  const backoffMs = Math.min(maxPauseMs, minPauseMs * 2 ** (failures - 1));
  const asked = isPostreelError(error) ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(asked, backoffMs * (0.5 + Math.random() / 2));
}

/** May another connection do better? */
function mayPass(error: unknown): boolean {
  if (!isPostreelError(error) || (error.retryAfterMs ?? 0) > maxRetryAfterMs) {
    return false;
  }
  const isOfConnection = [ConnectionError, TimeoutError, ServerError].some(
    (kind) => error instanceof kind,
  );
  // 416: what is there is longer than the file by now, and was thrown away.
  return isOfConnection || [408, 416, 429].includes(error.status ?? 0);
}
