import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

interface Bundle {
  readonly bytes: number;
  readonly inputs: string[];
  readonly text: string;
}

/** What a page pays for an entry: bundled and minified by esbuild, as for any browser app. */
async function bundle(entry: string, external: string[] = []): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    external,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
  });
  const { contents, text } = outputFiles[0]!;
  return {
    bytes: gzipSync(contents, { level: 9 }).length,
    inputs: Object.keys(metafile.inputs),
    text,
  };
}

describe('the size of the tracker', () => {
  it.each([
    ['src/tracker/index.ts', [], 3072],
    ['src/tracker/react/index.ts', ['react'], 512],
    ['src/tracker/proxy/index.ts', [], 1024],
  ])('of %s stays within its budget', async (entry, external, budget) => {
    const { bytes, inputs, text } = await bundle(entry, external);
    console.log(`${entry}: ${bytes} of ${budget} bytes, gzip -9`);
    expect(bytes).toBeLessThanOrEqual(budget);
    expect(inputs.filter((input) => !input.startsWith('src/tracker/'))).toEqual([]);
    expect(text.match(/from"([^"]+)"/g) ?? []).toEqual(external.map((name) => `from"${name}"`));
  });

  it('needs no listener that would keep a page out of the back/forward cache', async () => {
    const { text } = await bundle('src/tracker/index.ts');
    expect(text).not.toMatch(/unload/);
  });
});
