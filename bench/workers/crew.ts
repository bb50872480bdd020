import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { VideoJob } from '../../src/index.js';
import { startFakeServer } from '../../src/testing/index.js';
import { randomFrom } from '../rate-limit/random.js';
import { bullmqEngine, pgBossEngine } from './engines.js';

/** The task of each worker. */
export interface WorkerTask {
  readonly engine: 'bullmq' | 'pg-boss';
  /** The names of the queues, all on one journal. */
  readonly queues: readonly string[];
  readonly store: string;
  readonly service: string;
  readonly apiKey: string;
  readonly limit: number;
  readonly windowMs: number;
  /** The factor by which the worker's clock runs faster than real time. */
  readonly speed: number;
  /** The file with one line for each stored job. */
  readonly stored: string;
  readonly lockMs: number;
}

/** The settings of a run with a crew of workers. */
export interface Crew {
  readonly engine: WorkerTask['engine'];
  /** The names of the queues, all on one journal. */
  readonly queues: readonly string[];
  readonly jobs: number;
  readonly speed: number;
  readonly kills: number;
  /** The number of lost responses. */
  readonly lost: number;
  readonly restarts: number;
  /** How often a worker is paused for longer than its jobs are locked, and then continues. */
  readonly pauses: number;
  /** The interval at which a worker is asked to end (SIGTERM) and replaced. */
  readonly stopEveryMs: number;
  /** The number of API keys, each with separate limits; the workers use them in turn. */
  readonly keys: number;
  readonly workers: number;
}

/** The result of a run. */
export interface CrewResult {
  /** Jobs that the service made more than once. */
  readonly twice: number;
  /** Jobs that are neither stored nor failed. */
  readonly missing: number;
  /** Jobs that failed because they may have been submitted. */
  readonly unknown: number;
  /** Jobs that the engine lists as failed although the service never made them. */
  readonly failedUnsent: number;
  /** Files that were stored for the wrong job. */
  readonly wrongFile: number;
  readonly refused: number;
  /** The time to the last job, divided by the least time possible. */
  readonly ratio: number;
}

