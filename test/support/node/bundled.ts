import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const entryPoints = ['node', 'workflows', 'testing', 'redis', 'postgres', 'pg-boss', 'bullmq'];

/** Bundles a script with the sources of the package, to be run by Node in a separate process. */
export async function bundleScript(script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-child-'));
  const path = join(folder, 'child.mjs');
  await build({
    entryPoints: [script],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    external: ['msw', 'msw/*', 'pg-native'],
    // CommonJS sources need `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    alias: Object.fromEntries(
      entryPoints.map((entryPoint) => [
        `postreel/${entryPoint}`,
        resolve(`src/${entryPoint}/index.ts`),
      ]),
    ),
    plugins: [
      {
        name: 'postreel',
        setup(builder) {
          builder.onResolve({ filter: /^postreel$/ }, () => ({ path: resolve('src/index.ts') }));
        },
      },
    ],
  });
  return { path, folder, remove: () => rm(folder, { recursive: true }) };
}
