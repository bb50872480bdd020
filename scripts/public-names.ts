import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { entryPoints } from './entry-points.js';

/** The committed list. A change in it is a change that users see. */
export const publicNamesFile = 'test/package/public-names.json';

export interface EntryPointNames {
  /** What it exports at runtime. */
  readonly values: readonly string[];
  /** What it exports as a type only. */
  readonly types: readonly string[];
}

/** The public names of every entry point, as built. */
export async function readPublicNames(): Promise<Record<string, EntryPointNames>> {
  const entries = entryPoints().map(({ name, entry }) => ({
    name: name.replace(/^\./, 'postreel'),
    code: resolve(`dist/esm/${entry}.js`),
    declarations: resolve(`dist/esm/${entry}.d.ts`),
  }));
  const program = ts.createProgram(
    entries.map(({ declarations }) => declarations),
    { module: ts.ModuleKind.NodeNext, skipLibCheck: true, types: ['node'] },
  );
  const names = entries.map(async ({ name, code, declarations }) => {
    const module = (await import(pathToFileURL(code).href)) as object; // as: a module is an object
    const values = Object.keys(module).sort();
    const types = exportsOf(program, declarations).filter((one) => !values.includes(one));
    return [name, { values, types }] as const;
  });
  return Object.fromEntries(await Promise.all(names));
}

function exportsOf(program: ts.Program, file: string): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) {
    throw new Error(`${file} is not there: run npm run build first.`);
  }
  return checker
    .getExportsOfModule(module)
    .map(({ name }) => name)
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const style = await resolveConfig(publicNamesFile);
  const text = await format(JSON.stringify(await readPublicNames()), { ...style, parser: 'json' });
  writeFileSync(publicNamesFile, text);
  console.log(`${publicNamesFile} is written.`);
}
