import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

// as: a script of the TypeScript projects, which run it with the packed package and TypeScript 5.9, too
const { badMessages } = createRequire(import.meta.url)('../projects/typescript/mistakes.js') as {
  badMessages: (compiler: string, folder: string, paths: object) => readonly string[];
};

let folder = '';

beforeAll(() => {
  mkdirSync('test/.tmp', { recursive: true });
  folder = mkdtempSync(join('test/.tmp', 'mistakes-'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// The table is `test/projects/typescript/mistakes.json`.
it.each([
  ['TypeScript 6', 'typescript'],
  ['TypeScript 7', 'typescript-7'],
])('%s reports each mistake once, and names the property that is wrong', (_, compiler) => {
  const paths = { postreel: [resolve('src/index.ts')] };
  const tsc = resolve('node_modules', compiler, 'bin/tsc');
  expect(badMessages(tsc, folder, paths)).toEqual([]);
});
