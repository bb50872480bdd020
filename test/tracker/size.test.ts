import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/sizes.js';
import { trackerInternals } from '../../scripts/tracker-internals.js';

/** The entry points of the tracker, and what each leaves to the page. */
const entryPoints = [
  ['postreel/tracker', []],
  ['postreel/tracker/react', ['react']],
  ['postreel/tracker/proxy', []],
  ['postreel/tracker/extras', []],
  ['postreel/tracker/native', []],
] as const;

describe('the built tracker, bundled and minified by esbuild', () => {
  it.each(entryPoints)('%s pulls in nothing else', async (door, external) => {
    const { eagerFiles, externals } = await bundle(`export * from '${door}';`, external);
    const path = door.replace('postreel', 'dist/esm');
    expect(eagerFiles.filter((file) => file !== '<stdin>')).toEqual([`${path}/index.js`]);
    expect(externals).toEqual(external);
  });

  it('shortens no name that users see or that is stored', () => {
    const shortened = new RegExp(`^(${trackerInternals.join('|')})$`);
    const files = [
      'options.ts',
      'types.ts',
      'queue/record.ts',
      'proxy/index.ts',
      'react/index.ts',
      'extras/auto-page.ts',
      'native/options.ts',
      'native/storage.ts',
    ];
    const names = files.flatMap((file) => {
      const text = readFileSync(`src/tracker/${file}`, 'utf8');
      return [...text.matchAll(/^ +(?:readonly |get )?(\w+)[?(:<]/gm)].map(
        ([, name]) => name ?? '',
      );
    });
    expect(names).toContain('publicKey');
    expect(names.filter((name) => shortened.test(name))).toEqual([]);
  });
});
