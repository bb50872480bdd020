import {
  MediaClient,
  memoryJournal,
  type AcknowledgingSource,
  type SourceItem,
  type VideoJob,
} from 'postreel';
import { createClock, createFakeMedia } from 'postreel/testing';
import { randomFrom } from '../rate-limit/random.js';
import { memoryStore } from '../../test/support/transport/memory-store.js';
import { LeasedList } from './leased-list.js';

/** How a crew on virtual time is run. */
export interface VirtualCrew {
  readonly workers: number;
  readonly jobs: number;
  /** How many workers die on the way; another takes the place of each. */
  readonly kills: number;
  /** How long the jobs of a dead worker stay with it, in minutes. */
  readonly leaseMinutes: number;
  readonly seed: number;
}

/** What came of it. */
export interface VirtualResult {
  /** The time to the last file over the least time possible. */
  readonly ratio: number;
  readonly twice: number;
  readonly missing: number;
  readonly refused: number;
  readonly calls: number;
  /** Status checks. */
  readonly checks: number;
}

const minuteMs = 60_000;

/** Workers of one key take jobs from one engine. The caller moves the clock. */
export async function virtualCrew(scene: VirtualCrew): Promise<VirtualResult> {
  const { workers, jobs: count, kills, leaseMinutes, seed } = scene;
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
  const list = new LeasedList(
    timesMs.map((_, index) => item(index)),
    leaseMinutes * minuteMs,
  );
  const { store } = memoryStore();
  const journal = memoryJournal();
  const saved = new Set<string>();
  let born = 0;
  const start = (): (() => void) => {
    const death = new AbortController();
    const source = list.open(death.signal);
    // A key of its own: in a process of its own it would know nothing of the others either.
    const apiKey = `media_worker_${++born}`;
    fake.apiKeys.add(apiKey);
    const rateLimit = { store };
    const { baseUrl, fetch } = fake;
    const options = { apiKey, baseUrl, fetch, journal, rateLimit };
    const media = new MediaClient({ ...options, validation: { responses: 'off' } });
    void work(media, source, { saved, signal: death.signal });
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

async function work(
  media: MediaClient,
  source: AcknowledgingSource,
  { saved, signal }: { readonly saved: Set<string>; readonly signal: AbortSignal },
): Promise<void> {
  const save = (_: object, { input }: { input: object }) => {
    saved.add((input as VideoJob).prompt ?? ''); // all jobs are videos
    return Promise.resolve();
  };
  try {
    for await (const { error } of media.queue(source, { save, signal })) {
      if (error !== undefined && !signal.aborted) {
        console.log(error);
      }
    }
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  }
}

function item(index: number): SourceItem {
  const prompt = String(index);
  const job = {
    workflowType: 'idea',
    workflowFormat: 'video',
    voiceId: 'voice_1',
    prompt,
  } as const;
  return { id: prompt, job };
}
