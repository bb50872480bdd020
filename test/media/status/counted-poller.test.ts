import type { ThrottledEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import {
  ending,
  fakeService,
  gaps,
  inTime,
  pass,
  statusEndpoint,
  useFakeTime,
  video,
} from '../../support/media/fake-time.js';

useFakeTime();

/** A service that counts looks among the ten, and a client with some videos in the making. */
async function counting(count: number, durations = '12m') {
  const service = fakeService({ statusCounts: true, durations: () => durations });
  const client = service.media();
  const throttled: ThrottledEvent[] = [];
  client.on('throttled', (event) => throttled.push(event));
  const payload = Array.from({ length: count }, () => video());
  const jobs = await inTime(client.generate.video({ payload }));
  return { ...service, client, throttled, jobs };
}

describe('when looks turn out to count', () => {
  it('says so once, and goes on to the end', async () => {
    const { client, throttled, jobs } = await counting(5);
    const ids = jobs.map(({ fileId }) => fileId);
    const results = await inTime(client.waitForFiles(ids, { timeout: Number.POSITIVE_INFINITY }));
    expect(results.filter(({ file }) => file)).toHaveLength(5);
    expect(throttled.filter(({ reason }) => reason === 'status-counts')).toEqual([
      { reason: 'status-counts', waitMs: 60_000, queued: 0 },
    ]);
  });

  it('looks one by one from then on, a minute apart, and is never refused again', async () => {
    const { fake, client, jobs } = await counting(8);
    const ids = jobs.map(({ fileId }) => fileId);
    await inTime(client.waitForFiles(ids, { timeout: Number.POSITIVE_INFINITY }));
    const refused = fake.requests.findIndex(({ status }) => status === 429);
    expect(refused).toBeGreaterThan(0);
    // Looks that were on their way when the first was refused may be refused as well.
    const flying = fake.requests.filter(({ at }) => at < fake.requests[refused]!.at + 2_000).length;
    const later = fake.requests.slice(flying);
    expect(later.every(({ status }) => status === 200)).toBe(true);
    expect(Math.min(...gaps(later))).toBeGreaterThanOrEqual(60_000);
  });

  it('looks at each file in its turn', async () => {
    const { fake, client, jobs } = await counting(3, '2h');
    const ids = jobs.map(({ fileId }) => fileId);
    await inTime(ending(client.waitForFiles(ids, { timeout: 100 * 60_000 })));
    const looks = fake.requests.filter(({ status }) => status === 200).slice(-30);
    const perFile = ids.map((id) => looks.filter(({ query }) => query['fileId'] === id).length);
    expect(Math.max(...perFile) - Math.min(...perFile)).toBeLessThanOrEqual(2);
  });

  it('hears an abort while it waits for its turn, and the one behind takes it', async () => {
    const { client, jobs } = await counting(4);
    const ids = jobs.map(({ fileId }) => fileId);
    const controller = new AbortController();
    const { signal } = controller;
    const infinite = Number.POSITIVE_INFINITY;
    const left = ending(client.waitForFile(ids[0]!, { signal, timeout: infinite }));
    const rest = client.waitForFiles(ids.slice(1), { timeout: infinite });
    await pass(11 * 60_000);
    const startedAt = Date.now();
    controller.abort('enough');
    expect((await left).error).toBe('enough');
    expect(Date.now()).toBe(startedAt);
    const results = await inTime(rest);
    expect(results.filter(({ file }) => file)).toHaveLength(3);
  });

  it('ends a wait in time even so', async () => {
    const { client, jobs } = await counting(4, '5h');
    const startedAt = Date.now();
    const results = await inTime(client.waitForFiles(jobs.map(({ fileId }) => fileId)));
    for (const { error } of results) {
      expect(error).toMatchObject({ name: 'WaitTimeoutError' });
    }
    expect(Date.now() - startedAt).toBe(30 * 60_000);
  });

  it('charges what status() asks, too', async () => {
    const { fake, client, jobs } = await counting(1, '5h');
    const fileId = jobs[0]!.fileId;
    await inTime(ending(client.waitForFile(fileId, { timeout: 20 * 60_000, interval: 5_000 })));
    const before = client.rateLimit.state()!.used;
    await inTime(jobs[0]!.status());
    expect(client.rateLimit.state()!.used).toBeGreaterThanOrEqual(Math.min(10, before + 1));
    expect(fake.requests.at(-1)).toMatchObject({ endpoint: statusEndpoint, status: 200 });
  });

  it('tells every client with this key, and all of them look one by one', async () => {
    const { fake, media, jobs } = await counting(6);
    const others = [media(), media(), media()];
    const refusals: ThrottledEvent[] = [];
    for (const other of others) {
      other.on('throttled', (event) => {
        if (event.reason === 'status-counts') {
          refusals.push(event);
        }
      });
    }
    const waits = jobs.map(({ fileId }, index) =>
      others[index % 3]!.waitForFile(fileId, { timeout: Number.POSITIVE_INFINITY }),
    );
    await inTime(Promise.all(waits));
    expect(refusals).toHaveLength(1);
    const refused = fake.requests.findIndex(({ status }) => status === 429);
    // Looks that were on their way when the first was refused may be refused as well.
    const flying = fake.requests.filter(({ at }) => at < fake.requests[refused]!.at + 2_000).length;
    const later = fake.requests.slice(flying);
    expect(later.length).toBeGreaterThan(6);
    expect(Math.min(...gaps(later))).toBeGreaterThanOrEqual(60_000);
    // One that comes later knows it already.
    const [job] = await inTime(media().generate.video({ payload: [video()] }));
    const from = fake.requests.length;
    await inTime(job!.waitForFile({ timeout: Number.POSITIVE_INFINITY }));
    const own = fake.requests.slice(from);
    expect(own.every(({ status }) => status === 200)).toBe(true);
  });

  it('lets a queue come to its end within the ten', async () => {
    const { fake, media } = fakeService({ statusCounts: true, durations: () => '3m' });
    const payload = Array.from({ length: 25 }, () => video());
    const done: unknown[] = [];
    const run = async () => {
      for await (const { file, error } of media().queue(payload)) {
        done.push(file ?? error);
      }
    };
    await inTime(run());
    expect(done).toHaveLength(25);
    expect(fake.files).toHaveLength(25);
  });
});

it('does not count looks that the service does not count', async () => {
  const { client, throttled } = await (async () => {
    const service = fakeService();
    const own = service.media();
    const events: ThrottledEvent[] = [];
    own.on('throttled', (event) => events.push(event));
    const [job] = await inTime(own.generate.video({ payload: [video()] }));
    await inTime(job!.waitForFile());
    return { client: own, throttled: events };
  })();
  expect(client.rateLimit.state()!.used).toBe(1);
  expect(throttled).toEqual([]);
});
