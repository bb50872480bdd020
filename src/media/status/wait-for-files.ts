import { onAbort } from '../../core/async.js';
import type { MediaFile } from '../jobs/file.js';
import type { WaitOptions } from './wait-options.js';

/** How one of many files ended. */
export type FileResult =
  | { readonly fileId: string; readonly file: MediaFile; readonly error?: undefined }
  | { readonly fileId: string; readonly file?: undefined; readonly error: unknown };

type WaitOne = (fileId: string, options: WaitOptions) => Promise<MediaFile>;

/** Waits for every file; resolves to how each one ended, in the order of the ids. */
export function waitForAll(
  fileIds: readonly string[],
  wait: WaitOne,
  options: WaitOptions,
): Promise<FileResult[]> {
  return Promise.all(
    fileIds.map((fileId) =>
      wait(fileId, options).then(
        (file): FileResult => ({ fileId, file }),
        (error: unknown): FileResult => {
          // Only an abort by the caller ends the waits for the other files.
          if (options.signal?.aborted) {
            throw error;
          }
          return { fileId, error };
        },
      ),
    ),
  );
}

/** Waits for the first file that is finished, then stops waiting for the others. Their jobs continue. */
export function waitForAny(
  fileIds: readonly string[],
  wait: WaitOne,
  options: WaitOptions,
): Promise<MediaFile> {
  return stopOthers(options, (own) => Promise.any(fileIds.map((fileId) => wait(fileId, own))));
}

/** Waits for every file; the first one that fails ends the wait with its error. */
export function waitUntilError(
  fileIds: readonly string[],
  wait: WaitOne,
  options: WaitOptions,
): Promise<MediaFile[]> {
  return stopOthers(options, (own) => Promise.all(fileIds.map((fileId) => wait(fileId, own))));
}

// Stops the other waits when the result is known.
async function stopOthers<T>(
  options: WaitOptions,
  run: (own: WaitOptions) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = options;
  const stopListening = onAbort(signal, () => controller.abort(signal?.reason));
  try {
    return await run({ ...options, signal: controller.signal });
  } catch (error) {
    if (signal?.aborted) {
      throw signal.reason;
    }
    throw error;
  } finally {
    stopListening();
    controller.abort();
  }
}
