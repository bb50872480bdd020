import type { FileHandle } from 'node:fs/promises';
import { callSafely } from '../../async/notifier.js';
import { ConnectionError, isPostreelError, ServerError, TimeoutError } from '../../errors/index.js';
import type { MediaFile } from '../../media/jobs/file.js';
import { abortable } from '../../async/abort.js';
import { sleep } from '../../async/timers.js';
import { contentRangeOf, isSameFile, type ContentRange } from './content-range.js';
import type { SaveOptions } from './save-to.js';
import { IdleTimeout } from './idle-timeout.js';

const silentMs = 30_000;
// Connections in a row that brought nothing new.
const mostFailures = 5;
const shortestPauseMs = 250;

/** Brings a file to the disk over as many connections as it takes. */
export class Download {
  readonly #file: MediaFile;
  readonly #target: FileHandle;
  readonly #options: SaveOptions;
  #received = 0;
  #furthest = 0;
  /** What the first connection said about the file; `undefined` before it did. */
  #range: ContentRange | undefined;

  constructor(file: MediaFile, target: FileHandle, options: SaveOptions) {
    this.#file = file;
    this.#target = target;
    this.#options = options;
  }

  /** Resolves when every byte is written. */
  async run(): Promise<void> {
    const { signal } = this.#options;
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
        if (failures > mostFailures) {
          throw this.#givenUp(error);
        }
      }
      await sleep(shortestPauseMs * 2 ** (failures - 1) * (0.5 + Math.random() / 2), signal);
    }
  }

  async #connect(): Promise<void> {
    const { signal, timeout = silentMs } = this.#options;
    const idle = new IdleTimeout(timeout, signal);
    try {
      const response = await abortable(this.#ask(idle.signal), idle.signal);
      await this.#begin(response);
      for await (const chunk of chunksOf(response, idle)) {
        await this.#write(chunk);
      }
      const { totalBytes = this.#received } = this.#range ?? {};
      if (this.#received < totalBytes) {
        throw broken('It ended too early.');
      }
    } finally {
      idle.stop();
    }
  }

  async #ask(signal: AbortSignal): Promise<Response> {
    if (this.#range?.isEncoded) {
      await this.#startOver();
    }
    if (this.#received === 0) {
      return this.#file.response({ signal });
    }
    const { version } = this.#range ?? {};
    // Only a strong ETag may ask for a part.
    const ifRange = version?.startsWith('"') ? version : undefined;
    try {
      return await this.#file.response({ signal, range: `bytes=${this.#received}-`, ifRange });
    } catch (error) {
      if (isPostreelError(error) && error.status === 416) {
        await this.#startOver();
      }
      throw error;
    }
  }

  /** Finds out what comes, and whether it continues what is there. */
  async #begin(response: Response): Promise<void> {
    const range = contentRangeOf(response);
    const isPart = response.status === 206;
    if (isPart && range?.from === this.#received && isSameFile(range, this.#range ?? range)) {
      this.#range = { ...range, totalBytes: range.totalBytes ?? this.#range?.totalBytes };
      return;
    }
    // The server sends all of it, or it is another file by now.
    await this.#startOver();
    if (isPart) {
      throw broken('The server sent another part than the one asked for.');
    }
    this.#range = range;
  }

  async #startOver(): Promise<void> {
    this.#received = 0;
    this.#range = undefined;
    await this.#target.truncate(0);
  }

  async #write(chunk: Uint8Array): Promise<void> {
    const { totalBytes } = this.#range ?? {};
    if (totalBytes !== undefined && this.#received + chunk.length > totalBytes) {
      await this.#startOver();
      throw broken('The server sent more than it announced.');
    }
    for (let written = 0; written < chunk.length;) {
      const rest = chunk.length - written;
      const { bytesWritten } = await this.#target.write(chunk, written, rest, this.#received);
      written += bytesWritten;
      this.#received += bytesWritten;
    }
    this.#furthest = Math.max(this.#furthest, this.#received);
    this.#report(totalBytes);
  }

  #report(totalBytes: number | undefined): void {
    const progress = { receivedBytes: this.#received, totalBytes };
    callSafely(() => this.#options.onProgress?.(progress));
  }

  #givenUp(cause: unknown): ConnectionError {
    const { totalBytes = 'unknown' } = this.#range ?? {};
    const message = `The download of ${this.#file.fileId} broke off again and again, at last after ${this.#received} of ${totalBytes} bytes. Nothing was saved; try again.`;
    return new ConnectionError(message, { code: 'DOWNLOAD_FAILED', outcome: 'unknown', cause });
  }
}

/** The bytes of a response as they come; whatever breaks them off is a broken connection. */
async function* chunksOf(response: Response, idle: IdleTimeout): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) {
    return;
  }
  try {
    for (;;) {
      idle.heard();
      const reading = reader.read().catch((cause: unknown) => {
        throw broken('The connection broke.', cause);
      });
      const { value } = await abortable(reading, idle.signal);
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

/** Is there hope that another connection does better? */
function mayPass(error: unknown): boolean {
  if (!isPostreelError(error)) {
    return false;
  }
  const isOfConnection = [ConnectionError, TimeoutError, ServerError].some(
    (kind) => error instanceof kind,
  );
  // 416: what is there is longer than the file by now, and was thrown away.
  return isOfConnection || [408, 416, 429].includes(error.status ?? 0);
}
