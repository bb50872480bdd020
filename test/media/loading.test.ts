import { build, type Metafile } from 'esbuild';
import { expect, it } from 'vitest';

/** The files of ours in the chunk that is loaded with an entry point, and in the lazy ones it names. */
async function chunks(entry: string): Promise<Metafile['outputs']> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    splitting: true,
    metafile: true,
    format: 'esm',
    outdir: 'unused',
    packages: 'external',
    logLevel: 'silent',
  });
  return metafile.outputs;
}

it('a client loads no code of the queue before there is one', async () => {
  const outputs = await chunks('src/media/client.ts');
  const inputsOf = (name: string): string[] => {
    const { inputs, imports } = outputs[name]!;
    const eager = imports.filter(({ kind, external }) => kind === 'import-statement' && !external);
    return [...Object.keys(inputs), ...eager.flatMap(({ path }) => inputsOf(path))];
  };
  const [entry] = Object.entries(outputs).find(
    ([, { entryPoint }]) => entryPoint === 'src/media/client.ts',
  )!;
  const loaded = inputsOf(entry);
  expect(loaded).toContain('src/media/generate/resource.ts');
  expect(loaded.filter((path) => path.startsWith('src/media/queue/'))).toEqual([]);
  const everything = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  expect(everything).toContain('src/media/queue/queue.ts');
});
