import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAll } from '../support/scripts.js';

const longest = 40;

const examples = readdirSync('examples')
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, path: join('examples', name) }));
const ends = runAll(examples.map(({ path }) => ['--import', 'tsx', path]));

describe('the examples', () => {
  it('are numbered without a gap', () => {
    const numbers = examples.map(({ name }) => Number(name.slice(0, 2)));
    expect(numbers.sort((a, b) => a - b)).toEqual(examples.map((_, index) => index + 1));
  });

  it.each(examples)(`$name has at most ${longest} lines and says what it is about`, ({ path }) => {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(longest);
    expect(lines[0]).toMatch(/^\/\/ [A-Z].*\.$/);
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
