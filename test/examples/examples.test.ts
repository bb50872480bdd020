import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { runAll } from '../support/scripts.js';

// The slowest example starts first: it mostly waits, while the others run.
const slowest = '22-hundred-videos.ts';
const names = readdirSync('examples').filter((name) => name.endsWith('.ts') && name !== slowest);
const examples = [slowest, ...names].map((name) => ({ name, path: join('examples', name) }));

// Inside the repository, where `postreel` means this package; compiled once for all examples.
mkdirSync('test/.tmp', { recursive: true });
const folder = mkdtempSync('test/.tmp/examples-');
await build({ entryPoints: examples.map(({ path }) => path), outdir: folder, tsconfigRaw: {} });
const ends = runAll(examples.map(({ name }) => [resolve(folder, name.replace('.ts', '.js'))]));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the examples', () => {
  it('are numbered without a gap', () => {
    const numbers = examples.map(({ name }) => Number(name.slice(0, 2)));
    expect(numbers.sort((a, b) => a - b)).toEqual(examples.map((_, index) => index + 1));
  });

  it.each(examples)('$name says in its first line what it does', ({ path }) => {
    expect(readFileSync(path, 'utf8')).toMatch(/^\/\/ [A-Z].*\.\n/);
  });

  it.each(examples.map(({ name }, index) => [name, index] as const))(
    '%s runs',
    async (_, index) => {
      const { code, output } = await ends[index]!;
      expect(code, output).toBe(0);
    },
    600_000,
  );
});
