import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

/**
 * Packages that declare their classes once for each module system: what names them must be read in
 * the system of whoever imports it.
 */
const declaredTwice = /\b(?:from|import)\b\s*\(?\s*['"](?:msw|bullmq)['"]/;

/**
 * Writes the declarations that the doors reach, once: they stand with CommonJS, since an ES module
 * may take its types from there and not the other way around. Of the ES modules each door has one
 * declaration, which hands them on; only what leads to a package that is declared twice is there as
 * well.
 */
export async function declare(doors: readonly string[]): Promise<void> {
  const all = 'dist/types';
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', all];
  await promisify(execFile)(process.execPath, args);
  const files = reachedFrom(doors.map((door) => join(all, `${door}.d.ts`)));
  const twice = [...files].filter((file) => leadsToTwice(file));
  for (const file of files) {
    write(join('dist/cjs', relative(all, file)), readFileSync(file, 'utf8'));
  }
  for (const door of doors) {
    const target = relative(dirname(join('dist/esm', door)), join('dist/cjs', door));
    write(join('dist/esm', `${door}.d.ts`), `export * from '${target}.js';\n`);
  }
  for (const file of twice) {
    const path = join('dist/esm', relative(all, file));
    const home = relative(dirname(path), join('dist/cjs', relative(all, dirname(file))));
    const text = readFileSync(file, 'utf8').replace(links, (link, before: string, to: string) =>
      twice.includes(declarationOf(file, to)) ? link : `${before}${join(home, to)}`,
    );
    write(path, text);
  }
  rmSync(all, { recursive: true });
}

const leadsToTwice = (file: string) =>
  [...reachedFrom([file])].some((one) => declaredTwice.test(readFileSync(one, 'utf8')));

const links = /(\b(?:from|import)\b\s*\(?\s*['"])(\.[^'"]+)/g;

const declarationOf = (file: string, to: string) =>
  join(dirname(file), to.replace(/\.js$/, '.d.ts'));

function reachedFrom(starts: readonly string[]): Set<string> {
  const reached = new Set(starts);
  // A Set walks over what is added on the way, too.
  for (const file of reached) {
    for (const [, , to = ''] of readFileSync(file, 'utf8').matchAll(links)) {
      const target = declarationOf(file, to);
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
