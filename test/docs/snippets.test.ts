import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAll, type ScriptEnd } from '../support/scripts.js';
import { documents, snippetsOf } from '../support/snippets.js';

// Inside the repository, but outside of node_modules: only there `postreel` means this package.
const parent = 'test/.tmp';
// A reader's project: strict, with the types that are published. The compiled snippets run.
const configuration = {
  extends: '../../../tsconfig.base.json',
  compilerOptions: { noEmitOnError: false, rootDir: '.', types: ['node'] },
  include: ['*.ts'],
};

const snippets = documents()
  .flatMap(snippetsOf)
  .map((snippet, index) => ({
    ...snippet,
    file: `${String(index).padStart(3, '0')}.ts`,
  }));

let folder = '';
let complaints = '';
let ends: Promise<ScriptEnd>[] = [];

beforeAll(async () => {
  mkdirSync(parent, { recursive: true });
  writeFileSync(join(parent, '.gitignore'), '*\n');
  folder = mkdtempSync(join(parent, 'snippets-'));
  for (const { file, code } of snippets) {
    writeFileSync(join(folder, file), code);
  }
  complaints = await compile();
  const commands = snippets.map(({ file }) => [resolve(folder, file.replace('.ts', '.js'))]);
  ends = runAll(commands);
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('every snippet of README and docs', () => {
  it('compiles against the published types', () => {
    const named = complaints.replace(/^.*?(\d{3})\.ts\((\d+),/gm, (_, number: string, line) => {
      const snippet = snippets[Number(number)];
      return `${snippet?.name ?? ''} + ${String(line)} (`;
    });
    expect(named).toBe('');
  });

  it.each(snippets.map(({ name }, index) => [name, index] as const))(
    '%s runs',
    async (_, index) => {
      const { code, output } = await ends[index]!;
      expect(code, output).toBe(0);
    },
    600_000,
  );
});

/** Compiles all snippets in one program; the answer is what the compiler complains of. */
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
