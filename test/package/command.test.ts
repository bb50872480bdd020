import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build as bundle, type PluginBuild } from 'esbuild';
import { expect, it } from 'vitest';
import { entryPoints, repository } from '../support/package/installed.js';

it.each(entryPoints)('no code of the command can be reached from %s', async (entryPoint) => {
  const { metafile } = await bundle({
    stdin: { contents: `export * from '${entryPoint}';`, resolveDir: repository },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    // The entry points of this package are not external.
    plugins: [{ name: 'own-entry-points', setup: resolveOwnEntryPoints }],
    logLevel: 'error',
  });
  const files = Object.keys(metafile.inputs);
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter((file) => /(^|\/)cli(\.js|\/)/.test(file))).toEqual([]);
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
  const tools = imported.filter(({ path }) => /^(commander|cli-progress)/.test(path));
  expect(tools).toEqual([]);
});

it('the build contains code of the command only in its own file', () => {
  const files = readdirSync(join(repository, 'dist'), { recursive: true, encoding: 'utf8' });
  const code = files.filter((file) => /(^|[\\/])cli([\\/.])/.test(file) && file.endsWith('.js'));
  expect(code).toEqual(['cli.js']);
});

/** Resolves `postreel/…` to the build, as a user's bundler does. */
function resolveOwnEntryPoints(build: PluginBuild): void {
  build.onResolve({ filter: /^postreel(\/|$)/ }, ({ path }) => {
    const folder = path.replace(/^postreel\/?/, '');
    return { path: join(repository, 'dist/esm', folder, 'index.js') };
  });
}
