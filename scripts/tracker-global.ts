import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * Writes the script-tag build of the tracker, which sets the global `postreelTracker`, and prints
 * its integrity hash. `npm run build` does it last, from the door that it has just built.
 */
const { outputFiles } = await build({
  stdin: {
    // Smaller than esbuild's own `globalName`, which adds getters for every export.
    contents: `import { createTracker, transient } from './dist/esm/tracker/index.js';
      globalThis.postreelTracker = { createTracker, transient };`,
    resolveDir: process.cwd(),
  },
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
});
const script = outputFiles[0]!.contents;
mkdirSync('dist', { recursive: true });
writeFileSync('dist/tracker.global.js', script);

const integrity = 'sha384-' + createHash('sha384').update(script).digest('base64');
const size = gzipSync(script, { level: 9 }).length;
console.log(
  `dist/tracker.global.js: ${script.length} bytes, ${size} gzip\nintegrity="${integrity}"`,
);
