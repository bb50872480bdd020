import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { VideoJob } from '../../src/index.js';
import { startFakeServer } from '../../src/testing/index.js';
import { randomFrom } from '../rate-limit/random.js';
import { bullmqEngine, pgBossEngine, queueName } from './engines.js';

/** What each worker does. */
export interface WorkerTask {
  readonly engine: 'bullmq' | 'pg-boss';
  readonly queue: string;
  readonly store: string;
  readonly service: string;
  readonly apiKey: string;
  readonly limit: number;
  readonly windowMs: number;
  /** How many times faster than the real time the worker's own time runs. */
  readonly speed: number;
  /** The file where a line is written for each job that is stored. */
  readonly stored: string;
  readonly lockMs: number;
}

/** How a crew of three workers is run. */
export interface Crew {
  readonly engine: WorkerTask['engine'];
  readonly jobs: number;
  readonly speed: number;
  readonly kills: number;
  /** How many answers of the service are lost. */
  readonly lost: number;
  readonly restarts: number;
}

/** What came of it. */
export interface CrewResult {
  /** Jobs that the service made more than once. */
  readonly twice: number;
  /** Jobs that are neither stored nor in the second queue. */
  readonly missing: number;
  readonly unknown: number;
  readonly refused: number;
  /** The time to the last job over the least time possible. */
  readonly ratio: number;
}

const workers = 3;
/** From then on the workers' time runs fast. */
const begunAt = String(Date.now());
/** The folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Three workers make the jobs of one engine; some are killed, and the store restarts. */
export async function crew({
  engine,
  jobs: count,
  speed,
  kills,
  lost,
  restarts,
}: Crew): Promise<CrewResult> {
  const random = randomFrom(count + kills);
  // Three to eight minutes, as fast as the workers' time runs.
  const times = Array.from({ length: count }, () => ((3 + 5 * random()) * 60_000) / speed);
  const boundMs = Math.max(times.reduce((sum, time) => sum + time, 0) / 20, ...times);
  const lockMs = 3_000;
  const parts =
    engine === 'bullmq' ? await bullmqEngine() : await pgBossEngine(leaseSeconds(speed));
  const limits = { limit: 10, windowMs: 600_000 / speed };
  const server = await startFakeServer({
    media: {
      rateLimit: { ...limits, headers: 'none' },
      durations: ({ settings }) => times[Number(settings['prompt'])] ?? 1,
      queueTime: 0,
    },
  });
  const folder = await mkdtemp(join(root, 'node_modules', '.crew-'));
  const task: WorkerTask = {
    engine,
    queue: queueName,
    store: parts.store,
    service: server.mediaUrl,
    apiKey: server.media.apiKey,
    ...limits,
    speed,
    stored: join(folder, 'stored'),
    lockMs,
  };
  const all: ChildProcess[] = [];
  const file = await bundleWorker(folder);
  const start = () => startWorker(file, task, all);
  try {
    await parts.add(times.map((_, index) => video(index)));
    for (let lostAnswers = 0; lostAnswers < lost; lostAnswers++) {
      const path = 'POST /v1/generate/video';
      setTimeout(() => server.media.fail(path, { loseAnswer: true }), boundMs * random());
    }
    const running = await Promise.all(Array.from({ length: workers }, start));
    const startedAt = performance.now();
    const events = [
      ...Array.from({ length: kills }, () => ({ at: random() * boundMs * 0.9, type: 'kill' })),
      ...Array.from({ length: restarts }, () => ({
        at: random() * boundMs * 0.9,
        type: 'restart',
      })),
    ].sort((one, other) => one.at - other.at);
    let isOver = false;
    while (!isOver && performance.now() - startedAt < 2 * boundMs) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      const due = events[0] !== undefined && events[0].at <= performance.now() - startedAt;
      const event = due ? events.shift() : undefined;
      if (event?.type === 'kill') {
        const victim = Math.floor(random() * workers);
        running[victim]?.kill('SIGKILL');
        running[victim] = await start();
      } else if (event) {
        await parts.restart();
      }
      await parts.supervise().catch(() => undefined); // while the store restarts
      const unknown = await parts.unknown().catch(() => []);
      isOver =
        events.length === 0 && new Set([...(await storedIn(task)), ...unknown]).size >= count;
    }
    const tookMs = performance.now() - startedAt;
    const unknown = await parts.unknown();
    const done = new Set([...(await storedIn(task)), ...unknown]);
    const made = server.media.files.map(({ settings }) => String(settings['prompt']));
    return {
      twice: made.length - new Set(made).size,
      missing: count - done.size,
      unknown: new Set(unknown).size,
      refused: server.media.requests.filter(({ status }) => status === 429).length,
      ratio: tookMs / boundMs,
    };
  } finally {
    await Promise.all(all.map(end));
    await server.close();
    await parts.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

// Above the longest job and its wait: 120 jobs are in hand, at 220 an hour.
function leaseSeconds(speed: number): number {
  return Math.ceil((60 * 60) / speed);
}

/** The job whose prompt is its number. */
export function video(index: number): VideoJob {
  const prompt = String(index);
  return { workflowType: 'idea', workflowFormat: 'video', voiceId: 'voice_1', prompt };
}

async function storedIn({ stored }: WorkerTask): Promise<string[]> {
  const text = await readFile(stored, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => line.split(' ')[0] || []);
}

/** Bundles the worker with the sources, as a file to run. */
export async function bundleWorker(folder: string): Promise<string> {
  const outfile = join(folder, 'worker.mjs');
  const doors = ['bullmq', 'pg-boss', 'postgres', 'redis'];
  await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    alias: {
      ...Object.fromEntries(
        doors.map((door) => [`postreel/${door}`, join(root, `src/${door}/index.ts`)]),
      ),
      postreel: join(root, 'src/index.ts'),
    },
  });
  return outfile;
}

/** Starts a worker; resolves once it is ready. */
export function startWorker(
  file: string,
  task: WorkerTask,
  all: ChildProcess[],
): Promise<ChildProcess> {
  const preload = join(root, 'test/support/node/fast-clock.mjs');
  const child = fork(file, [JSON.stringify(task)], {
    execArgv: ['--import', preload],
    env: { ...process.env, SPEED: String(task.speed), SPEED_SINCE: begunAt },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  all.push(child);
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message !== 'ready' && process.env['VERBOSE']) {
        console.log(message);
      }
    });
    child.once('message', () => resolve(child));
    child.once('exit', () => resolve(child)); // the store may be down: the next kill replaces it
  });
}

/** Kills a process, and waits for its end. */
export function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
