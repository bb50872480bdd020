import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** A build that came out the same twice. */
export interface Reproduced {
  /** The clone that was built first. */
  readonly folder: string;
  readonly files: number;
  readonly hash: string;
}

/** Builds the last commit in two clones, in folders of different names, and compares every byte. */
export async function buildTwice(): Promise<Reproduced> {
  const folder = await buildClone('one');
  const hashes = hashesOf(join(folder, 'dist'));
  const others = hashesOf(join(await buildClone('another-one'), 'dist'));
  const names = new Set([...hashes.keys(), ...others.keys()]);
  const different = [...names].filter((name) => hashes.get(name) !== others.get(name));
  if (different.length > 0) {
    throw new Error(`Two builds differ in: ${different.join(', ')}`);
  }
  const all = [...hashes].map(([name, hash]) => `${hash}  ${name}\n`).join('');
  return { folder, files: hashes.size, hash: sha256(all) };
}

async function buildClone(name: string): Promise<string> {
  const folder = join(mkdtempSync(join(tmpdir(), 'postreel-release-')), name);
  await execute('git', ['clone', '--quiet', '--no-hardlinks', '.', folder]);
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  await execute('npm', ['run', 'build'], { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  return folder;
}

/** The hash of every file below a folder, by its path. */
export function hashesOf(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return new Map(files.map((path) => [path, sha256(readFileSync(join(folder, path)))]));
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
