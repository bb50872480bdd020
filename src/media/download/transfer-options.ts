import {
  abortSignal,
  callback,
  milliseconds,
  readOptions,
  wholeNumber,
  type OptionKinds,
} from '../../core/options.js';

/** How far a download is. */
export interface TransferProgress {
  /** Goes back to 0 when the file has changed in the meantime, or cannot be resumed. */
  readonly receivedBytes: number;
  /** `undefined` when the server does not say. */
  readonly totalBytes: number | undefined;
}

/** How to download a file. All times are in milliseconds. */
export interface TransferOptions {
  /** Ends the download at once. */
  signal?: AbortSignal | undefined;
  /** Called for every piece that was written. What it throws is ignored. */
  onProgress?: ((progress: TransferProgress) => void) | undefined;
  /**
   * How long a connection may send nothing before it counts as broken, in milliseconds.
   * @default 30_000
   */
  timeout?: number | undefined;
  /**
   * How many times in a row to connect again without getting anything new. The pauses grow from
   * 0.25 s to 30 s, and a `Retry-After` of the server is respected.
   * @default 8
   */
  retries?: number | undefined;
}

/** The kinds of these options. */
export const transferOptions: OptionKinds<TransferOptions> = {
  signal: abortSignal,
  onProgress: callback(),
  timeout: milliseconds,
  retries: wholeNumber(0),
};

/** The options of a download as they were given, checked. */
export function readTransferOptions(given: TransferOptions | undefined): TransferOptions {
  return readOptions(given, transferOptions, { name: 'a download' });
}
