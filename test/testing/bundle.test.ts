import { fileURLToPath } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import { expect, it } from 'vitest';

const door = fileURLToPath(new URL('../../src/testing/index.ts', import.meta.url));

const bundle = (
  options: Pick<BuildOptions, 'splitting' | 'outdir' | 'format' | 'globalName'> = {},
) =>
  build({
    entryPoints: [door],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    logLevel: 'silent',
    external: ['msw'],
    ...options,
  });

it('bundles for browsers, without any module of Node', async () => {
  const { errors, warnings, metafile } = await bundle();
  expect([errors, warnings]).toEqual([[], []]);
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  expect(imports).toEqual([{ path: 'msw', kind: 'dynamic-import', external: true }]);
  const inputs = Object.values(metafile.inputs).flatMap((input) => input.imports);
  expect(inputs.filter(({ path }) => path.startsWith('node:'))).toEqual([]);
});

it('loads the server only when it is started', async () => {
  const { metafile } = await bundle({ splitting: true, outdir: 'out' });
  const first = Object.values(metafile.outputs).find((output) =>
    output.entryPoint?.includes('index'),
  );
  expect(Object.keys(first?.inputs ?? {}).filter((path) => path.endsWith('server.ts'))).toEqual([]);
});

it('runs without process, Buffer or require', async () => {
  const { outputFiles } = await bundle({ format: 'iife', globalName: 'testing' });
  const source = `${outputFiles[0]!.text}; return testing;`;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a scope in which Node's globals are hidden
  const load = new Function('process', 'Buffer', 'require', 'module', source) as () => {
    createFakeMedia(): { fetch: typeof fetch; baseUrl: string };
  }; // as: the door's exports
  const fake = load().createFakeMedia();
  expect((await fake.fetch(`${fake.baseUrl}/v1/generate/status`)).status).toBe(401);
});
