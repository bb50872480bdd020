import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { programs } from './programs.js';

// The size of each tracker in a page, and what its program does on a server: the tables in
// docs/why.md and docs/tracker-measured.md. The other packages are pinned in bench/package.json.

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../..', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'postreel-trackers-'));

interface Program {
  readonly name: string;
  readonly code: string;
  /** The folder where its packages are installed. */
  readonly folder: string;
}

const options = ({ code, folder }: Program) =>
  ({
    stdin: { contents: code, resolveDir: folder },
    absWorkingDir: folder,
    outdir: 'out',
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
    logLevel: 'silent',
    // The repository's tsconfig.json would resolve to the sources.
    tsconfigRaw: {},
  }) satisfies BuildOptions;

/** The size of everything in one file, in bytes after gzip. */
async function sizeOf(program: Program): Promise<number> {
  const { outputFiles } = await build(options(program));
  return outputFiles.reduce((sum, { contents }) => sum + gzip(contents), 0);
}

/** The size of the code that a page loads at once if a bundler splits off dynamic imports. */
async function eagerSizeOf(program: Program): Promise<number> {
  const { outputFiles, metafile } = await build({ ...options(program), splitting: true });
  const { outputs } = metafile;
  const eager = new Set<string>();
  const follow = (path: string | undefined): void => {
    const output = path === undefined ? undefined : outputs[path];
    if (path === undefined || !output || eager.has(path)) {
      return;
    }
    eager.add(path);
    output.imports
      .filter(({ kind }) => kind === 'import-statement')
      .forEach((target) => follow(target.path));
  };
  follow(Object.keys(outputs).find((path) => outputs[path]?.entryPoint === '<stdin>'));
  const files = outputFiles.filter((file) => [...eager].some((path) => file.path.endsWith(path)));
  return files.reduce((sum, { contents }) => sum + gzip(contents), 0);
}

/** What the program does if there is no page. */
async function onServer(program: Program): Promise<string> {
  const outfile = join(temporary, `${program.name.replaceAll(/\W/g, '-')}.mjs`);
  const code = `${program.code}\nprocess.exit(0);`;
  await build({
    ...options({ ...program, code }),
    outdir: temporary,
    entryNames: program.name.replaceAll(/\W/g, '-'),
    outExtension: { '.js': '.mjs' },
    platform: 'node',
    minify: false,
    write: true,
    // Packages written for CommonJS call `require`.
    banner: {
      js: 'import{createRequire as requireOf}from"node:module";const require=requireOf(import.meta.url);',
    },
  });
  try {
    await run(process.execPath, ['--no-warnings', outfile], { timeout: 30_000 });
    return 'works';
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    return /^\w*Error.*$/m.exec(stderr)?.[0] ?? String(error).slice(0, 80);
  }
}

const gzip = (contents: Uint8Array): number => gzipSync(contents, { level: 9 }).length;
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} KB`;

function versionOf(name: string): string {
  const path = name === 'postreel' ? 'package.json' : `bench/node_modules/${name}/package.json`;
  return (JSON.parse(readFileSync(join(repository, path), 'utf8')) as { version: string }).version;
}

const rows = [['package', 'up front', 'in one file', 'on a server']];
for (const [name, code] of Object.entries(programs)) {
  const folder = name === 'postreel' ? repository : join(repository, 'bench');
  const program = { name, code, folder };
  rows.push([
    `${name} ${versionOf(name)}`,
    kilobytes(await eagerSizeOf(program)),
    kilobytes(await sizeOf(program)),
    await onServer(program),
  ]);
}
rmSync(temporary, { recursive: true });
const [head = [], ...body] = rows;
const table = [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`);
console.log(`${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, gzip -9\n`);
console.log(table.join('\n'));
