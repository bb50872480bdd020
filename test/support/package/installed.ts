import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stage } from '../../../scripts/pack.js';

const execute = promisify(execFile);
export const repository = fileURLToPath(new URL('../../..', import.meta.url));

export interface Manifest {
  readonly name: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { optional?: boolean }>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, EntryPoint | string>>;
  readonly typesVersions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}
type EntryPoint = Readonly<Record<'import' | 'require', { types: string; default: string }>>;

export const manifest = JSON.parse(
  readFileSync(join(repository, 'package.json'), 'utf8'),
) as Manifest; // as: our own package.json

/** The entry points as users import them: `postreel`, `postreel/messaging`, … */
export const entryPoints = Object.entries(manifest.exports)
  .filter(([, entryPoint]) => typeof entryPoint !== 'string')
  .map(([path]) => `${manifest.name}${path.slice(1)}`);

/** A user's project, with the package installed as npm would unpack it. */
export interface Project {
  readonly folder: string;
  /** The folder of the package. */
  readonly package: string;
  /** Writes a file, and returns its path. */
  write(name: string, text: string): Promise<string>;
  /** Runs a program in the project until it ends by itself, and returns its output. */
  run(command: string, args: readonly string[], env?: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

/** The other packages of the project, all from this repository's node_modules. */
interface Neighbours {
  /** More packages, e.g. an optional peer. */
  readonly with?: readonly string[];
  /**
   * Whether the dependencies are below the package, as with pnpm, where the project cannot import
   * them.
   */
  readonly isStrict?: boolean;
}

/** Installs the package in a new project, as npm would, and links its dependencies. */
export async function installPackage(neighbours: Neighbours = {}): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), 'postreel-'));
  const target = join(folder, 'node_modules', manifest.name);
  mkdirSync(target, { recursive: true });
  stage(target);
  const own = Object.keys(manifest.dependencies);
  const others = neighbours.with ?? [];
  await Promise.all(own.map((name) => link(neighbours.isStrict ? target : folder, name)));
  await Promise.all(others.map((name) => link(folder, name)));
  const installed = [manifest.name, ...(neighbours.isStrict ? [] : own), ...others];
  const dependencies = Object.fromEntries(installed.map((name) => [name, '*']));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));

  return {
    folder,
    package: target,
    async write(name, text) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
      return join(folder, name);
    },
    async run(command, args, env = {}) {
      const options = { cwd: folder, timeout: 25_000, env: { ...process.env, ...env } };
      return (await execute(command, [...args], options)).stdout;
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

export interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly PackedFile[];
}

/** The files that `npm pack` would put into the tarball. */
export async function dryPack(): Promise<Packed> {
  const folder = mkdtempSync(join(tmpdir(), 'postreel-'));
  stage(folder);
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await execute('npm', args, options);
  await rm(folder, { recursive: true });
  const [packed] = JSON.parse(stdout) as [Packed]; // as: npm's documented output
  return packed;
}

async function link(folder: string, name: string): Promise<void> {
  const from = join(repository, 'node_modules', name);
  if (!existsSync(from)) {
    throw new Error(`${name} is not installed: run npm ci.`);
  }
  const to = join(folder, 'node_modules', name);
  mkdirSync(dirname(to), { recursive: true });
  await symlink(from, to);
}
