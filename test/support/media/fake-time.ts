import { MediaClient, type AudioRequest, type MediaOptions, type VideoJob } from 'postreel';
import { createFakeMedia, type FakeMediaOptions } from 'postreel/testing';
import { afterEach, beforeAll, beforeEach, vi } from 'vitest';

/** Lets the tests of a file move time: the clients and the fake service see the same clock. */
export function useFakeTime(): void {
  beforeAll(loadSchemas);
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** Load first the code that a first call loads: files are not read on a fake clock. */
export async function loadSchemas(): Promise<void> {
  const media = new MediaClient(createFakeMedia().options);
  await media.generate.status({ fileId: '' }).safe();
}

/** Creates a fake service on the test's clock, with clients that share no budget with others. */
export function fakeService(options: FakeMediaOptions = {}) {
  const fake = createFakeMedia({ clock: { now: () => Date.now() }, ...options });
  const group = `test ${fake.baseUrl}`;
  // Without the clock of the fake: the clients go by the clock of the process, as with the real service.
  const fetch: typeof fake.fetch = (input, init) => fake.fetch(input, init);
  const media = (more: MediaOptions = {}) =>
    new MediaClient({
      apiKey: fake.apiKey,
      baseUrl: fake.baseUrl,
      fetch,
      rateLimit: { group },
      ...more,
    });
  return { fake, group, media };
}

/** Lets the answers of the fake arrive: they take a few turns of the event loop, and no time. */
async function answersArrive(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Moves time from timer to timer until a promise has settled. */
export async function inTime<T>(promise: PromiseLike<T>): Promise<T> {
  const run = { isOver: false };
  const result = Promise.resolve(promise).finally(() => {
    run.isOver = true;
  });
  result.catch(() => undefined);
  await answersArrive();
  while (!run.isOver) {
    await vi.advanceTimersToNextTimerAsync();
    await answersArrive();
  }
  return result;
}

/** Moves time on by so much. */
export async function pass(delayMs: number): Promise<void> {
  const endsAt = Date.now() + delayMs;
  const run = { isOver: false };
  setTimeout(() => {
    run.isOver = true;
  }, delayMs);
  while (!run.isOver) {
    await answersArrive();
    await vi.advanceTimersToNextTimerAsync();
  }
  await answersArrive();
  if (Date.now() !== endsAt) {
    throw new Error('time has passed by');
  }
}

/** The time between the requests of an endpoint, in milliseconds. */
export function gaps(
  requests: readonly { endpoint: string | undefined; at: number }[],
  endpoint = statusEndpoint,
): number[] {
  const times = requests.filter((request) => request.endpoint === endpoint).map(({ at }) => at);
  return times.slice(1).map((at, index) => at - times[index]!);
}

/** How a promise settles. */
export function ending<T>(promise: PromiseLike<T>): Promise<{ value?: T; error?: unknown }> {
  return Promise.resolve(promise).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

export const statusEndpoint = 'GET /v1/generate/status';
export const videoEndpoint = 'POST /v1/generate/video';
export const audioEndpoint = 'POST /v1/generate/audio';

/** A video to make. */
export function video(more: Partial<VideoJob> = {}): VideoJob {
  const job = { workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'voice_1' };
  return { ...job, ...more } as VideoJob; // a test may break the rules
}

/** A text to speak. */
export function speech(more: Partial<AudioRequest> = {}): AudioRequest {
  return { content: 'Good morning!', voiceId: 'voice_1', ...more };
}
