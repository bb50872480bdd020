import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError, isPostreelError } from '../../errors/index.js';
import { Download } from '../../media/download/download.js';
import type { TransferOptions, TransferProgress } from '../../media/download/transfer-options.js';
import type { MediaFile } from '../../media/jobs/file.js';
import { syncFolder } from '../file-system.js';
import { PartFile } from './part-file.js';

/** How far a download is. */
export interface SaveProgress extends TransferProgress {}

/** How to save a file. An abort leaves nothing behind. */
export interface SaveOptions extends TransferOptions {}

/**
 * Saves a finished file to disk. It is written beside its target and renamed at the end, so that the
 * target is always complete, or what it was before. A broken connection is resumed where it broke;
 * when the retries are used up, what has arrived stays beside the target, and the next `saveTo()` of
 * the same file continues with it. So does one after a crash.
 * @throws a `ConnectionError` when the retries are used up
 * @example
 * await saveTo(await job.waitForFile(), 'cats.mp4', {
 *   onProgress: ({ receivedBytes, totalBytes }) => console.log(receivedBytes, totalBytes),
 * });
 */
export async function saveTo(
  file: MediaFile,
  path: string,
  options: SaveOptions = {},
): Promise<void> {
  const { signal } = options;
  signal?.throwIfAborted();
  const target = resolve(path);
  await refuseFolder(target);
  const part = await PartFile.open(file.fileId, target);
  try {
    await new Download(file, part, options, part.earlier).run();
    signal?.throwIfAborted();
    await part.finish(target);
  } catch (error) {
    await giveUp(part, error, signal);
    throw error;
  }
  await syncFolder(dirname(target));
}

// After trouble with the server the rest may come another time; nothing is kept after an abort.
async function giveUp(
  part: PartFile,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (isPostreelError(error) && !signal?.aborted) {
    await part.keep().catch(() => part.remove());
  } else {
    await part.remove();
  }
}

// Found out before the download rather than after it.
async function refuseFolder(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (!found?.isDirectory()) {
    return;
  }
  throw new ConfigurationError(`${target} is a folder. Give \`saveTo()\` the path of a file.`, {
    code: 'PATH_IS_FOLDER',
  });
}
