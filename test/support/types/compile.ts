import { resolve } from 'node:path';
import ts from 'typescript';

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
  paths: {
    postreel: [resolve('src/index.ts')],
    'postreel/*': [resolve('src/*/index.ts')],
  },
};

const host = ts.createCompilerHost(options);
const read = host.getSourceFile.bind(host);
const known = new Map<string, ts.SourceFile | undefined>();

/** Returns the compiler's errors in a user's code, and the line number of each, from 0. */
export function compile(text: string) {
  const path = resolve('test/types/of-a-user.ts');
  const isText = (name: string) => resolve(name) === path;
  host.fileExists = (name) => isText(name) || ts.sys.fileExists(name);
  host.readFile = (name) => (isText(name) ? text : ts.sys.readFile(name));
  host.getSourceFile = (name, ...rest) => {
    if (isText(name)) {
      return ts.createSourceFile(name, text, ts.ScriptTarget.ES2022);
    }
    if (!known.has(name)) {
      known.set(name, read(name, ...rest));
    }
    return known.get(name);
  };
  const program = ts.createProgram({ rootNames: [path], options, host });
  const source = program.getSourceFile(path);
  const found = [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ];
  const errors = found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  const lines = found.map(({ start = 0 }) => source!.getLineAndCharacterOfPosition(start).line);
  return { errors, lines };
}
