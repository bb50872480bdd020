import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Options } from 'tsup';
import { declare } from './scripts/build/declarations.js';
import {
  besideTheCommand,
  bundledInCommand,
  bundledInCommonJs,
  licensesOf,
} from './scripts/bundled.js';
import { commandBundle } from './scripts/command-bundle.js';
import { doors } from './scripts/doors.js';
import { cutIntoParts } from './scripts/parts.js';
import { trackerInternals } from './scripts/tracker-internals.js';

const isOfTracker = ({ entry }: { readonly entry: string }) => entry.startsWith('tracker/');
const entriesOf = (some: ReturnType<typeof doors>) =>
  Object.fromEntries(some.map(({ entry, source }) => [entry, source]));
const entry = entriesOf(doors().filter((door) => !isOfTracker(door)));
const isNative = ({ entry }: { readonly entry: string }) => entry === 'tracker/native/index';
/** Built by itself: each byte counts in a page, so its internal names are shortened. */
const trackerEntry = entriesOf(doors().filter((door) => isOfTracker(door) && !isNative(door)));
/** Nobody loads both, and what they shared would be a third file for every page. */
const nativeEntry = entriesOf(doors().filter(isNative));
const parts = await cutIntoParts(entry, 'src/cli/index.ts');

/** A quarter less to install. Names stay, and a line that a stack trace shows fits a screen. */
const shortLines: NonNullable<Options['esbuildOptions']> = (options) => {
  options.minifyWhitespace = true;
  options.lineLimit = 200;
};

/** esbuild drops these marks with the white space; without them bundlers keep what nobody asks for. */
function markPure(code: string): string {
  return code.replace(/=(?=new LazyPart\(|branded\()/g, '=/* @__PURE__ */');
}

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
  plugins: [{ name: 'pure', renderChunk: (code) => ({ code: markPure(code) }) }],
  esbuildOptions: (options, context) => {
    shortLines(options, context);
    options.entryPoints = parts.entryPoints;
  },
  onSuccess: () => declare(doors().map((door) => door.entry)),
};

const cjs: Options = {
  ...modules,
  entry,
  format: 'cjs',
  outDir: 'dist/cjs',
  noExternal: bundledInCommonJs,
  inject: ['scripts/text-encoder.js'],
  esbuildOptions: (options, context) => {
    shortLines(options, context);
    options.entryPoints = parts.entryPoints;
    // Jest knows no import() in a CommonJS module.
    options.supported = { 'dynamic-import': false };
  },
  onSuccess: async () => {
    await writeFile('dist/cjs/package.json', '{ "type": "commonjs" }\n');
    await writeFile('dist/cjs/LICENSES.txt', licensesOf(bundledInCommonJs));
  },
};

/** The command is one file with the tools that it needs, so that the library gains nothing from it. */
const cli: Options = {
  ...commandBundle,
  entry: { cli: 'src/cli/index.ts' },
  outDir: 'dist',
  splitting: false,
  silent: true,
  external: besideTheCommand,
  noExternal: [/./],
  esbuildPlugins: [parts.commandPlugin],
  removeNodeProtocol: false,
  tsconfig: 'tsconfig.build.json',
  outExtension: () => ({ js: '.js' }),
  onSuccess: async () => {
    await writeFile('dist/cli.LICENSES.txt', licensesOf(await bundledInCommand()));
  },
};

const shorten: NonNullable<Options['esbuildOptions']> = (options) => {
  options.mangleProps = new RegExp(`^(${trackerInternals.join('|')})$`);
};

const shortenModules: NonNullable<Options['esbuildOptions']> = (options, context) => {
  shorten(options, context);
  shortLines(options, context);
};

const trackerEsm: Options = {
  ...modules,
  splitting: true,
  esbuildPlugins: [],
  entry: trackerEntry,
  format: 'esm',
  outDir: 'dist/esm',
  esbuildOptions: shortenModules,
};

const nativeEsm: Options = { ...trackerEsm, entry: nativeEntry, splitting: false };

const trackerCjs: Options = {
  ...modules,
  // Splitting CommonJS rewrites the head of a file, where React's directive must stand.
  esbuildPlugins: [],
  entry: { ...trackerEntry, ...nativeEntry },
  format: 'cjs',
  outDir: 'dist/cjs',
  inject: ['scripts/text-encoder.js'],
  esbuildOptions: shortenModules,
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

// They run side by side, so none of them may clear the folder of another.
export default defineConfig(() => {
  rmSync('dist', { recursive: true, force: true });
  return [esm, cjs, cli, trackerEsm, nativeEsm, trackerCjs, scriptTag];
});
