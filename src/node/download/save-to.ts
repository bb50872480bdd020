import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError, invalidRequest, isPostreelError } from '../../core/errors.js';
import { kindOf } from '../../core/values.js';
import { Download } from '../../media/download/download.js';
import {
  readTransferOptions,
  type TransferOptions,
} from '../../media/download/transfer-options.js';
import type { MediaFile } from '../../media/jobs/file.js';
import { syncFolder } from '../file-system.js';
import { PartFile } from './part-file.js';

/** How to save a file. An abort leaves nothing behind. */
export interface SaveOptions extends TransferOptions {}

/**
 * Saves a finished file to disk. It is written next to its target and renamed at the end, so that the
 * target is always complete or unchanged. A broken connection is resumed where it broke;
 * when the retries are used up, the received part stays next to the target, and the next `saveTo()` of
 * the same file continues with it, also after a crash.
 * @throws a `ConnectionError` when the retries are used up
 * @example
 * await saveTo(await job.waitForFile(), 'cats.mp4', {
 *   onProgress: ({ receivedBytes, totalBytes }) => console.log(receivedBytes, totalBytes),
 * });
 */
export function saveTo(file: MediaFile, path: string, options?: SaveOptions): Promise<void>;
/**
 * Saves every file of a queue, or of an engine's worker. The pattern contains `{fileId}` or, in a
 * queue, `{index}`: the job's place in the input, from 0. Missing folders are created.
 * @throws a `ConfigurationError` when all files would be written to one path
 * @example
 * media.queue(jobs, { name: 'animals', save: saveTo('videos/{fileId}.mp4') });
 */
export function saveTo(pattern: string, options?: SaveOptions): SaveEach;
export function saveTo(
  what: MediaFile | string,
  path?: string | SaveOptions,
  options: SaveOptions = {},
): Promise<void> | SaveEach {
  return typeof what === 'string'
    ? saver(what, (path ?? {}) as SaveOptions)
    : save(what, path as string, options); // as: the two signatures say so
}

/** The `save` option of a queue, or of an engine's worker. */
export type SaveEach = (file: MediaFile, job: object) => Promise<void>;

function saver(pattern: string, given: SaveOptions): SaveEach {
  const options = readTransferOptions(given);
  const folder = process.cwd(); // the working directory may change before a file is saved
  if (!/\{(fileId|index)\}/.test(pattern)) {
    throw new ConfigurationError(
      `saveTo('${pattern}') would write every file to one path. Put {fileId} or {index} into it.`,
    );
  }
  return async (file, job) => {
    const index = 'index' in job ? String(job.index) : undefined;
    if (index === undefined && pattern.includes('{index}')) {
      throw new ConfigurationError(
        `saveTo('${pattern}') saves the job of an engine, which has no {index}. Use {fileId}.`,
      );
    }
    // An id from the service must not lead out of the folder.
    const fileId = encodeURIComponent(file.fileId).replace(/^\.+/, '_');
    const name = pattern.replaceAll('{fileId}', fileId).replaceAll('{index}', index ?? '');
    const path = resolve(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await save(file, path, options);
  };
}

async function save(file: MediaFile, path: string, given: SaveOptions): Promise<void> {
  checkArguments(file, path);
  const options = readTransferOptions(given);
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

// In plain JavaScript a job, or the promise of a file, is easily passed for the file.
function checkArguments(file: Partial<MediaFile> | undefined, path: unknown): void {
  if (typeof file?.response !== 'function') {
    const isJob = file !== undefined && 'waitForFile' in Object(file);
    const given = isJob ? 'a job: pass `await job.waitForFile()`' : kindOf(file);
    throw invalidRequest([{ field: 'file', message: `must be a finished file; got ${given}` }]);
  }
  if (typeof path !== 'string') {
    const given = path instanceof URL ? 'a URL: pass `fileURLToPath(url)`' : kindOf(path);
    throw invalidRequest([{ field: 'path', message: `must be a string; got ${given}` }]);
  }
}

// Keeps the received part for a later call after a failure of the server; removes it after an abort.
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

// Checks this before the download, because the rename at its end would fail.
async function refuseFolder(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (!found?.isDirectory()) {
    return;
  }
  throw new ConfigurationError(`${target} is a folder. Give \`saveTo()\` the path of a file.`, {
    code: 'PATH_IS_FOLDER',
  });
}
