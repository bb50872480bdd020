import { memoryJournal } from 'postreel';
import { describe, expect, it } from 'vitest';
import { collect, videos } from '../../../support/media/queue-helpers.js';
import {
  ending,
  fakeService,
  inTime,
  pass,
  statusEndpoint,
  useFakeTime,
  video,
} from '../../../support/media/fake-time.js';

useFakeTime();

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A service that cannot be reached for a while. */
function withOutage(fromMs: number, toMs: number) {
  const startedAt = Date.now();
  const { fake, media } = fakeService({ durations: () => '1m' });
  const fetch: typeof globalThis.fetch = (input, init) => {
    const now = Date.now() - startedAt;
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    return now >= fromMs && now < toMs
      ? Promise.reject(new TypeError('fetch failed', { cause }))
      : fake.fetch(input, init);
  };
  return { fake, client: media({ fetch }), startedAt };
}

describe('an outage', () => {
  it('of half an hour fails no job', async () => {
    const { fake, client } = withOutage(minuteMs, 31 * minuteMs);
    const results = await inTime(collect(client.queue(videos(60))));
    expect(results.filter(({ file }) => file)).toHaveLength(60);
    expect(fake.files).toHaveLength(60);
  });

  it('is heard of each minute', async () => {
    const { client } = withOutage(minuteMs, 31 * minuteMs);
    const at: number[] = [];
    client.on('throttled', () => at.push(Date.now()));
    await inTime(collect(client.queue(videos(60))));
    expect(at.length).toBeGreaterThan(20);
  });

  it('is reported when it begins and when it ends', async () => {
    const { client, startedAt } = withOutage(minuteMs, 31 * minuteMs);
    const warnings: [number, string][] = [];
    client.on('warning', ({ message }) => {
      warnings.push([Math.floor((Date.now() - startedAt) / minuteMs), message]);
    });
    await inTime(collect(client.queue(videos(60))));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]![0]).toBeLessThanOrEqual(3);
    expect(warnings[0]![1]).toMatch(/^An outage: .* The queue goes on once it is over\.$/);
    expect(warnings[1]![0]).toBeGreaterThanOrEqual(31);
    expect(warnings[1]![1]).toMatch(
      /^The outage is over after \d+(\.\d)? min\. The queue goes on\.$/,
    );
  });

  it('in which nothing waits to be submitted is heard of each minute all the same', async () => {
    const { client } = withOutage(20_000, 31 * minuteMs);
    const at: number[] = [];
    client.on('throttled', () => at.push(Date.now()));
    await inTime(collect(client.queue(videos(3))));
    expect(at.length).toBeGreaterThan(20);
  });

  it('of the journal is reported, and waited out', async () => {
    const { media } = fakeService({ durations: () => '1m' });
    const memory = memoryJournal();
    const startedAt = Date.now();
    const isOut = () => Date.now() > startedAt + minuteMs && Date.now() < startedAt + 10 * minuteMs;
    const hang = () => new Promise<never>(() => undefined);
    let failedAt: number | undefined;
    const journal = {
      ...memory,
      putIfAbsent(key: string, value: string) {
        if (!isOut()) {
          return memory.putIfAbsent(key, value);
        }
        failedAt ??= Date.now();
        return hang();
      },
    };
    const client = media({ journal });
    const warnings: string[] = [];
    let reportedAt: number | undefined;
    client.on('warning', ({ message }) => {
      reportedAt ??= Date.now();
      warnings.push(message);
    });
    const results = await inTime(collect(client.queue(videos(45), { name: 'nightly' })));
    expect(results.filter(({ file }) => file)).toHaveLength(45);
    expect(warnings[0]).toContain('The journal could not be read or written');
    expect(reportedAt! - failedAt!).toBeLessThan(30_000);
    expect(warnings.at(-1)).toMatch(/^The outage is over/);
  });

  it('of the journal does not end a queue that reads on', async () => {
    const { media } = fakeService({ durations: () => '1m' });
    const memory = memoryJournal();
    const startedAt = Date.now();
    const isOut = () => Date.now() > startedAt + minuteMs && Date.now() < startedAt + 10 * minuteMs;
    const ask = <T>(task: () => Promise<T>) =>
      isOut() ? Promise.reject<T>(new Error('restarting')) : task();
    const journal = {
      ...memory,
      get: (keys: readonly string[]) => ask(() => memory.get(keys)),
      putIfAbsent: (key: string, value: string) => ask(() => memory.putIfAbsent(key, value)),
    };
    const client = media({ journal });
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    const stream = async function* () {
      yield* videos(5);
      await new Promise((resolve) => setTimeout(resolve, 2 * minuteMs));
      yield* videos(10).slice(5);
    };
    const results = await inTime(collect(client.queue(stream(), { name: 'nightly' })));
    expect(results.filter(({ file }) => file)).toHaveLength(10);
    expect(warnings.filter((message) => message.startsWith('An outage:'))).toHaveLength(1);
    expect(warnings.filter((message) => message.startsWith('The outage is over'))).toHaveLength(1);
  });

  it('of the journal is told while a claim is waited for, and ends the wait', async () => {
    const { media } = fakeService();
    const journal = memoryJournal();
    const never = () => new Promise<never>(() => undefined);
    const crashed = media({ journal, fetch: never }).queue([video()], { name: 'nightly' });
    void ending(crashed[Symbol.asyncIterator]().next());
    await pass(1_000);
    const startedAt = Date.now();
    const get: typeof journal.get = (keys) =>
      Date.now() > startedAt + 5_000 ? Promise.reject(new Error('gone')) : journal.get(keys);
    const client = media({ journal: { ...journal, get } });
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    const options = { name: 'nightly', outageTimeout: hourMs };
    const [result] = await inTime(collect(client.queue([video()], options)));
    expect(result!.error).toMatchObject({ code: 'OUTCOME_UNKNOWN', outcome: 'unknown' });
    expect(Date.now() - startedAt).toBeLessThan(1.2 * hourMs);
    expect(warnings.filter((message) => message.startsWith('An outage:'))).toHaveLength(1);
  });

  it('of the journal does not hold a queue behind its deadline', async () => {
    const { media } = fakeService({ durations: () => '1m' });
    const memory = memoryJournal();
    const startedAt = Date.now();
    const hang = () => new Promise<never>(() => undefined);
    const isOut = () => Date.now() > startedAt + minuteMs;
    const journal = {
      ...memory,
      get: (keys: readonly string[]) => (isOut() ? hang() : memory.get(keys)),
      putIfAbsent: (key: string, value: string) =>
        isOut() ? hang() : memory.putIfAbsent(key, value),
    };
    const client = media({ journal });
    client.on('warning', () => undefined);
    const options = { name: 'nightly', deadline: 30 * minuteMs };
    const results = await inTime(collect(client.queue(videos(30), options)));
    const late = results.filter(({ error }) => error !== undefined);
    expect(results).toHaveLength(30);
    expect(late.length).toBeGreaterThan(0);
    for (const { error } of late) {
      expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'not-sent' });
    }
    expect(Date.now() - startedAt).toBeLessThan(32 * minuteMs);
  });

  it('before the first answer fails at once: it is as likely a typing error', async () => {
    const { client, startedAt } = withOutage(0, hourMs);
    const results = await inTime(collect(client.queue(videos(60))));
    expect(results.filter(({ error }) => error)).toHaveLength(60);
    expect(results[0]!.error).toMatchObject({ outcome: 'not-sent' });
    expect(Date.now() - startedAt).toBeLessThan(2 * minuteMs);
  });

  it('without end fails what waits after `outageTimeout`', async () => {
    const { client, startedAt } = withOutage(minuteMs, Infinity);
    const options = { outageTimeout: hourMs };
    const results = await inTime(collect(client.queue(videos(40), options)));
    expect(results.filter(({ error }) => error)).toHaveLength(40);
    const tookMs = Date.now() - startedAt;
    expect(tookMs).toBeGreaterThan(hourMs);
    expect(tookMs).toBeLessThan(1.2 * hourMs);
  });
});

