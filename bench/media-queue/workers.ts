import { MediaClient, memoryJournal, type VideoJob } from 'postreel';
import { createClock, createFakeMedia } from 'postreel/testing';
import { randomFrom } from '../rate-limit/random.js';
import { MemoryBudget } from '../workers/memory-budget.js';

const minuteMs = 60_000;

/** How workers of one key share a list of jobs. */
export interface Scene {
  readonly workers: number;
  readonly jobs: number;
  readonly kills: number;
  readonly seed: number;
  /** How many jobs a worker has in hand: more than there are slots, so that calls are full. */
  readonly inHand: number;
  /** Is each worker a `media.queue()` over the whole list, or a worker of an engine? */
  readonly way: 'queue' | 'engine';
}

/** Workers of one key over one journal and one store of slots and calls. The caller moves the clock. */
export async function simulateWorkers({ workers, jobs: count, kills, seed, inHand, way }: Scene) {
  const random = randomFrom(seed);
  const timesMs = Array.from({ length: count }, () => (3 + 5 * random()) * minuteMs);
  const boundMs = Math.max(timesMs.reduce((sum, time) => sum + time, 0) / 20, ...timesMs);
  const fake = createFakeMedia({
    baseUrl: `https://workers-${seed}-${Math.random()}.fake`,
    clock: createClock({ now: () => Date.now() }),
    durations: ({ settings }) => timesMs[Number(settings['prompt'])] ?? minuteMs,
    queueTime: 0,
    rateLimit: { headers: 'none' },
  });
  const budget = new MemoryBudget();
  const journal = memoryJournal();
  const jobs = timesMs.map((_, index): VideoJob => {
    return {
      workflowType: 'idea',
      workflowFormat: 'video',
      voiceId: 'voice_1',
      prompt: `${index}`,
    };
  });
  /** The engine: jobs that nobody has; those of a dead worker come back two minutes later. */
  const free = [...jobs];
  const saved = new Set<string>();
  let born = 0;
  const start = (): (() => void) => {
    const death = new AbortController();
    // A key of its own: in a process of its own it would know nothing of the others either.
    const apiKey = `media_worker_${++born}`;
    fake.apiKeys.add(apiKey);
    const { baseUrl, fetch } = fake;
    const deadFetch: typeof fetch = (input, init) =>
      death.signal.aborted ? new Promise(() => undefined) : fetch(input, init);
    const rateLimit = { store: oneGroup(budget) };
    const options = { apiKey, baseUrl, fetch: deadFetch, journal, rateLimit };
    const media = new MediaClient({ ...options, validation: { responses: 'off' } });
    if (way === 'queue') {
      void (async () => {
        const save = (_: object, { input }: { input: object }) =>
          Promise.resolve(saved.add((input as VideoJob).prompt ?? ''));
        const terms = { name: 'crew', save, signal: death.signal };
        for await (const { error } of media.queue(jobs, terms)) {
          if (error !== undefined && !death.signal.aborted) {
            console.log(error);
          }
        }
      })().catch(() => undefined);
    } else {
      const one = async () => {
        for (
          let job = free.shift();
          !death.signal.aborted && saved.size < count;
          job = free.shift()
        ) {
          if (!job) {
            await new Promise((resolve) => setTimeout(resolve, 1_000));
            continue;
          }
          const { signal } = death;
          try {
            const made = await media.generate.video(job, { once: job.prompt as string, signal });
            await made.waitForFile({ signal, timeout: Infinity });
            saved.add(job.prompt as string);
          } catch (error) {
            if (!signal.aborted) {
              console.log(error);
            }
            const again = job;
            setTimeout(() => free.unshift(again), 2 * minuteMs);
          }
        }
      };
      Array.from({ length: inHand }, () => void one());
    }
    return () => death.abort();
  };
  const startedAt = Date.now();
  const running = Array.from({ length: workers }, start);
  const deaths = Array.from({ length: kills }, () => random() * boundMs * 0.9).sort(
    (a, b) => a - b,
  );
  while (saved.size < count && Date.now() - startedAt < 10 * boundMs) {
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    if (deaths[0] !== undefined && Date.now() - startedAt >= deaths[0]) {
      deaths.shift();
      const victim = Math.floor(random() * workers);
      running[victim]?.();
      running[victim] = start();
    }
  }
  if (process.env['SHOW']) {
    console.log(
      fake.requests
        .filter(({ method }) => method === 'POST')
        .map(
          ({ at, status, apiKey }: any) =>
            `${Math.round((at - startedAt) / 1000)}s ${status} ${apiKey ?? ''} ${fake.files.filter((f) => Math.abs(f.acceptedAt - at) < 500).length}`,
        )
        .join('\n'),
      saved.size,
      free.length,
    );
  }
  const ratio = (Date.now() - startedAt) / boundMs;
  running.forEach((stop) => stop());
  const made = fake.files.map(({ settings }) => String(settings['prompt']));
  return {
    ratio,
    twice: made.length - new Set(made).size,
    missing: count - saved.size,
    refused: fake.requests.filter(({ status }) => status === 429).length,
    calls: fake.requests.filter(({ method }) => method === 'POST').length,
    checks: fake.requests.filter(({ method }) => method === 'GET').length,
  };
}

function oneGroup(store: MemoryBudget) {
  return {
    take: (_: string, limits: never, leaseMs: number) => store.take('all', limits, leaseMs),
    release: (_: string, slot: string, limits: never) => store.release('all', slot, limits),
    cancel: (_: string, slot: string) => store.cancel('all', slot),
    close: (_: string, delayMs: number) => store.close('all', delayMs),
    lease: (_: string, count: number, limit: number, leaseMs: number) =>
      store.lease('all', count, limit, leaseMs),
    hold: (_: string, names: readonly string[], leaseMs: number, instead: readonly string[]) =>
      store.hold('all', names, leaseMs, instead),
    giveBack: (_: string, places: readonly string[]) => store.giveBack('all', places),
  };
}
