import { resolve } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import table from '../../src/testing/endpoints.json' with { type: 'json' };

const path = resolve('test/types/of-an-editor.ts');
const text = `import { createFakeMessaging } from 'postreel/testing';
createFakeMessaging().fail('', { status: 503 });`;

it('an editor completes every endpoint in `fake.fail()`', () => {
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => ({
      strict: true,
      skipLibCheck: true,
      resolveJsonModule: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      paths: { 'postreel/*': [resolve('src/*/index.ts')] },
    }),
    getScriptFileNames: () => [path],
    getScriptVersion: () => '1',
    getScriptSnapshot: (name) => {
      const found = resolve(name) === path ? text : ts.sys.readFile(name);
      return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
    },
    getCurrentDirectory: () => process.cwd(),
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (name) => resolve(name) === path || ts.sys.fileExists(name),
    readFile: (name) => ts.sys.readFile(name),
  };
  const editor = ts.createLanguageService(host);
  const completed = editor.getCompletionsAtPosition(path, text.indexOf("''") + 1, {});
  const names = completed?.entries.map(({ name }) => name) ?? [];
  expect(names).toEqual(expect.arrayContaining(table.map((row) => `${row.method} ${row.path}`)));
});