describe('a job without any progress', () => {
  it('ends after `stallTimeout` as unknown, never as failed', async () => {
    const { media } = fakeService({ durations: () => '100h' });
    const startedAt = Date.now();
    const fetch = stuck();
    const options = { stallTimeout: hourMs };
    const [result] = await inTime(collect(media({ fetch }).queue([video()], options)));
    expect(result!.error).toMatchObject({ name: 'WaitTimeoutError', lastStatus: 'processing' });
    expect(result!.job).toBeDefined();
    expect(Date.now() - startedAt).toBeLessThan(1.1 * hourMs);

    function stuck(): typeof globalThis.fetch {
      return (input, init) => {
        const { method } = new Request(input, init);
        return Promise.resolve(
          method === 'POST'
            ? Response.json({ success: true, data: { folderId: 'f', filesCreated: ['file_1'] } })
            : Response.json({ fileId: 'file_1', status: 'processing', progress: 40 }),
        );
      };
    }
  });

  it.each([
    ['completed', 'file'],
    ['SUCCESS', 'file'],
    ['failed', 'error'],
    ['cancelled', 'error'],
  ])('but the status %s has come to its end', async (status, end) => {
    const { media } = fakeService();
    const startedAt = Date.now();
    const answers = (method: string) =>
      method === 'POST'
        ? { success: true, data: { folderId: 'f', filesCreated: ['file_1'] } }
        : { fileId: 'file_1', state: status, download: 'https://cdn.test/file_1' };
    const fetch: typeof globalThis.fetch = (input, init) =>
      Promise.resolve(Response.json(answers(new Request(input, init).method)));
    const [result] = await inTime(collect(media({ fetch }).queue([video()])));
    expect(result).toHaveProperty(end);
    expect(result![end as 'file' | 'error']).toBeDefined();
    expect(Date.now() - startedAt).toBeLessThan(minuteMs);
  });
});

it('a queue whose status checks are lost for a while goes on when they are back', async () => {
  const { fake, media } = fakeService({ durations: () => '1m' });
  fake.fail(statusEndpoint, { status: 502, times: 40 });
  const run = ending(collect(media().queue(videos(3))));
  await pass(minuteMs);
  expect((await inTime(run)).value!.filter(({ file }) => file)).toHaveLength(3);
});
