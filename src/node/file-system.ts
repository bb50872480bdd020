import { open } from 'node:fs/promises';
import { isRecord } from '../core/values.js';

/** Makes a new or renamed file survive a power cut. Not all systems let a folder be opened. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    await handle.sync().finally(() => handle.close());
  } catch {
    // The file itself is on the disk; its name will be in a moment.
  }
}

/** Is this a system's error with this code, e.g. `ENOENT`? */
export function hasCode(error: unknown, code: string): boolean {
  return isRecord(error) && error['code'] === code;
}
