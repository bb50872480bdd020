import type { JobSource, MediaQueue, QueueResult, VideoJob } from 'postreel';
import { describe, expect, it } from 'vitest';
import {
  audioEndpoint,
  fakeService,
  inTime,
  pass,
  speech,
  videoEndpoint,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

const videos = (count: number, more: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => video({ prompt: String(index), ...more(index) }));

const sleep = (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs));

async function collect(queue: AsyncIterable<QueueResult>): Promise<QueueResult[]> {
  const results: QueueResult[] = [];
  for await (const result of queue) {
    results.push(result);
  }
  return results;
}

/** Takes every result and is slow with it; the answer is when each one was there. */
async function slowly(queue: MediaQueue, delayMs: number): Promise<number> {
  const startedAt = Date.now();
  for await (const { error } of queue) {
    if (error !== undefined) {
      throw new Error('a job failed', { cause: error });
    }
    await sleep(delayMs);
  }
  return Date.now() - startedAt;
}

describe('a caller that takes the results slowly', () => {
  it('does not delay any call', async () => {
    const alone = fakeService({ durations: () => '2m' });
    await inTime(collect(alone.media().queue(videos(60))));
    const { fake, media } = fakeService({ durations: () => '2m' });
    // Sixty times five seconds: as long as all the videos take, and it fits in beside them.
    await inTime(slowly(media().queue(videos(60)), 5_000));
    const lastCall = ({ requests }: typeof fake) =>
      Math.max(
        ...requests.filter(({ endpoint }) => endpoint === videoEndpoint).map(({ at }) => at),
      ) - requests[0]!.at;
    expect(lastCall(fake)).toBeLessThan(lastCall(alone.fake) + 60_000);
  });

  it('stops the submitting of jobs while twenty results wait', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const queue = media().queue(videos(200))[Symbol.asyncIterator]();
    await inTime(queue.next());
    await pass(3_600_000);
    // The first one was taken; twenty lie there, and at most twenty more were in the making.
    expect(fake.files.length).toBeLessThanOrEqual(1 + 20 + 20);
    const before = fake.files.length;
    for (let taken = 0; taken < 30; taken++) {
      await inTime(queue.next());
    }
    await pass(60_000);
    expect(fake.files.length).toBeGreaterThan(before);
    await queue.return?.();
  });

  it('gets the reason of an abort at the next step, and nothing is submitted after it', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const controller = new AbortController();
    const queue = media().queue(videos(100), { signal: controller.signal });
    const steps = queue[Symbol.asyncIterator]();
    await inTime(steps.next());
    controller.abort('enough');
    const { length } = fake.files;
    await pass(1_200_000);
    await expect(steps.next()).rejects.toBe('enough');
    expect(fake.files).toHaveLength(length);
  });
});

describe('the order of a queue', () => {
  it('depends on the length of a script', async () => {
    const { fake, media } = fakeService();
    const lengths = [300, 9_000, 1_000, 5_000];
    const scripts = lengths.map((length) =>
      video({ workflowType: 'script', prompt: undefined, content: 'x'.repeat(length) } as object),
    );
    await inTime(collect(media().queue(scripts)));
    const sent = fake.files.map(({ settings }) => String(settings['content']).length);
    expect(sent).toEqual([9_000, 5_000, 1_000, 300]);
  });

  it('depends on the length of a text to speak and on its playback rate', async () => {
    const { fake, media } = fakeService();
    const texts = [
      speech({ content: 'x'.repeat(1_000) }),
      speech({ content: 'y'.repeat(9_000) }),
      speech({ content: 'z'.repeat(1_200), playbackRate: 2 }),
    ];
    await inTime(collect(media().queue(texts)));
    const sent = fake.requests
      .filter(({ endpoint }) => endpoint === audioEndpoint)
      .map(({ body }) => (body as { content: string }).content[0]);
    expect(sent).toEqual(['y', 'x', 'z']);
  });

  async function firstCall(input: (jobs: VideoJob[]) => JobSource, last: number) {
    const { fake, media } = fakeService();
    const durations = new Map([
      [last, 9],
      [last + 1, 10],
    ]);
    const jobs = videos(last + 2, (index) => ({ duration: durations.get(index) ?? 2 }));
    const controller = new AbortController();
    const client = media();
    client.on('job:update', () => controller.abort());
    const queue = client.queue(input(jobs), { signal: controller.signal });
    await expect(inTime(collect(queue))).rejects.toThrow();
    const [first] = fake.requests
      .filter(({ endpoint }) => endpoint === videoEndpoint)
      .map(({ body }) => (body as { payload: { prompt: string }[] }).payload);
    return first!.map(({ prompt }) => Number(prompt));
  }

  it.each([
    ['400 jobs of a list', (jobs: VideoJob[]) => jobs, 399],
    ['20 of a generator', (jobs: VideoJob[]) => jobs.values(), 19],
  ])('covers at most %s at a time', async (_, input, last) => {
    const prompts = await firstCall(input, last);
    expect(prompts[0]).toBe(last);
    expect(prompts).not.toContain(last + 1);
  });
});

it('the queue waits for a long video', async () => {
  const { fake, media } = fakeService({ durations: () => '45m' });
  const results = await inTime(collect(media().queue(videos(2))));
  expect(results.filter(({ file }) => file)).toHaveLength(2);
  expect(fake.requests.filter(({ status }) => status === 429)).toEqual([]);
});

it('a job that exceeds the `timeout` fails and keeps its slot', async () => {
  const { fake, media } = fakeService({ durations: () => '35m' });
  const options = { timeout: 30 * 60_000, concurrency: 1 };
  const results = await inTime(collect(media().queue(videos(2), options)));
  expect(results.map(({ error }) => error)).toMatchObject([
    { name: 'WaitTimeoutError', fileId: 'file_000001' },
    { name: 'WaitTimeoutError', fileId: 'file_000002' },
  ]);
  expect(fake.files).toHaveLength(2);
});

describe('jobs that fail at once', () => {
  it.each(['the key is refused', 'the jobs are invalid'])(
    'are read only as fast as their results are taken: %s',
    async (what) => {
      const { media } = fakeService();
      let read = 0;
      function* endless() {
        for (;;) {
          read++;
          yield speech(what.includes('key') ? {} : { content: '' });
        }
      }
      const apiKey = what.includes('key') ? { apiKey: 'revoked' } : {};
      const results = media(apiKey).queue(endless())[Symbol.asyncIterator]();
      for (let taken = 0; taken < 500; taken++) {
        const next: IteratorResult<QueueResult, unknown> = await inTime(results.next());
        expect((next.value as QueueResult).error).toBeDefined();
      }
      expect(read).toBeLessThanOrEqual(800);
      await results.return?.();
    },
  );
});
