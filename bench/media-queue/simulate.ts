import { MediaClient, type VideoJob } from 'postreel';
import { createClock, createFakeMedia } from 'postreel/testing';

/** A way to make many videos. */
export type Policy = (media: MediaClient, jobs: readonly VideoJob[]) => Promise<void>;

/** The result of running a policy. */
export interface Run {
  /** The time to the last file, divided by the least time possible. */
  readonly ratio: number;
  readonly minutes: number;
  readonly calls: number;
  /** The number of calls that the service rejected because of a limit. */
  readonly refused: number;
  readonly maxPending: number;
  /** The largest number of calls in any ten minutes. */
  readonly maxCalls: number;
  /** The least time possible, in minutes. */
  readonly boundMinutes: number;
  /** When each video was accepted and finished, in minutes since the start. */
  readonly videos: readonly { readonly from: number; readonly to: number }[];
}

const minuteMs = 60_000;

/** Makes videos on the fake service. The caller advances the clock of the process. */
export async function simulate(policy: Policy, count: number, seed: number): Promise<Run> {
  const random = generator(seed);
  const jobs: VideoJob[] = [];
  const timesMs: number[] = [];
  for (let index = 0; index < count; index++) {
    const duration = 1.5 + 3 * random();
    jobs.push({
      workflowType: 'idea',
      workflowFormat: 'video',
      voiceId: 'voice_1',
      duration,
      prompt: String(index),
    });
    // Only the service knows how long a video takes: about 100 s a minute, give or take 20 %.
    timesMs.push(duration * 100_000 * (0.8 + 0.4 * random()));
  }
  const fake = createFakeMedia({
    clock: createClock({ now: () => Date.now() }),
    durations: ({ settings }) => timesMs[Number(settings['prompt'])] ?? minuteMs,
    rateLimit: { headers: 'none' },
  });
  const media = new MediaClient({
    apiKey: fake.apiKey,
    baseUrl: fake.baseUrl,
    fetch: fake.fetch,
    rateLimit: { group: `simulation ${count} ${seed} ${Math.random()}` },
    validation: { responses: 'off' },
  });
  let maxPending = 0;
  media.on('response', () => {
    const pending = fake.files.filter(
      ({ status }) => status === 'queued' || status === 'processing',
    );
    maxPending = Math.max(maxPending, pending.length);
  });
  const startedAt = Date.now();
  await policy(media, jobs);
  const tookMs = Date.now() - startedAt;
  const bound = Math.max(sum(timesMs) / 20, ...timesMs);
  const calls = fake.requests.filter(({ method }) => method === 'POST');
  const inWindow = calls.map(
    ({ at: from }) => calls.filter(({ at }) => at >= from && at < from + 10 * minuteMs).length,
  );
  return {
    maxPending,
    maxCalls: Math.max(...inWindow),
    ratio: tookMs / bound,
    minutes: tookMs / minuteMs,
    boundMinutes: bound / minuteMs,
    videos: fake.files.map(({ acceptedAt, finishesAt }) => ({
      from: (acceptedAt - startedAt) / minuteMs,
      to: (finishesAt - startedAt) / minuteMs,
    })),
    calls: calls.length,
    refused: fake.requests.filter(({ status }) => status === 429).length,
  };
}

/** The real `media.queue()`. */
export const queue: Policy = async (media, jobs) => {
  for await (const { error } of media.queue(jobs)) {
    if (error !== undefined) {
      throw new Error('a job failed', { cause: error });
    }
  }
};

/** Without a queue: every video is a separate call, and all start at the same time. */
export const plainCalls: Policy = async (media, jobs) => {
  await Promise.all(
    jobs.map(async (job) => {
      const handle = await media.generate.video(job);
      await handle.waitForFile({ timeout: Number.POSITIVE_INFINITY, interval: 10_000 });
    }),
  );
};

/** One job per call, as fast as the limits allow. */
export const oneJobACall: Policy = async (media, jobs) => {
  const running = new Set<Promise<unknown>>();
  for (const job of jobs) {
    while (running.size >= 20) {
      await Promise.race(running);
    }
    const [handle] = await media.generate.video({ payload: [job] });
    const wait = handle!.waitForFile({ interval: 10_000 }).finally(() => running.delete(wait));
    running.add(wait);
  }
  await Promise.all(running);
};

/** Twenty jobs per call, and the next twenty when all of them are finished. */
export const batchesOfTwenty: Policy = async (media, jobs) => {
  for (let start = 0; start < jobs.length; start += 20) {
    const handles = await media.generate.video({ payload: jobs.slice(start, start + 20) });
    await Promise.all(handles.map((handle) => handle.waitForFile({ interval: 10_000 })));
  }
};

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** A generator of the same pseudo-random numbers in every run. */
function generator(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
