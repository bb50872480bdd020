import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { copiesIn } from '../support/snippets.js';

const [first] = copiesIn('docs/recipes/jest-and-vitest.md');
const code = first?.code ?? '';
const passed = (output: string) => /Tests +(\d+) passed/.exec(output)?.[1];
const count = code.match(/^test\(/gm)?.length;

let folder = '';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs tests with Vitest as a reader does, without keys, and answers what it prints. */
function run(tests: string): Promise<string> {
  // Inside the repository, where `postreel` means this package.
  mkdirSync('test/.tmp', { recursive: true });
  folder = mkdtempSync('test/.tmp/recipe-');
  writeFileSync(join(folder, 'vitest.config.js'), 'export default {};\n');
  writeFileSync(join(folder, 'send.test.ts'), tests);
  const { PATH } = process.env;
  const args = [resolve('node_modules/vitest/vitest.mjs'), 'run'];
  return new Promise((done) => {
    const options = { cwd: folder, env: { PATH, NO_COLOR: '1' } };
    execFile(process.execPath, args, options, (_, output, errors) => done(output + errors));
  });
}

describe('the first recipe of Vitest', () => {
  it('passes without changes, without keys or addresses', async () => {
    const output = await run(code);
    expect(passed(output), output).toBe(String(count));
  });

  it('fails in each of its tests if the code under test sends nothing', async () => {
    const broken = code.replace('await messaging.send(', 'await Promise.resolve(');
    expect(broken).not.toBe(code);
    const output = await run(broken);
    expect(output).toMatch(new RegExp(`Tests +${count} failed`));
  });
});
