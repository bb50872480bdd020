import { readFileSync } from 'node:fs';
import type { Options } from 'tsup';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** How esbuild makes the one file of the command; the tests bundle it the same way. */
export const commandBundle = {
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  keepNames: true,
  define: { 'process.env.POSTREEL_VERSION': JSON.stringify(version) },
  // Only the handlers of the fakes want it, and the command has none.
  external: ['msw'],
  // Packages in CommonJS ask for Node's own modules by `require`.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
} satisfies Options;
