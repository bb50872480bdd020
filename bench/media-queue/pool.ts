import { MediaClient, MediaPool, memoryJournal, type VideoJob } from 'postreel';
import { createClock, createFakeMedia } from 'postreel/testing';
import { randomFrom } from '../rate-limit/random.js';

/** How a pool of keys is run. */
export interface PoolScene {
  readonly keys: number;
  readonly jobs: number;
  /** How many times the process dies and another one begins with the whole list. */
  readonly kills: number;
  readonly seed: number;
}

/** What a run of a pool came to. */
export interface PoolRun {
  /** The time to the last file over the least time possible. */
  readonly ratio: number;
  /** Jobs that were paid for more than once, and jobs without a file. */
  readonly twice: number;
  readonly lost: number;
  readonly refused: number;
}

const minuteMs = 60_000;

/** Makes videos with several keys, each of a service of its own. The caller moves the clock. */
export async function simulatePool({
  keys,
  jobs: count,
  kills,
  seed,
}: PoolScene): Promise<PoolRun> {
  const random = randomFrom(seed);
  const timesMs: number[] = [];
  const jobs = Array.from({ length: count }, (_, index): VideoJob => {
    const duration = 1.5 + 3 * random();
    timesMs.push(duration * 100_000 * (0.8 + 0.4 * random()));
    const prompt = String(index);
    return { workflowType: 'idea', workflowFormat: 'video', voiceId: 'voice_1', duration, prompt };
  });
  const fakes = Array.from({ length: keys }, (_, key) =>
    createFakeMedia({
      baseUrl: `https://pool-${seed}-${key}.fake`,
      clock: createClock({ now: () => Date.now() }),
      durations: ({ settings }) => timesMs[Number(settings['prompt'])] ?? minuteMs,
      rateLimit: { headers: 'none' },
    }),
  );
  const journal = memoryJournal();
  const run = Math.random();
  const open = () =>
    new MediaPool(
      fakes.map(
        ({ apiKey, baseUrl, fetch }, key) =>
          new MediaClient({
            apiKey,
            baseUrl,
            fetch,
            journal,
            rateLimit: { group: `pool ${run} ${key}` },
            validation: { responses: 'off' },
          }),
      ),
    );
  const startedAt = Date.now();
  const boundMs = Math.max(sum(timesMs) / (20 * keys), ...timesMs);
  const saved = new Set<string>();
  for (let life = 0; life <= kills; life++) {
    const dies = life < kills ? abortAfter((boundMs / (kills + 1)) * (0.5 + random())) : undefined;
    await oneLife(open(), jobs, saved, dies).catch((reason: unknown) => {
      if (!dies?.aborted) {
        throw reason;
      }
    });
  }
  const prompts = fakes.flatMap(({ files }) =>
    files.map(({ settings }) => String(settings['prompt'])),
  );
  return {
    ratio: (Date.now() - startedAt) / boundMs,
    twice: prompts.length - new Set(prompts).size,
    lost: count - saved.size,
    refused: fakes.flatMap(({ requests }) => requests).filter(({ status }) => status === 429)
      .length,
  };
}

async function oneLife(
  pool: MediaPool,
  jobs: readonly VideoJob[],
  saved: Set<string>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const options = { name: 'pool', key: (job: object) => (job as VideoJob).prompt ?? '', signal };
  for await (const { error, input } of pool.queue(jobs, options)) {
    if (error !== undefined) {
      throw new Error('a job failed', { cause: error });
    }
    saved.add((input as VideoJob).prompt ?? ''); // all jobs are videos
  }
}

// `AbortSignal.timeout` goes by the real clock.
function abortAfter(delayMs: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), delayMs);
  return controller.signal;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
