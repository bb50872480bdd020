import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { hasCode } from './file-system.js';

/**
 * The real path of a file behind all links, also before the file exists. Two names of one file must not have
 * two locks, and a rename must not replace a link.
 */
export async function realPathOf(path: string): Promise<string> {
  const full = resolve(path);
  try {
    return await realpath(full);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) {
      throw error;
    }
  }
  const folder = dirname(full);
  const realFolder = folder === full ? full : await realPathOf(folder);
  const target = await readlink(full).catch(() => undefined);
  return target === undefined
    ? join(realFolder, basename(full))
    : realPathOf(resolve(realFolder, target));
}
