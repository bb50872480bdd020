import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stubFolders, writeStubs } from './stubs.js';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Packs what `npm run build` made, and answers the path of the tarball. The checkout stays as it is. */
export async function pack(destination: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'postreel-pack-'));
  try {
    stage(folder);
    const args = ['pack', '--ignore-scripts', '--silent', '--pack-destination', destination];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: folder });
    return join(destination, stdout.trim());
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Copies the files of the package to a folder, as if npm had unpacked them there. */
export function stage(folder: string): void {
  const text = readFileSync(join(repository, 'package.json'), 'utf8');
  const { files } = JSON.parse(text) as { files: readonly string[] }; // as: our own package.json
  const stubs = stubFolders();
  const listed = files.filter((place) => !stubs.includes(place)).flatMap(placesOf);
  // npm packs the last three without being asked.
  for (const place of [...listed, 'package.json', 'README.md', 'LICENSE']) {
    cpSync(join(repository, place), join(folder, place), { recursive: true });
  }
  writeStubs(folder);
}

/** The folder or file, or the files of `folder/*.md`. */
function placesOf(pattern: string): string[] {
  return pattern.endsWith('/*.md')
    ? readdirSync(join(repository, dirname(pattern)))
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(dirname(pattern), name))
    : [pattern];
}
