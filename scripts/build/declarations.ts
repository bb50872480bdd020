import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

/**
 * Writes the declarations that the doors reach, once: they stand with CommonJS, since an ES module
 * may take its types from there and not the other way around. Of the ES modules each door has one
 * declaration, which hands them on.
 */
export async function declare(doors: readonly string[]): Promise<void> {
  const all = 'dist/types';
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', all];
  await promisify(execFile)(process.execPath, args);
  for (const file of reachedFrom(doors.map((door) => join(all, `${door}.d.ts`)))) {
    write(join('dist/cjs', relative(all, file)), readFileSync(file, 'utf8'));
  }
  for (const door of doors) {
    const target = relative(dirname(join('dist/esm', door)), join('dist/cjs', door));
    write(join('dist/esm', `${door}.d.ts`), `export * from '${target}.js';\n`);
  }
  rmSync(all, { recursive: true });
}

function reachedFrom(doors: readonly string[]): Set<string> {
  const reached = new Set(doors);
  // A Set walks over what is added on the way, too.
  for (const file of reached) {
    const links = readFileSync(file, 'utf8').matchAll(
      /\b(?:from|import)\b\s*\(?\s*['"](\.[^'"]+)/g,
    );
    for (const [, path = ''] of links) {
      const target = join(dirname(file), path.replace(/\.js$/, '.d.ts'));
      if (existsSync(target)) {
        reached.add(target);
      }
    }
  }
  return reached;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