/** The start of the workers' fast clock. */
const begunAt = String(Date.now());
/** The folder of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Workers make the jobs of one engine while faults happen. */
export async function runCrew(scene: Crew): Promise<CrewResult> {
  const { engine, queues, jobs: count, speed, lost, keys, workers } = scene;
  const random = randomFrom(count + scene.kills);
  // Three to eight minutes on the workers' clock.
  const times = Array.from({ length: count }, () => ((3 + 5 * random()) * 60_000) / speed);
  const slots = 20 * keys;
  const boundMs = Math.max(times.reduce((sum, time) => sum + time, 0) / slots, ...times);
  const lockMs = 3_000;
  const parts =
    engine === 'bullmq'
      ? await bullmqEngine(queues)
      : await pgBossEngine(queues, leaseSeconds(speed));
  const limits = { limit: 10, windowMs: 600_000 / speed };
  const server = await startFakeServer({
    media: {
      rateLimit: { ...limits, headers: 'none' },
      durations: ({ settings }) => times[Number(settings['prompt'])] ?? 1,
      queueTime: 0,
      pendingLimit: slots, // the fake is one account
    },
  });
  for (let key = 1; key < keys; key++) {
    server.media.apiKeys.add(keyOf(server.media.apiKey, key));
  }
  const folder = await mkdtemp(join(root, 'node_modules', '.crew-'));
  const task: WorkerTask = {
    engine,
    queues,
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
  try {
    await parts.add(times.map((_, index) => video(index)));
    for (let lostAnswers = 0; lostAnswers < lost; lostAnswers++) {
      const path = 'POST /v1/generate/video';
      setTimeout(() => server.media.fail(path, { loseAnswer: true }), boundMs * random());
    }
    const apiKeys = Array.from({ length: keys }, (_, key) => keyOf(task.apiKey, key));
    const team = new Team({ file, task, all, apiKeys, workers });
    await team.start();
    const startedAt = performance.now();
    const events = eventsOf(scene, boundMs, random);
    let stopAt = scene.stopEveryMs;
    // A job of a killed worker is found when its lease is over.
    const maxMs = 2 * boundMs + 3 * leaseMs(engine, speed, lockMs);
    let isOver = false;
    while (!isOver && performance.now() - startedAt < maxMs) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      const now = performance.now() - startedAt;
      const event = events[0] !== undefined && events[0].at <= now ? events.shift() : undefined;
      if (event?.type === 'restart') {
        await parts.restart();
      } else if (event?.type === 'kill') {
        team.kill(Math.floor(random() * workers));
      } else if (event?.type === 'pause') {
        team.pause(Math.floor(random() * workers), 1.2 * leaseMs(engine, speed, lockMs));
      }
      if (now >= stopAt) {
        stopAt += scene.stopEveryMs;
        team.askToStop();
      }
      await team.replaceEnded();
      await parts.supervise().catch(() => undefined); // while the store restarts
      const failed = (await parts.failed().catch(() => [])).map(({ prompt }) => prompt);
      const done = new Set([...(await readStored(task)).map(([prompt]) => prompt), ...failed]);
      isOver = events.length === 0 && done.size >= count;
    }
    const tookMs = performance.now() - startedAt;
    const stored = await readStored(task);
    const failed = await parts.failed();
    const done = new Set([...stored, ...failed.map(({ prompt }) => [prompt])].map(([one]) => one));
    const others = failed.filter(({ reason }) => !/may have/.test(reason));
    const madeAs = new Map(
      server.media.files.map(({ fileId, settings }) => [fileId, String(settings['prompt'])]),
    );
    const made = new Set(madeAs.values());
    const unsent = others.filter(({ prompt }) => !made.has(prompt));
    unsent.forEach(({ prompt, reason }) => console.log(`never sent: job ${prompt}, ${reason}`));
    return {
      twice: madeAs.size - made.size,
      missing: count - done.size,
      unknown: failed.length - others.length,
      failedUnsent: unsent.length,
      wrongFile: stored.filter(([prompt, fileId = '']) => madeAs.get(fileId) !== prompt).length,
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

function eventsOf({ kills, restarts, pauses }: Crew, boundMs: number, random: () => number) {
  const several = (type: 'kill' | 'restart' | 'pause', count: number) =>
    Array.from({ length: count }, () => ({ at: random() * boundMs * 0.9, type }));
  return [
    ...several('kill', kills),
    ...several('restart', restarts),
    ...several('pause', pauses),
  ].sort((one, other) => one.at - other.at);
}

function keyOf(apiKey: string, key: number): string {
  return key === 0 ? apiKey : `${apiKey}_${key}`;
}

interface TeamParts {
  readonly file: string;
  readonly task: WorkerTask;
  readonly all: ChildProcess[];
  readonly apiKeys: readonly string[];
  readonly workers: number;
}

/** The workers of a crew: each worker that ends is replaced by one with the same key. */
class Team {
  readonly #parts: TeamParts;
  #running: ChildProcess[] = [];
  #stopped = 0;

  constructor(parts: TeamParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const places = Array.from({ length: this.#parts.workers }, (_, place) => this.#begin(place));
    this.#running = await Promise.all(places);
  }

  kill(place: number): void {
    this.#running[place]?.kill('SIGKILL');
  }

  pause(place: number, ms: number): void {
    const child = this.#running[place];
    child?.kill('SIGSTOP');
    setTimeout(() => child?.kill('SIGCONT'), ms);
  }

  askToStop(): void {
    this.#running[this.#stopped++ % this.#parts.workers]?.kill('SIGTERM');
  }

  async replaceEnded(): Promise<void> {
    for (const [place, { exitCode, signalCode }] of this.#running.entries()) {
      if (exitCode !== null || signalCode !== null) {
        this.#running[place] = await this.#begin(place);
      }
    }
  }

  #begin(place: number): Promise<ChildProcess> {
    const { file, task, all, apiKeys } = this.#parts;
    const apiKey = apiKeys[place % apiKeys.length] ?? task.apiKey;
    return startWorker(file, { ...task, apiKey }, all);
  }
}

/** How long the engine waits for a silent worker before it gives its job to another one. */
function leaseMs(engine: Crew['engine'], speed: number, lockMs: number): number {
  return engine === 'bullmq' ? lockMs : leaseSeconds(speed) * 1_000;
}

// Longer than the longest job and its wait: 120 jobs are in progress for each key, at 220 an hour.
function leaseSeconds(speed: number): number {
  return Math.ceil((60 * 60) / speed);
}

/** The job whose prompt is its number. */
export function video(index: number): VideoJob {
  const prompt = String(index);
  return { workflowType: 'idea', workflowFormat: 'video', voiceId: 'voice_1', prompt };
}

/** The prompt and the file of each stored job. */
async function readStored({
  stored,
}: WorkerTask): Promise<(readonly [string, string | undefined])[]> {
  const text = await readFile(stored, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const [prompt, fileId] = line.split(' ');
    return prompt ? [[prompt, fileId] as const] : [];
  });
}

/** Bundles the worker with the sources into an executable file. */
export async function bundleWorker(folder: string): Promise<string> {
  const outfile = join(folder, 'worker.mjs');
  const entryPoints = ['bullmq', 'pg-boss', 'postgres', 'redis'];
  await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    alias: {
      ...Object.fromEntries(
        entryPoints.map((entryPoint) => [
          `postreel/${entryPoint}`,
          join(root, `src/${entryPoint}/index.ts`),
        ]),
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
    child.once('exit', () => resolve(child)); // the store may be down: the next kill replaces this worker
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
