import {
  abortSignal,
  callback,
  milliseconds,
  readOptions,
  wholeNumber,
  type OptionKinds,
} from '../../core/options.js';

/** The progress of a download. */
export interface TransferProgress {
  /** Goes back to 0 when the file has changed during the download, or cannot be resumed. */
  readonly receivedBytes: number;
  /** The size of the file; `undefined` when the server does not send it. */
  readonly totalBytes: number | undefined;
}

/** How to download a file. All times are in milliseconds. */
export interface TransferOptions {
  /** Ends the download at once. */
  signal?: AbortSignal | undefined;
  /** Called after every chunk that was written. An error that it throws is ignored. */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  /**
   * How long a connection may send no data before it counts as broken, in milliseconds.
   * @default 30_000
   */
  timeout?: number | undefined;
  /**
   * How many times in a row to reconnect without receiving new bytes. The pauses grow from
   * 0.25 s to 30 s, and a `Retry-After` of the server is respected.
   * @default 8
   */
  retries?: number | undefined;
}

/** The checks of these options. */
export const transferOptions: OptionKinds<TransferOptions> = {
  signal: abortSignal,
  onProgress: callback(),
  timeout: milliseconds,
  retries: wholeNumber(0),
};

/** Checks the options of a download and returns them. */
export function readTransferOptions(given: TransferOptions | undefined): TransferOptions {
  return readOptions(given, transferOptions, { name: 'a download' });
}
