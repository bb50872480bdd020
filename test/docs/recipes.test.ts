import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { copiesIn } from '../support/snippets.js';

const recipes = readdirSync('docs/recipes').filter((name) => name.endsWith('.md'));
const copies = recipes.flatMap((name) =>
  copiesIn(`docs/recipes/${name}`).map((copied) => ({ name, ...copied })),
);

describe('the recipes', () => {
  it.each(copies)('$name shows $file unchanged', ({ file, code }) => {
    expect(code).toBe(readFileSync(file, 'utf8'));
  });

  it('copy only tested files, of a project or an example', () => {
    const untested = copies.filter(({ file }) => !/^(test\/projects|examples)\//.test(file));
    expect(untested).toEqual([]);
    expect(copies.length).toBeGreaterThan(10);
  });

  it('are all on the page of recipes', () => {
    const index = readFileSync('docs/recipes/index.md', 'utf8');
    const others = recipes.filter((name) => name !== 'index.md');
    expect(others.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  });
});
