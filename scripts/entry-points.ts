import { readFileSync } from 'node:fs';

type EntryPoint = Record<'import' | 'require', { types: string; default: string }>;

/** The entry points of the package as `package.json` exports them, with their source files. */
export function entryPoints(): { name: string; entry: string; source: string }[] {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, EntryPoint | string>;
  }; // as: our own package.json
  return Object.entries(exports).flatMap(([name, paths]) => {
    if (typeof paths === 'string') {
      return [];
    }
    const entry = paths.import.default.replace(/^\.\/dist\/esm\/|\.js$/g, '');
    return [{ name, entry, source: `src/${entry}.ts` }];
  });
}
