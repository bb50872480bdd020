import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/sizes.js';
import { trackerInternals } from '../../scripts/tracker-internals.js';

/** What a page pays for a door of the built package, in bytes after gzip: at once, and later. */
const budgets = [
  ['postreel/tracker', [], 4096, 1400],
  ['postreel/tracker/react', ['react'], 600, 0],
  ['postreel/tracker/proxy', [], 2048, 0],
  ['postreel/tracker/extras', [], 1500, 0],
  ['postreel/tracker/native', [], 6144, 0],
] as const;

describe('the built tracker, bundled and minified by esbuild', () => {
  it.each(budgets)('%s keeps to its budget', async (door, external, most, mostLater) => {
    const { eager, lazy } = await bundle(`export * from '${door}';`, external);
    console.log(`${door}: ${eager} of ${most} bytes, ${lazy} later`);
    expect(eager).toBeLessThanOrEqual(most);
    expect(lazy).toBeLessThanOrEqual(mostLater);
  });

  it.each(budgets)('%s pulls in nothing else', async (door, external) => {
    const { eagerFiles, externals } = await bundle(`export * from '${door}';`, external);
    const path = door.replace('postreel', 'dist/esm');
    expect(eagerFiles.filter((file) => file !== '<stdin>')).toEqual([`${path}/index.js`]);
    expect(externals).toEqual(external);
  });

  it('has an inline snippet of at most 400 bytes', () => {
    const snippet = /<script>\s+(\(function[\s\S]*?)<\/script>/.exec(
      readFileSync('docs/tracker.md', 'utf8'),
    )?.[1];
    expect(gzipSync(snippet ?? '', { level: 9 }).length).toBeLessThanOrEqual(400);
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

  it('is as small as the README says', async () => {
    const { eager } = await bundle(`export * from 'postreel/tracker';`);
    const said = /the tracker is (.+?),/.exec(readFileSync('README.md', 'utf8'))?.[1];
    expect(said).toBe(`${(eager / 1000).toFixed(1)} KB`);
  });

  it.each(['docs/why.md', 'docs/tracker.md'])('stands beside seven others in %s', async (path) => {
    const { eager } = await bundle(`export * from 'postreel/tracker';`);
    const text = readFileSync(path, 'utf8');
    const others = ['Segment', 'PostHog', 'Snowplow', 'Mixpanel', 'Amplitude', 'RudderStack'];
    const rows = text.split('\n').filter((line) => line.startsWith('| ') && /\d\.\d KB/.test(line));
    expect(rows.map((row) => /\w+/.exec(row)?.[0])).toEqual(['postreel', ...others, 'Plausible']);
    // In units of 1000 bytes, as for the others.
    expect(rows[0]).toContain(` **${(eager / 1000).toFixed(1)} KB** `);
  });
});
