import { MediaClient, memoryJournal, type VideoJob } from 'postreel';
import { bullmqProcessor } from 'postreel/bullmq';
import { createClock, createFakeMedia } from 'postreel/testing';
import { memoryStore } from '../../test/support/transport/memory-store.js';
import { randomFrom } from '../rate-limit/random.js';

/** The settings of a run on virtual time. */
export interface VirtualCrew {
  readonly workers: number;
  /** The number of jobs that each worker runs at the same time. */
  readonly inHand: number;
  readonly jobs: number;
  /** The number of workers that die during the run; each is replaced. */
  readonly kills: number;
  /** How long the jobs of a dead worker stay leased, in minutes. */
  readonly leaseMinutes: number;
  readonly seed: number;
}

/** The result of a run. */
export interface VirtualResult {
  /** The time to the last file, divided by the least time possible. */
  readonly ratio: number;
  readonly twice: number;
  readonly missing: number;
  /** Jobs whose worker died after sending their call and before reading its response. */
  readonly unknown: number;
  readonly refused: number;
  readonly calls: number;
  /** The number of status checks. */
  readonly checks: number;
}

const minuteMs = 60_000;

/** Runs work for a live worker; never resolves for a dead one. */
type Alive = <T>(work: () => Promise<T>) => Promise<T>;

/** Workers with one key take jobs from one engine. The caller advances the clock. */
export async function virtualCrew(scene: VirtualCrew): Promise<VirtualResult> {
  const { workers, inHand, jobs: count, kills, leaseMinutes, seed } = scene;
  const random = randomFrom(seed);
  const timesMs = Array.from({ length: count }, () => (3 + 5 * random()) * minuteMs);
  const boundMs = Math.max(timesMs.reduce((sum, time) => sum + time, 0) / 20, ...timesMs);
  const fake = createFakeMedia({
    baseUrl: `https://crew-${seed}-${Math.random()}.fake`,
    clock: createClock({ now: () => Date.now() }),
    durations: ({ settings }) => timesMs[Number(settings['prompt'])] ?? minuteMs,
    queueTime: 0,
    rateLimit: { headers: 'none' },
  });
  /** The engine's waiting jobs. Those of a dead worker come back when its lease is over. */
  const waiting = timesMs.map((_, index) => jobOf(index));
  const { store } = memoryStore();
  const journal = memoryJournal();
  const saved = new Set<string>();
  const failed = new Map<string, string>();
  let born = 0;
  const start = (): (() => void) => {
    const death = new AbortController();
    // A separate key: a worker in another process would not know the other workers either.
    const apiKey = `media_worker_${++born}`;
    fake.apiKeys.add(apiKey);
    // After its death, a worker's operations never resolve.
    const runIfAlive: Alive = (work) =>
      death.signal.aborted ? new Promise(() => undefined) : work();
    const media = new MediaClient({
      apiKey,
      baseUrl: fake.baseUrl,
      fetch: (input, init) => runIfAlive(() => fake.fetch(input, init)),
      journal: onlyWhile(runIfAlive, journal),
      rateLimit: { store: onlyWhile(runIfAlive, store) },
      validation: { responses: 'off' },
    });
    const make = bullmqProcessor(media, {
      save: (_, { id }) => Promise.resolve(saved.add(id ?? '')),
    });
    const takeJobs = async () => {
      for (;;) {
        const job = death.signal.aborted ? undefined : waiting.shift();
        if (job) {
          const back = () => setTimeout(() => void waiting.unshift(job), leaseMinutes * minuteMs);
          death.signal.addEventListener('abort', back);
          await make(job).catch((error: unknown) => failed.set(job.id, String(error)));
          death.signal.removeEventListener('abort', back);
        } else {
          await new Promise((resolve) => setTimeout(resolve, 1_000));
        }
      }
    };
    for (let hand = 0; hand < inHand; hand++) {
      void takeJobs();
    }
    return () => death.abort();
  };
  const startedAt = Date.now();
  const running = Array.from({ length: workers }, start);
  const deaths = Array.from({ length: kills }, () => random() * boundMs * 0.9).sort(
    (a, b) => a - b,
  );
  while (saved.size + failed.size < count && Date.now() - startedAt < 10 * boundMs) {
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    if (deaths[0] !== undefined && Date.now() - startedAt >= deaths[0]) {
      deaths.shift();
      const victim = Math.floor(random() * workers);
      running[victim]?.();
      running[victim] = start();
    }
  }
  const ratio = (Date.now() - startedAt) / boundMs;
  running.forEach((stop) => stop());
  const made = fake.files.map(({ settings }) => String(settings['prompt']));
  return {
    ratio,
    twice: made.length - new Set(made).size,
    missing: count - saved.size - failed.size,
    unknown: failed.size,
    refused: fake.requests.filter(({ status }) => status === 429).length,
    calls: fake.requests.filter(({ method }) => method === 'POST').length,
    checks: fake.requests.filter(({ method }) => method === 'GET').length,
  };
}

/** A store whose methods work only for live workers. */
function onlyWhile<Store extends object>(alive: Alive, store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      return typeof method === 'function'
        ? (...args: unknown[]) => alive(async () => (await method.apply(target, args)) as unknown)
        : method;
    },
  });
}

/** A job as BullMQ passes it to a processor. */
function jobOf(index: number) {
  const data: VideoJob = { workflowType: 'idea', voiceId: 'voice_1', prompt: String(index) };
  return {
    id: String(index),
    data,
    prefix: 'bull',
    queueName: 'videos',
    timestamp: 0,
    attemptsMade: 0,
    moveToWait: () => Promise.resolve(),
    moveToDelayed: () => Promise.resolve(),
  };
}
