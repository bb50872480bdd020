import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface SourceImport {
  readonly target: string;
  readonly isType: boolean;
  readonly isLazy: boolean;
}

export interface SourceFile {
  /** The path below `src/`. */
  readonly path: string;
  readonly imports: readonly SourceImport[];
}

const statement =
  /^(?:import|export)\s+(type\s+)?(?:([\w*{}\s,$]+?)\s+from\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm;

/** Every source file with its imports; relative ones become paths below `src/`. */
export function readSources(root = 'src'): SourceFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return { path, imports: importsOf(path, text) };
    });
}

function importsOf(path: string, text: string): SourceImport[] {
  return [...text.matchAll(statement)].map(([, type, names = '', plain, lazy]) => {
    const target = plain ?? lazy ?? '';
    const named = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
    const onlyTypes = named?.split(',').every((name) => /^\s*(type\s|$)/.test(name)) ?? false;
    return {
      target: target.startsWith('.') ? resolve(path, target) : target,
      isType: type !== undefined || onlyTypes,
      isLazy: lazy !== undefined,
    };
  });
}

function resolve(from: string, target: string): string {
  return normalize(join(dirname(from), target)).replace(/\.js$/, '.ts');
}
