import { open, type FileHandle } from 'node:fs/promises';
import { ConfigurationError } from '../core/errors.js';
import { isRecord } from '../core/values.js';

let hasWarned = false;

/** Waits until the content of a file is on the disk, where the runtime allows that. */
export async function syncFile(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    if (!hasCode(error, 'ERR_ACCESS_DENIED')) {
      throw error;
    }
    if (!hasWarned) {
      hasWarned = true;
      process.emitWarning(
        'The permission model of this version of Node forbids `fsync`: a power failure may lose the last writes of journals and downloads. A crash of the process loses nothing.',
        'PostreelWarning',
      );
    }
  }
}

/** Makes a new or renamed file survive a power cut. Not all systems let a folder be opened. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    await handle.sync().finally(() => handle.close());
  } catch {
    // Ignore the error: the file is on the disk, and its name will be there shortly.
  }
}

/** True for a system error with this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return isRecord(error) && error['code'] === code;
}

/** Rejects a path that is missing, such as a variable that was never set. `call` names the function. */
export function requirePath(path: unknown, call: string): asserts path is string {
  if (typeof path !== 'string' || path === '') {
    throw new ConfigurationError(
      `\`${call}()\` needs the path of a file, but the path is empty or not a string. Check that its variable is set.`,
    );
  }
}
