import type { Bytes } from '../../core/values.js';

/** The members of a stream whose types differ between Node.js and the DOM. */
export interface NodeCompatible {
  /** @throws a `TypeError`: the stream has no BYOB reader */
  getReader(options: { mode: 'byob' }): never;
  /** Passes the stream through a transform. */
  pipeThrough<Output>(
    transform: { readable: Output; writable: unknown },
    options?: {
      preventAbort?: boolean;
      preventCancel?: boolean;
      preventClose?: boolean;
      signal?: AbortSignal;
    },
  ): Output;
  /** Splits the stream into two. */
  tee(): [FileStream, FileStream];
  /** Iterates over the chunks. */
  values(options?: { preventCancel?: boolean }): AsyncIterableIterator<Bytes>;
  /** Iterates over the chunks. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Bytes>;
}

/**
 * The bytes of a file as they arrive. It is a `ReadableStream` for the types of the DOM and for those of
 * Node.js: `Readable.fromWeb(await file.stream())` compiles. Iterate it only in a runtime that supports it.
 */
export type FileStream = ReadableStream<Bytes> & NodeCompatible;
