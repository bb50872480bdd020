import { readFileSync } from 'node:fs';

type Door = Record<'import' | 'require', { types: string; default: string }>;

/** The doors of the package as `package.json` names them, with their source files. */
export function doors(): { name: string; entry: string; source: string }[] {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, Door | string>;
  };
  return Object.entries(exports).flatMap(([name, door]) => {
    if (typeof door === 'string') {
      return [];
    }
    const entry = door.import.default.replace(/^\.\/dist\/esm\/|\.js$/g, '');
    return [{ name, entry, source: `src/${entry}.ts` }];
  });
}
