import {
  ConnectionError,
  ServerError,
  NotFoundError,
  UnexpectedResponseError,
} from '../../errors/index.js';
import { abortable } from '../../async/abort.js';

/** Where a file's bytes come from. */
export interface Download {
  readonly fetch: typeof globalThis.fetch | undefined;
}

/** What to download of a file. */
export interface DownloadOptions {
  signal?: AbortSignal | undefined;
  range?: string | undefined;
  ifRange?: string | undefined;
}

/** A finished video or audio. Its address needs no key and gets none. */
export class MediaFile {
  readonly fileId: string;
  /** Where the file lies. How long it stays there is not in the service's document. */
  readonly url: string;
  readonly #fetch: typeof globalThis.fetch | undefined;

  constructor(fileId: string, url: string, { fetch }: Download) {
    this.fileId = fileId;
    this.url = url;
    this.#fetch = fetch;
  }

  /** The bytes as they arrive. */
  async stream(
    options: { signal?: AbortSignal | undefined } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.response(options);
    if (body) {
      return body;
    }
    throw new UnexpectedResponseError(`The file ${this.fileId} was downloaded without a body.`, {
      code: 'EMPTY_DOWNLOAD',
      outcome: 'rejected',
    });
  }

  /** The whole file as a `Blob`. */
  async blob(options: { signal?: AbortSignal | undefined } = {}): Promise<Blob> {
    return this.#whole(options, (response) => response.blob());
  }

  /** The whole file in memory. */
  async arrayBuffer(options: { signal?: AbortSignal | undefined } = {}): Promise<ArrayBuffer> {
    return this.#whole(options, (response) => response.arrayBuffer());
  }

  /**
   * The response of the download, for its headers. `range` asks for a part, and `ifRange` for all
   * of it when the file is no longer the one with that ETag.
   */
  async response(options: DownloadOptions = {}): Promise<Response> {
    const { signal, range, ifRange } = options;
    const fetch = this.#fetch ?? globalThis.fetch;
    const headers = {
      ...(range !== undefined && { range }),
      ...(ifRange !== undefined && { 'if-range': ifRange }),
    };
    const init = { ...(signal && { signal }), ...(range !== undefined && { headers }) };
    let response: Response;
    try {
      response = await fetch(this.url, init);
    } catch (cause) {
      if (signal?.aborted) {
        throw signal.reason;
      }
      throw connectionLost(this.fileId, cause);
    }
    if (response.ok) {
      return response;
    }
    await response.body?.cancel();
    throw downloadError(this.fileId, response.status);
  }

  // The connection may break in the middle, and not every fetch hears an abort there.
  async #whole<T>(
    options: { signal?: AbortSignal | undefined },
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { signal } = options;
    const response = await this.response(options);
    try {
      return await abortable(read(response), signal);
    } catch (cause) {
      if (signal?.aborted) {
        throw signal.reason;
      }
      throw connectionLost(this.fileId, cause);
    }
  }

  /** What identifies the file, for logs. */
  toJSON(): { fileId: string; url: string } {
    return { fileId: this.fileId, url: this.url };
  }
}

function connectionLost(fileId: string, cause: unknown): ConnectionError {
  return new ConnectionError(`The file ${fileId} could not be downloaded. Try again.`, {
    code: 'DOWNLOAD_FAILED',
    outcome: 'unknown',
    cause,
  });
}

function downloadError(fileId: string, status: number): Error {
  const ErrorClass =
    status === 404 ? NotFoundError : status >= 500 ? ServerError : UnexpectedResponseError;
  const message = `The file ${fileId} could not be downloaded (${status}). Look at its status again: the address may have expired.`;
  return new ErrorClass(message, { code: 'DOWNLOAD_FAILED', status, outcome: 'rejected' });
}
