import type { ThrottledEvent } from 'postreel';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/core/async.js';
import { CountedPoller } from '../../../src/media/status/counted-poller.js';
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
  const switches: number[] = [];
  client.on('throttled', (event) => {
    throttled.push(event);
    if (event.reason === 'status-counts') {
      switches.push(Date.now());
    }
  });
  const payload = Array.from({ length: count }, () => video());
  const jobs = await inTime(client.generate.video({ payload }));
  return { ...service, client, throttled, switches, jobs };
}

describe('status checks that are charged to the rate limit', () => {
  it('are reported once, and the waits continue to the end', async () => {
    const { client, throttled, jobs } = await counting(5);
    const ids = jobs.map(({ fileId }) => fileId);
    const results = await inTime(client.waitForFiles(ids, { timeout: Number.POSITIVE_INFINITY }));
    expect(results.filter(({ file }) => file)).toHaveLength(5);
    expect(throttled.filter(({ reason }) => reason === 'status-counts')).toEqual([
      { reason: 'status-counts', waitMs: 60_000, queued: 0 },
    ]);
  });

  it('are made one by one, a minute apart, and are not refused', async () => {
    const { fake, client, jobs, switches } = await counting(8, '40m');
    const ids = jobs.map(({ fileId }) => fileId);
    const all = inTime(client.waitForFiles(ids, { timeout: Number.POSITIVE_INFINITY }));
    await all;
    const from = switches[0]! + 2_000;
    const counted = fake.requests.filter(({ at }) => at > from && at < from + 9 * 60_000);
    expect(counted.length).toBeGreaterThan(1);
    expect(counted.every(({ status }) => status === 200)).toBe(true);
    expect(Math.min(...gaps(counted))).toBeGreaterThanOrEqual(60_000);
  });

  it('are made for each file in turn', async () => {
    const { fake, client, jobs } = await counting(3, '2h');
    const ids = jobs.map(({ fileId }) => fileId);
    await inTime(ending(client.waitForFiles(ids, { timeout: 100 * 60_000 })));
    const looks = fake.requests.filter(({ status }) => status === 200).slice(-30);
    const perFile = ids.map((id) => looks.filter(({ query }) => query['fileId'] === id).length);
    expect(Math.max(...perFile) - Math.min(...perFile)).toBeLessThanOrEqual(2);
  });

  it('can be aborted while they wait for their turn, and the next check takes the turn', async () => {
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

  it('do not delay the timeout of a wait', async () => {
    const { client, jobs } = await counting(4, '5h');
    const startedAt = Date.now();
    const results = await inTime(client.waitForFiles(jobs.map(({ fileId }) => fileId)));
    for (const { error } of results) {
      expect(error).toMatchObject({ name: 'WaitTimeoutError' });
    }
    expect(Date.now() - startedAt).toBe(30 * 60_000);
  });

  it('include those of status()', async () => {
    const { fake, client, jobs } = await counting(1, '5h');
    const fileId = jobs[0]!.fileId;
    await inTime(ending(client.waitForFile(fileId, { timeout: 20 * 60_000, interval: 5_000 })));
    const before = client.rateLimit.state()!.used;
    await inTime(jobs[0]!.status());
    expect(client.rateLimit.state()!.used).toBeGreaterThanOrEqual(Math.min(10, before + 1));
    expect(fake.requests.at(-1)).toMatchObject({ endpoint: statusEndpoint, status: 200 });
  });

  it('are made one by one by all clients with the key', async () => {
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
    const refused = fake.requests.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(1);
    // What one client has learned, no other one has to find out again.
    expect(refusals.length).toBeLessThanOrEqual(2);
  });

  it('let a queue end within ten requests per ten minutes', async () => {
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

it('are not treated so when the service does not charge them', async () => {
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

describe('a 429 to a status check', () => {
  it('causes one pause for as long as the service asks, and does not slow down later checks', async () => {
    const { fake, media } = fakeService({ durations: () => '5m' });
    const client = media();
    const throttled: ThrottledEvent[] = [];
    client.on('throttled', (event) => throttled.push(event));
    const payload = Array.from({ length: 15 }, () => video());
    const jobs = await inTime(client.generate.video({ payload }));
    const waits = client.waitForFiles(jobs.map(({ fileId }) => fileId));
    await pass(60_000);
    fake.fail(statusEndpoint, { status: 429, retryAfter: 20 });
    const startedAt = Date.now();
    const results = await inTime(waits);
    expect(results.filter(({ file }) => file)).toHaveLength(15);
    expect(throttled.filter(({ reason }) => reason === 'status-counts')).toEqual([]);
    expect(Date.now() - startedAt).toBeLessThan(6 * 60_000);
    const refused = fake.requests.find(({ status }) => status === 429)!;
    const after = fake.requests.filter(
      ({ at, endpoint }) => endpoint === statusEndpoint && at > refused.at + 2_000,
    );
    expect(after[0]!.at - refused.at).toBeGreaterThanOrEqual(20_000);
  });

  it('that is repeated soon means that checks are charged, for a while', () => {
    const poller = new CountedPoller(systemClock);
    expect(poller.noteRefusal(performance.now(), 20_000)).toBe(false);
    expect([poller.areChecksCharged, poller.pauseMs]).toEqual([false, 20_000]);
    vi.advanceTimersByTime(30_000);
    expect(poller.noteRefusal(performance.now(), 20_000)).toBe(true);
    expect(poller.areChecksCharged).toBe(true);
    vi.advanceTimersByTime(600_000);
    expect(poller.areChecksCharged).toBe(false);
  });

  it('to a check that was in flight when another one was refused has no effect', () => {
    const poller = new CountedPoller(systemClock);
    const sentAt = performance.now();
    vi.advanceTimersByTime(100);
    poller.noteRefusal(sentAt, 20_000);
    expect(poller.noteRefusal(sentAt + 50, 20_000)).toBe(false);
    expect(poller.areChecksCharged).toBe(false);
  });

  it('to the first uncharged checks afterwards doubles the time', () => {
    const poller = new CountedPoller(systemClock);
    poller.noteRefusal(performance.now(), 1_000);
    vi.advanceTimersByTime(2_000);
    poller.noteRefusal(performance.now(), 1_000);
    vi.advanceTimersByTime(601_000);
    expect(poller.noteRefusal(performance.now(), 1_000)).toBe(true);
    vi.advanceTimersByTime(1_199_000);
    expect(poller.areChecksCharged).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(poller.areChecksCharged).toBe(false);
  });

  it('long after another one causes only a pause again', () => {
    const poller = new CountedPoller(systemClock);
    poller.noteRefusal(performance.now(), 1_000);
    vi.advanceTimersByTime(602_000);
    expect(poller.noteRefusal(performance.now(), 1_000)).toBe(false);
    expect(poller.areChecksCharged).toBe(false);
  });
});
