import { UnexpectedResponseError } from '../../core/errors.js';
import type { DownloadTarget } from './download.js';

/** Keeps a file in memory. */
export class MemoryTarget implements DownloadTarget {
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #type = '';

  begin({ headers }: Response): void {
    this.#type = headers.get('content-type') ?? '';
  }

  write(chunk: Uint8Array): void {
    this.#chunks.push(chunk as Uint8Array<ArrayBuffer>); // as: a response never uses a SharedArrayBuffer
  }

  restart(): void {
    this.#chunks = [];
  }

  blob(): Blob {
    return new Blob(this.#chunks, { type: this.#type });
  }
}

/** Writes a file to a stream as it arrives, with backpressure. */
export class StreamTarget implements DownloadTarget {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #onBegin: () => void;
  readonly #fileId: string;

  constructor(
    fileId: string,
    writer: WritableStreamDefaultWriter<Uint8Array>,
    onBegin: () => void = () => undefined,
  ) {
    this.#fileId = fileId;
    this.#writer = writer;
    this.#onBegin = onBegin;
  }

  begin(): void {
    this.#onBegin();
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#writer.write(chunk);
  }

  restart(): never {
    const message = `The download of ${this.#fileId} cannot be resumed: the file changed, or the server compresses it, or sends neither a strong ETag nor Last-Modified. Start over with a new stream.`;
    throw new UnexpectedResponseError(message, { code: 'DOWNLOAD_CHANGED', outcome: 'rejected' });
  }
}
