import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Options } from 'tsup';
import { bundledInCommand, bundledInCommonJs, licensesOf } from './scripts/bundled.js';
import { commandBundle } from './scripts/command-bundle.js';
import { doors } from './scripts/doors.js';
import { cutIntoParts } from './scripts/parts.js';
import { trackerInternals } from './scripts/tracker-internals.js';

const isOfTracker = ({ entry }: { readonly entry: string }) => entry.startsWith('tracker/');
const entriesOf = (some: ReturnType<typeof doors>) =>
  Object.fromEntries(some.map(({ entry, source }) => [entry, source]));
const entry = entriesOf(doors().filter((door) => !isOfTracker(door)));
/** Built by itself: each byte counts in a page, so its internal names are shortened. */
const trackerEntry = entriesOf(doors().filter(isOfTracker));
const parts = await cutIntoParts(entry);

/** The parts keep what is rare lazy and give every class one identity across the doors. */
const modules: Options = {
  target: 'es2022',
  splitting: false,
  esbuildPlugins: [parts.plugin],
  silent: true,
  removeNodeProtocol: false,
  tsconfig: 'tsconfig.build.json',
  outExtension: () => ({ js: '.js' }),
};

const esm: Options = {
  ...modules,
  entry,
  format: 'esm',
  outDir: 'dist/esm',
  // The maps lead to `src`, which is published; those of a split CommonJS build lead nowhere.
  sourcemap: true,
  esbuildOptions: (options) => {
    options.sourcesContent = false;
    options.entryPoints = parts.entryPoints;
  },
  onSuccess: declare,
};

const cjs: Options = {
  ...modules,
  entry,
  format: 'cjs',
  outDir: 'dist/cjs',
  noExternal: bundledInCommonJs,
  inject: ['scripts/text-encoder.js'],
  esbuildOptions: (options) => {
    options.entryPoints = parts.entryPoints;
    // Jest knows no import() in a CommonJS module.
    options.supported = { 'dynamic-import': false };
  },
  onSuccess: async () => {
    await writeFile('dist/cjs/package.json', '{ "type": "commonjs" }\n');
    await writeFile('dist/cjs/LICENSES.txt', licensesOf(bundledInCommonJs));
  },
};

/** The command is one file with all it needs, so that the library gains nothing from it. */
const cli: Options = {
  ...commandBundle,
  entry: { cli: 'src/cli/index.ts' },
  outDir: 'dist',
  splitting: false,
  silent: true,
  noExternal: [/^(?!msw)/],
  removeNodeProtocol: false,
  tsconfig: 'tsconfig.build.json',
  outExtension: () => ({ js: '.js' }),
  onSuccess: async () => {
    await writeFile('dist/cli.LICENSES.txt', licensesOf(await bundledInCommand()));
  },
};

const shorten: NonNullable<Options['esbuildOptions']> = (options) => {
  options.sourcesContent = false;
  options.mangleProps = new RegExp(`^(${trackerInternals.join('|')})$`);
};

const trackerEsm: Options = {
  ...modules,
  splitting: true,
  esbuildPlugins: [],
  entry: trackerEntry,
  format: 'esm',
  outDir: 'dist/esm',
  sourcemap: true,
  esbuildOptions: shorten,
};

const trackerCjs: Options = {
  ...modules,
  // Splitting CommonJS rewrites the head of a file, where React's directive must stand.
  esbuildPlugins: [],
  entry: trackerEntry,
  format: 'cjs',
  outDir: 'dist/cjs',
  inject: ['scripts/text-encoder.js'],
  esbuildOptions: shorten,
};

/** The build for a script tag, which sets the global `postreelTracker`. */
const scriptTag: Options = {
  entry: { tracker: 'src/tracker/global.ts' },
  format: 'iife',
  outDir: 'dist',
  target: 'es2022',
  platform: 'browser',
  minify: true,
  silent: true,
  esbuildOptions: shorten,
  onSuccess: async () => {
    const file = 'dist/tracker.global.js';
    const script = await readFile(file);
    const integrity = 'sha384-' + createHash('sha384').update(script).digest('base64');
    const size = gzipSync(script, { level: 9 }).length;
    console.log(`${file}: ${script.length} bytes, ${size} gzip\nintegrity="${integrity}"`);
  },
};

/** tsc writes the declarations once, with maps for editors; both builds have the same ones. */
async function declare(): Promise<void> {
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'];
  await promisify(execFile)(process.execPath, [...args, '--outDir', 'dist/types']);
  cpSync('dist/types', 'dist/esm', { recursive: true });
  // One set of maps is enough for an editor; it finds the sources behind the ES modules.
  for (const path of readdirSync('dist/types', { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.d.ts')) {
      const text = readFileSync(join('dist/types', path), 'utf8');
      mkdirSync(dirname(join('dist/cjs', path)), { recursive: true });
      writeFileSync(join('dist/cjs', path), text.replace(/\/\/# sourceMappingURL=.*\s*$/, ''));
    }
  }
  rmSync('dist/types', { recursive: true });
}

// They run side by side, so none of them may clear the folder of another.
export default defineConfig(() => {
  rmSync('dist', { recursive: true, force: true });
  return [esm, cjs, cli, trackerEsm, trackerCjs, scriptTag];
});
