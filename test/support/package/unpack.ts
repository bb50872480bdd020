import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pack } from '../../../scripts/pack.js';
import { unpacked } from './unpacked.js';

/** Packs the package and unpacks the tarball. Its dependencies are those of the repository. */
export default async function unpack(): Promise<() => Promise<void>> {
  const remove = () => rm(unpacked, { recursive: true, force: true });
  await remove();
  await mkdir(unpacked, { recursive: true });
  await promisify(execFile)('tar', ['-xzf', await pack(unpacked), '-C', unpacked]);
  return remove;
}
