import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/sizes.js';

/** What a page pays for a door of the built package, in bytes after gzip. */
const budgets = [
  ['postreel/tracker', [], 5120],
  ['postreel/tracker/react', ['react'], 512],
  ['postreel/tracker/proxy', [], 1024],
] as const;

describe('the built tracker, bundled and minified by esbuild', () => {
  it.each(budgets)('%s keeps to its budget', async (door, external, budget) => {
    const { eager, lazy } = await bundle(`export * from '${door}';`, external);
    console.log(`${door}: ${eager} of ${budget} bytes`);
    expect(eager).toBeLessThanOrEqual(budget);
    expect(lazy).toBe(0);
  });

  it.each(budgets)('%s pulls in nothing else', async (door, external) => {
    const { eagerFiles, externals } = await bundle(`export * from '${door}';`, external);
    const path = door.replace('postreel', 'dist/esm');
    expect(eagerFiles.filter((file) => file !== '<stdin>')).toEqual([`${path}/index.js`]);
    expect(externals).toEqual(external);
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
