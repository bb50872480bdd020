import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type * as Package from 'postreel';

/** One place of the client that reads the service wrongly. */
export interface Misreading {
  /** The file of `src` and the line in it that changes. */
  readonly file: string;
  readonly line: string;
  /** What stands there instead. */
  readonly instead: string;
}

type Clients = Pick<typeof Package, 'MessagingClient' | 'MediaClient'>;

/** The clients, built from a copy of the source in which one line is wrong. */
export async function misread(misreading: Misreading, name: string): Promise<Clients> {
  const outdir = resolve('node_modules/.cache/worlds', name);
  const file = resolve('src', misreading.file);
  await build({
    entryPoints: ['src/index.ts'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outdir,
    outExtension: { '.js': '.mjs' },
    plugins: [
      {
        name: 'misread',
        setup(bundler) {
          bundler.onLoad({ filter: /\.ts$/ }, ({ path }) =>
            path === file ? { contents: changed(file, misreading), loader: 'ts' } : undefined,
          );
        },
      },
    ],
  });
  const address = `${pathToFileURL(`${outdir}/index.mjs`).href}?${Date.now()}`;
  return (await import(/* @vite-ignore */ address)) as Clients; // built from the package's own entry
}

function changed(file: string, { line, instead }: Misreading): string {
  const parts = readFileSync(file, 'utf8').split(line);
  if (parts.length !== 2) {
    throw new Error(`${file} must have this once: ${line}`);
  }
  return parts.join(instead);
}
