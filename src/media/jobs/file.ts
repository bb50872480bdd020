import { abortable, type Clock } from '../../core/async.js';
import { abortSignal, readOptions, text, type OptionKinds } from '../../core/options.js';
import {
  ConnectionError,
  isPostreelError,
  NotFoundError,
  ServerError,
  UnexpectedResponseError,
} from '../../core/errors.js';
import { cleanCause } from '../../core/call/redact.js';
import { retryAfterMs } from '../../core/call/retry-after.js';
import { problemInHeaders, recognizeMedia } from '../download/recognize.js';
import type { FileStream } from '../download/file-stream.js';
import type { TransferOptions } from '../download/transfer-options.js';

/** The source of a file's bytes. */
export interface FileSource {
  /** The client's `fetch`; `undefined` for that of the runtime. */
  readonly fetch: typeof globalThis.fetch | undefined;
  /** The clock of the client; without it the system clock. */
  readonly clock?: Clock | undefined;
  /** Checks the status of the file once and resolves to a URL that has not expired. */
  readonly freshUrl?:
    ((signal: AbortSignal | undefined) => Promise<string | undefined>) | undefined;
}

/** Options of a single download request. */
export interface DownloadOptions {
  signal?: AbortSignal | undefined;
  /** A range of bytes, e.g. `bytes=0-1023`. */
  range?: string | undefined;
  /** The strong ETag or date of the file. When it does not match, the server sends the whole file. */
  ifRange?: string | undefined;
}

const downloadOptions: OptionKinds<DownloadOptions> = {
  signal: abortSignal,
  range: text,
  ifRange: text,
};

/**
 * A finished video or audio. Downloads are sent without the API key, because the URL needs none. When the
 * response is a 4xx other than 408, 416 and 429, or is not a media file, the URL may have expired: the SDK
 * then checks the status of the file once for a new URL.
 */
export class MediaFile {
  readonly fileId: string;
  #url: string;
  readonly #source: FileSource;

  constructor(fileId: string, url: string, source: FileSource) {
    this.fileId = fileId;
    this.#url = url;
    this.#source = source;
  }

  /** @internal The clock of the client; downloads use it for their pauses. */
  get clock(): Clock | undefined {
    return this.#source.clock;
  }

  /** The download URL. The service's document does not say how long it is valid. */
  get url(): string {
    return this.#url;
  }

  // These methods import the download code when they are called: many programs only pass the URL on.

  /** Streams the bytes as they arrive. Reconnects when a connection breaks. */
  async stream(options?: TransferOptions): Promise<FileStream> {
    const { toStream } = await import('../download/transfer.js');
    return toStream(this, options);
  }

  /** Downloads the whole file as a `Blob`. */
  async blob(options?: TransferOptions): Promise<Blob> {
    const { toBlob } = await import('../download/transfer.js');
    return toBlob(this, options);
  }

  /** Downloads the whole file into memory. */
  async arrayBuffer(options?: TransferOptions): Promise<ArrayBuffer> {
    return (await this.blob(options)).arrayBuffer();
  }

  /**
   * Copies the file to a web stream, such as an upload to your storage, and closes the stream. On failure the
   * stream is aborted with the error. For a stream of Node.js use `Writable.toWeb(stream)`.
   */
  async pipeTo(stream: WritableStream<Uint8Array>, options?: TransferOptions): Promise<void> {
    const { pipeTo } = await import('../download/transfer.js');
    return pipeTo(this, stream, options);
  }

  /**
   * Makes one download request and resolves to its response: status 200, or 206 when a `range` was requested.
   * Nothing is retried, except once with a new URL when the URL has expired, and nothing checks that the
   * whole body arrives.
   */
  async response(given?: DownloadOptions): Promise<Response> {
    const options = readOptions(given, downloadOptions, { name: 'a download' });
    try {
      return await this.#connect(options);
    } catch (error) {
      const url = isExpired(error) ? await this.#freshUrl(options.signal) : undefined;
      if (url === undefined) {
        throw error;
      }
      this.#url = url;
      return this.#connect(options);
    }
  }

  /** The id and URL of the file, for logs. The URL comes without its query, which may be a signature. */
  toJSON(): { fileId: string; url: string } {
    return { fileId: this.fileId, url: this.url.replace(/[?#].*$/, '') };
  }

  async #connect({ signal, range, ifRange }: DownloadOptions): Promise<Response> {
    const fetch = this.#source.fetch ?? globalThis.fetch;
    // A compressed body that ends early could not be detected. Browsers ignore this header.
    const headers = new Headers({ 'accept-encoding': 'identity' });
    if (range !== undefined) {
      headers.set('range', range);
    }
    if (ifRange !== undefined) {
      headers.set('if-range', ifRange);
    }
    let response: Response;
    try {
      const init = signal ? { headers, signal } : { headers };
      response = await abortable(fetch(this.#url, init), signal);
    } catch (cause) {
      if (signal?.aborted) {
        throw signal.reason;
      }
      throw connectionError(this.fileId, cleanCause(cause, [searchOf(this.#url)]));
    }
    const isOk = response.status === 200 || (response.status === 206 && range !== undefined);
    const problem = isOk ? problemInHeaders(response) : undefined;
    if (!isOk || problem !== undefined) {
      response.body?.cancel().catch(() => undefined);
      throw downloadError(this.fileId, response, problem);
    }
    return response.status === 200 ? this.#requireMedia(response, signal) : response;
  }

  // An expired URL may also return an error page, with status 200 and any content type.
  async #requireMedia(response: Response, signal: AbortSignal | undefined): Promise<Response> {
    let whole: Awaited<ReturnType<typeof recognizeMedia>>;
    try {
      whole = await recognizeMedia(response, signal);
    } catch (cause) {
      signal?.throwIfAborted();
      throw connectionError(this.fileId, cleanCause(cause, [searchOf(this.#url)]));
    }
    if ('problem' in whole) {
      throw downloadError(this.fileId, response, whole.problem);
    }
    return whole.response;
  }

  async #freshUrl(signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const url = await this.#source.freshUrl?.(signal);
      return url === this.#url ? undefined : url;
    } catch {
      signal?.throwIfAborted();
      return undefined; // the error of the download explains more than this one
    }
  }
}

function searchOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).search : undefined;
}

// File stores respond to an expired URL with any 4xx, or with a page. 408, 416 and 429 do not mean that the
// URL has expired.
function isExpired(error: unknown): boolean {
  const { status = 0 } = isPostreelError(error) ? error : {};
  const isClientError = status >= 400 && status < 500 && ![408, 416, 429].includes(status);
  return isClientError || status === 200 || status === 206;
}

function connectionError(fileId: string, cause: unknown): ConnectionError {
  return new ConnectionError(`The file ${fileId} could not be downloaded. Try again.`, {
    code: 'DOWNLOAD_FAILED',
    outcome: 'rejected', // a read has no effect
    cause,
  });
}

function downloadError(
  fileId: string,
  { status, headers }: Response,
  problem: string | undefined,
): Error {
  const why = problem === undefined ? String(status) : `${problem}, not a media file`;
  const message = `The file ${fileId} could not be downloaded (${why}). Its URL may have expired: check its status for a new one.`;
  return new (errorClassOf(status))(message, {
    code: 'DOWNLOAD_FAILED',
    status,
    outcome: 'rejected',
    retryAfterMs: retryAfterMs(headers, status),
  });
}

function errorClassOf(status: number) {
  if (status === 404) {
    return NotFoundError;
  }
  return status >= 500 ? ServerError : UnexpectedResponseError;
}
