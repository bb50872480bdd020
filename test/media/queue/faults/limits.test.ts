import type { MediaClient, ThrottledEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import { calls, collect, videos } from '../../../support/media/queue-helpers.js';
import {
  fakeService,
  inTime,
  pass,
  speech,
  statusEndpoint,
  useFakeTime,
  videoEndpoint,
} from '../../../support/media/fake-time.js';

useFakeTime();

const minuteMs = 60_000;

describe('one refused status check', () => {
  it('does not delay a generate call', async () => {
    const { fake, media } = fakeService({ durations: () => '10m' });
    const client = media();
    const job = await inTime(client.generate.audio(speech()));
    fake.fail(statusEndpoint, { status: 429, retryAfter: 600 });
    const wait = job.waitForFile({ timeout: 60 * minuteMs });
    await pass(30_000);
    const startedAt = Date.now();
    await inTime(client.generate.audio(speech()));
    expect(Date.now() - startedAt).toBeLessThan(1_000);
    await inTime(wait);
  });

  it('made with status() does not delay a generate call', async () => {
    const { fake, media } = fakeService({ durations: () => '10m' });
    const client = media();
    const job = await inTime(client.generate.audio(speech()));
    fake.fail(statusEndpoint, { status: 429, retryAfter: 600, times: 10 });
    await inTime(job.status({ retries: 0 }).safe());
    const startedAt = Date.now();
    await inTime(client.generate.audio(speech()));
    expect(Date.now() - startedAt).toBeLessThan(1_000);
  });

  it('does not delay the next call of a queue', async () => {
    const { fake, media } = fakeService({ durations: () => '2m' });
    const results = collect(media().queue(videos(40)));
    await pass(30_000);
    fake.fail(statusEndpoint, { status: 429 });
    await inTime(results);
    const [, second] = fake.requests.filter(({ endpoint }) => endpoint === videoEndpoint);
    expect(second!.at - fake.requests[0]!.at).toBeLessThan(4 * minuteMs);
  });

  it('does not slow down the other checks: every file is finished in time', async () => {
    const { fake, media } = fakeService({ durations: () => '3m' });
    const results = collect(media().queue(videos(15), { timeout: 10 * minuteMs }));
    await pass(minuteMs);
    fake.fail(statusEndpoint, { status: 429 });
    expect((await inTime(results)).filter(({ file }) => file)).toHaveLength(15);
  });
});

describe('a queue that cannot call', () => {
  it('emits an event each minute', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const client: MediaClient = media();
    const events: ThrottledEvent[] = [];
    await inTime(collect(client.queue(videos(1))));
    client.on('throttled', (event) => events.push(event));
    fake.fail(videoEndpoint, { status: 429, retryAfter: 600 });
    const results = collect(client.queue(videos(1)));
    await pass(8 * minuteMs);
    expect(events.length).toBeGreaterThanOrEqual(6);
    await inTime(results);
    expect(calls(fake)).toBe(3);
  });
});
