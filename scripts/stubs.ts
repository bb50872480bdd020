import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entryPoints } from './entry-points.js';

/**
 * Writes `media/package.json` and the like: resolvers that do not read `exports` (Parcel 2,
 * eslint-plugin-import, Metro before 0.82, TypeScript's `moduleResolution: node`) look for it. It
 * has no name, so that nobody takes it for a package.
 */
export function writeStubs(root = '.'): void {
  for (const folder of stubFolders()) {
    const up = relative(folder, '.');
    const stub = {
      main: `${up}/dist/cjs/${folder}/index.js`,
      module: `${up}/dist/esm/${folder}/index.js`,
      types: `${up}/dist/cjs/${folder}/index.d.ts`,
    };
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, 'package.json'), `${JSON.stringify(stub, undefined, 2)}\n`);
  }
}

/** The folders of all entry points but the root: `media`, `tracker/react`, … */
export function stubFolders(): string[] {
  return entryPoints()
    .map(({ name }) => name.replace(/^\.\/?/, ''))
    .filter((folder) => folder !== '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--remove')) {
    stubFolders().forEach((folder) => rmSync(folder, { recursive: true, force: true }));
  } else {
    writeStubs();
  }
}
