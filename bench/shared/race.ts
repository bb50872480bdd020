import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { randomFrom } from '../rate-limit/random.js';
import type { Limits, ServerKind } from '../rate-limit/servers.js';
import { startService } from './service.js';

/** The task of each process. */
export interface Task extends Limits {
  readonly limiter:
    'postreel on Redis' | 'postreel on Postgres' | 'bottleneck' | 'rate-limiter-flexible';
  /** The default isolation of the connections to Postgres. */
  readonly isolation?: string | undefined;
  /** The error of the process's wall clock. */
  readonly skewMs?: number | undefined;
  /** The address of Redis or Postgres. */
  readonly store: string;
  /** The address of the service. */
  readonly service: string;
}

/** The settings of a race. */
export interface Race extends Omit<Task, 'service' | 'skewMs'> {
  /** The error of the first process's clock. */
  readonly firstSkewMs?: number | undefined;
  readonly server: ServerKind;
  readonly windows: number;
  /** The number of processes that are killed and replaced during the race. */
  readonly kills: number;
}

/** The result of a race. */
export interface RaceResult {
  readonly refused: number;
  /** The used share of the requests that the service would have accepted, from 0 to 1. */
  readonly used: number;
}

const processes = 4;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Four processes send as fast as their shared limit allows; some are killed with SIGKILL. */
export async function race({
  server,
  windows,
  kills,
  firstSkewMs,
  ...task
}: Race): Promise<RaceResult> {
  const service = await startService(server, task);
  const worker = await bundleWorker();
  const all: ChildProcess[] = [];
  const start = (index: number) => {
    const skewMs = index === 0 ? firstSkewMs : undefined;
    return startProcess(worker.file, { ...task, skewMs, service: service.url }, all);
  };
  const running = await Promise.all(Array.from({ length: processes }, (_, index) => start(index)));
  const replacements: Promise<void>[] = [];
  try {
    service.start();
    const durationMs = windows * task.windowMs;
    const startedAt = performance.now();
    running.forEach(go);
    for (const at of killTimes(kills, durationMs)) {
      await until(startedAt + at);
      const victim = Math.floor(Math.random() * processes);
      running[victim]?.kill('SIGKILL');
      const replaced = start(victim).then((child) => {
        running[victim] = child;
        go(child);
      });
      replacements.push(replaced);
    }
    // The end of a sliding window is exclusive: a request at that moment belongs to the next one.
    await until(startedAt + durationMs - 1);
    const { taken, refused } = service;
    return { refused, used: taken / (task.limit * windows) };
  } finally {
    await Promise.all(replacements);
    await Promise.all(all.map(end));
    await service.close();
    await worker.remove();
  }
}

function killTimes(kills: number, durationMs: number): number[] {
  const random = randomFrom(kills);
  return Array.from({ length: kills }, () => random() * durationMs * 0.9).sort((a, b) => a - b);
}

async function bundleWorker(): Promise<{ file: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(root, 'node_modules', '.race-'));
  const file = join(folder, 'worker.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    alias: {
      postreel: join(root, 'src/index.ts'),
      'postreel/redis': join(root, 'src/redis/index.ts'),
      'postreel/postgres': join(root, 'src/postgres/index.ts'),
    },
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}

function startProcess(file: string, task: Task, all: ChildProcess[]): Promise<ChildProcess> {
  const child = fork(file, [JSON.stringify(task)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  all.push(child);
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('error', reject);
    child.once('exit', (code) => {
      reject(new Error(`A process ended with code ${String(code)}.`));
    });
  });
}

function go(child: ChildProcess): void {
  if (child.connected) {
    child.send('go');
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

function until(time: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, time - performance.now())));
}
