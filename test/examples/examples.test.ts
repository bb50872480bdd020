import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

// `test/docs/effects.processes.test.ts` runs them.
const examples = readdirSync('examples').filter((name) => name.endsWith('.ts'));

describe('the examples', () => {
  it('are numbered without a gap', () => {
    const numbers = examples.map((name) => Number(name.slice(0, 2)));
    expect(numbers.sort((a, b) => a - b)).toEqual(examples.map((_, index) => index + 1));
  });

  it.each(examples)('%s says in its first line what it does', (name) => {
    expect(readFileSync(join('examples', name), 'utf8')).toMatch(/^\/\/ [A-Z].*\.\n/);
  });
});
