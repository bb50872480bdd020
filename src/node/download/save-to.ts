import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ConfigurationError } from '../../errors/index.js';
import type { MediaFile } from '../../media/jobs/file.js';
import { Download } from './download.js';
import { hasCode, syncFolder } from '../file-system.js';

/** How far a download is. */
export interface SaveProgress {
  /** Goes back to 0 when the file changed in between, or cannot be resumed. */
  readonly receivedBytes: number;
  /** `undefined` when the server does not say. */
  readonly totalBytes: number | undefined;
}

/** How to save a file. */
export interface SaveOptions {
  /** Ends the download at once and leaves nothing behind. */
  signal?: AbortSignal | undefined;
  /** Called with every piece that is written. What it throws is ignored. */
  onProgress?: ((progress: SaveProgress) => void) | undefined;
  /**
   * How long a connection may be silent before it counts as broken, in milliseconds.
   * @default 30_000
   */
  timeout?: number | undefined;
}

/**
 * Saves a finished file to the disk. It is written beside its target and renamed at the end, so
 * that the target is always whole, or what it was before. A broken connection is resumed where it
 * broke; five in a row that bring nothing new end in a `ConnectionError`.
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
  const part = join(dirname(target), `.postreel-${randomUUID()}.part`);
  const handle = await create(part);
  try {
    await fill(handle, file, options);
    signal?.throwIfAborted();
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
}

/** Writes the whole file and waits for the disk. */
async function fill(handle: FileHandle, file: MediaFile, options: SaveOptions): Promise<void> {
  try {
    await new Download(file, handle, options).run();
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// Found out before the download, and not after it.
async function refuseFolder(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (!found?.isDirectory()) {
    return;
  }
  throw new ConfigurationError(`${target} is a folder. Give \`saveTo()\` the path of a file.`, {
    code: 'PATH_IS_FOLDER',
  });
}

async function create(part: string): Promise<FileHandle> {
  try {
    return await open(part, 'wx');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) {
      throw error;
    }
    throw new ConfigurationError(
      `The folder ${dirname(part)} does not exist. Make it before you save a file into it.`,
      { code: 'FOLDER_MISSING', cause: error },
    );
  }
}
