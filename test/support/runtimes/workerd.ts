import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { build } from 'esbuild';
import { repository } from '../package/installed.js';
import { authorityFile } from './faults.js';

/** A worker that listens on this machine. */
export interface RunningWorker {
  readonly url: string;
  stop(): Promise<void>;
}

interface WorkerOptions {
  /** The file in this folder that exports the worker. */
  readonly entry: string;
  readonly compatibilityDate: string;
}

/** Bundles a worker that uses the built package, and runs it in workerd, Cloudflare's runtime. */
export async function startWorker(
  folder: string,
  { entry, compatibilityDate }: WorkerOptions,
): Promise<RunningWorker> {
  await build({
    entryPoints: [join(repository, 'test/support/runtimes', entry)],
    outfile: join(folder, 'worker.mjs'),
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'import'],
    alias: { postreel: join(repository, 'dist/esm/index.js') },
    logLevel: 'error',
  });
  await copyFile(authorityFile, join(folder, 'authority.pem'));
  await writeFile(join(folder, 'config.capnp'), configuration(compatibilityDate));
  const child = spawn(program(), ['serve', join(folder, 'config.capnp'), '--control-fd=3'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const [line] = (await once(child.stdio[3] as Readable, 'data')) as [Buffer]; // as: the pipe above
  const { port } = JSON.parse(line.toString()) as { port: number }; // as: {"event":"listen",…}
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/**
 * The path of workerd. The script in `.bin` starts it without the fourth stream, unless the package's
 * install script has run, which `npm ci` skips.
 */
function program(): string {
  const cpu = process.arch === 'x64' ? '64' : process.arch;
  const name = `@cloudflare/workerd-${process.platform}-${cpu}/bin/workerd`;
  return createRequire(join(repository, 'node_modules/workerd/package.json')).resolve(name);
}

function configuration(compatibilityDate: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "network", network = (
      allow = ["public", "private", "local"],
      tlsOptions = (trustedCertificates = [embed "authority.pem"]),
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "${compatibilityDate}",
  globalOutbound = "network",
);
`;
}
