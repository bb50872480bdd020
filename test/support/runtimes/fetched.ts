import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../package/installed.js';

const execute = promisify(execFile);

/** A runtime of one version, as the npm registry has it. */
export interface FetchedRuntime {
  readonly name: string;
  readonly version: string;
  readonly package: string;
  /** Where the program lies in the package. */
  readonly program: string;
  readonly args: readonly string[];
}

/** The program of a runtime, installed once for all runs; or why it cannot be had here. */
export async function fetchRuntime(
  runtime: FetchedRuntime,
): Promise<{ command: string } | { missing: string }> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { missing: `its package is for Linux on x64, not ${process.platform} ${process.arch}` };
  }
  const { name, version, package: wanted, program } = runtime;
  const folder = join(repository, 'node_modules/.cache/runtimes', `${name}-${version}`);
  const command = join(folder, 'node_modules', wanted, program);
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
