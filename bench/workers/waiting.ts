import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeServer } from '../../src/testing/index.js';
import { bundleWorker, end, root, startWorker, video, type WorkerTask } from './crew.js';
import { bullmqEngine, pgBossEngine } from './engines.js';

/** How a worker begins when many jobs are waiting. */
export interface Beginning {
  /**
   * From the start of its process, and from its first line of code, to its first call, in seconds.
   */
  readonly fromStartS: number;
  readonly fromReadyS: number;
  /** The peak memory of its process in the first ten seconds, in megabytes. */
  readonly maxMb: number;
}

const watchMs = 10_000;
const maxMs = 60_000;

/** Starts one worker, in real time, at a queue of this length. */
export async function measureBeginning(
  engine: WorkerTask['engine'],
  waiting: number,
): Promise<Beginning> {
  const queues = ['videos'];
  const parts = await (engine === 'bullmq' ? bullmqEngine(queues) : pgBossEngine(queues, 3_600));
  const server = await startFakeServer({ media: { rateLimit: { headers: 'none' } } });
  const folder = await mkdtemp(join(root, 'node_modules', '.crew-'));
  const all: Parameters<typeof startWorker>[2] = [];
  try {
    await parts.add(Array.from({ length: waiting }, (_, index) => video(index)));
    const file = await bundleWorker(folder);
    const task: WorkerTask = {
      engine,
      queues,
      store: parts.store,
      service: server.mediaUrl,
      apiKey: server.media.apiKey,
      limit: 10,
      windowMs: 600_000,
      speed: 1,
      stored: join(folder, 'stored'),
      lockMs: 120_000,
    };
    const startedAt = performance.now();
    const child = await startWorker(file, task, all);
    const readyAt = performance.now();
    while (server.media.files.length === 0 && performance.now() - startedAt < maxMs) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const at = performance.now();
    await new Promise((resolve) => setTimeout(resolve, watchMs));
    return {
      fromStartS: seconds(at - startedAt),
      fromReadyS: seconds(at - readyAt),
      maxMb: await maxMemory(child.pid),
    };
  } finally {
    await Promise.all(all.map(end));
    await server.close();
    await parts.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

// Linux records the peak memory of a process.
async function maxMemory(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}

function seconds(ms: number): number {
  return Number((ms / 1_000).toFixed(2));
}
