import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { documents, snippetsOf } from '../support/snippets.js';

// `effects.processes.test.ts` runs the programs of the documents.

// Inside the repository, but outside of node_modules: only there `postreel` means this package.
const parent = 'test/.tmp';
// A reader's project: strict, with the types that are published.
const configuration = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: { noEmit: true, rootDir: '.', types: ['node'] },
  include: ['*.ts'],
};
const snippets = documents().flatMap(snippetsOf);

mkdirSync(parent, { recursive: true });
writeFileSync(join(parent, '.gitignore'), '*\n');
const folder = mkdtempSync(join(parent, 'snippets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('every snippet of README and docs compiles against the published types', async () => {
  snippets.forEach(({ code }, index) => writeFileSync(join(folder, `${index}.ts`), code));
  const named = (await compile()).replace(
    /^.*?(\d+)\.ts\((\d+),/gm,
    (_, index: string, line: string) => `${snippets[Number(index)]?.name ?? ''} + ${line} (`,
  );
  expect(named).toBe('');
});

/** Compiles all snippets in one program, and returns the errors of the compiler. */
function compile(): Promise<string> {
  const config = join(folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify(configuration));
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['node_modules/typescript/bin/tsc', '-p', config, '--pretty', 'false'],
      (_, output) => resolve(output),
    );
  });
}
