import { memoryJournal, type WarningEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import { collect, videos } from '../../../support/media/queue-helpers.js';
import {
  fakeService,
  inTime,
  pass,
  statusEndpoint,
  useFakeTime,
} from '../../../support/media/fake-time.js';

useFakeTime();

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A service that cannot be reached for a while: from a time on, or from its second call on. */
function withOutage(from: number | 'second call', toMs: number) {
  const startedAt = Date.now();
  const { fake, media } = fakeService({ durations: () => '1m' });
  let calls = 0;
  const fetch: typeof globalThis.fetch = (input, init) => {
    const now = Date.now() - startedAt;
    calls += init?.method === 'POST' ? 1 : 0;
    const hasBegun = typeof from === 'number' ? now >= from : calls > 1;
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    return hasBegun && now < toMs
      ? Promise.reject(new TypeError('fetch failed', { cause }))
      : fake.fetch(input, init);
  };
  return { fake, client: media({ fetch }), startedAt };
}

/** A journal that does not answer for a while. */
function brokenJournal(fromMs: number, toMs: number, how: 'hangs' | 'fails') {
  const memory = memoryJournal();
  const startedAt = Date.now();
  const ask = <T>(task: () => Promise<T>): Promise<T> => {
    const now = Date.now() - startedAt;
    if (now < fromMs || now >= toMs) {
      return task();
    }
    return how === 'hangs' ? new Promise(() => undefined) : Promise.reject(new Error('restarting'));
  };
  return {
    get: (key: string) => ask(() => memory.get(key)),
    list: (...query: Parameters<typeof memory.list>) => memory.list(...query),
    swap: (...change: Parameters<typeof memory.swap>) => ask(() => memory.swap(...change)),
  };
}

function warningsOf(client: ReturnType<typeof withOutage>['client']) {
  const startedAt = Date.now();
  const warnings: (Pick<WarningEvent, 'message' | 'code'> & { minute: number })[] = [];
  client.on('warning', ({ message, code }) => {
    warnings.push({ message, code, minute: Math.floor((Date.now() - startedAt) / minuteMs) });
  });
  return warnings;
}

describe('an outage of the service', () => {
  it('of half an hour fails no job, and emits a warning every five minutes', async () => {
    const { fake, client } = withOutage('second call', 31 * minuteMs);
    const warnings = warningsOf(client);
    const results = await inTime(collect(client.queue(videos(60))));
    expect(results.filter(({ file }) => file)).toHaveLength(60);
    expect(fake.files).toHaveLength(60);
    const told = warnings.filter(({ code }) => code === 'NOT_SUBMITTED');
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(told.length).toBeLessThanOrEqual(7);
    expect(told[0]!.message).toContain('Queued jobs are kept and submitted when this is over.');
  });

  it('before the first response fails the queue at once, because the URL may be mistyped', async () => {
    const { client, startedAt } = withOutage(0, hourMs);
    const results = await inTime(collect(client.queue(videos(60))));
    expect(results.filter(({ error }) => error)).toHaveLength(60);
    expect(results[0]!.error).toMatchObject({ outcome: 'not-sent' });
    expect(Date.now() - startedAt).toBeLessThan(2 * minuteMs);
  });

  it('without end fails the waiting jobs after the `deadline`, as not sent', async () => {
    const { fake, client, startedAt } = withOutage('second call', Infinity);
    const options = { deadline: hourMs, timeout: 2 * hourMs };
    const results = await inTime(collect(client.queue(videos(60), options)));
    const unsent = results.filter(({ job }) => job === undefined);
    expect(unsent).toHaveLength(60 - fake.files.length);
    for (const { error } of unsent) {
      expect(error).toMatchObject({ outcome: 'not-sent', code: 'NOT_CONNECTED' });
    }
    expect(Date.now() - startedAt).toBeLessThan(2.5 * hourMs);
  });

  it('that fails status checks emits a warning every five minutes, with the time of the first failure', async () => {
    const { client, startedAt } = withOutage(minuteMs, 11 * minuteMs);
    const job = await inTime(client.generate.video(videos(1)[0]!));
    await pass(55_000);
    const warnings = warningsOf(client);
    const wait = client.waitForFile('other').catch(() => undefined);
    await inTime(Promise.all([client.waitForFiles([job.fileId, job.fileId]), wait]));
    const told = warnings.filter(({ code }) => code === 'CHECKS_FAIL');
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(told.length).toBeLessThanOrEqual(3);
    const [, since] = /since (\S+) and are being retried: .+\. The jobs are still running\./.exec(
      told.at(-1)!.message,
    )!;
    expect(Date.parse(since!) - startedAt).toBeGreaterThanOrEqual(minuteMs);
    expect(Date.parse(since!) - startedAt).toBeLessThan(2 * minuteMs);
  });
});

describe('an outage of the journal', () => {
  it.each(['hangs', 'fails'] as const)(
    'that %s emits a warning, and the queue waits until it ends',
    async (how) => {
      const { media } = fakeService({ durations: () => '1m' });
      const client = media({ journal: brokenJournal(minuteMs, 10 * minuteMs, how) });
      const warnings = warningsOf(client);
      const results = await inTime(collect(client.queue(videos(45), { name: 'nightly' })));
      expect(results.filter(({ file }) => file)).toHaveLength(45);
      const told = warnings.filter(({ code }) => code === 'NOT_SUBMITTED');
      expect(told[0]!.message).toContain('The journal could not be read or written');
      expect(told.length).toBeLessThanOrEqual(3);
    },
  );

  it('does not end a queue that is still reading its input', async () => {
    const { media } = fakeService({ durations: () => '1m' });
    const client = media({ journal: brokenJournal(minuteMs, 10 * minuteMs, 'fails') });
    warningsOf(client);
    const stream = async function* () {
      yield* videos(5);
      await new Promise((resolve) => setTimeout(resolve, 2 * minuteMs));
      yield* videos(10).slice(5);
    };
    const results = await inTime(collect(client.queue(stream(), { name: 'nightly' })));
    expect(results.filter(({ file }) => file)).toHaveLength(10);
  });

  it('without end fails the waiting jobs after the `deadline`, as not sent', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const client = media({ journal: brokenJournal(2_000, Infinity, 'fails') });
    warningsOf(client);
    const startedAt = Date.now();
    const options = { name: 'nightly', deadline: hourMs };
    const run = collect(client.queue(videos(60), options)).catch((error: unknown) => error);
    expect(await inTime(run)).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
    expect(Date.now() - startedAt).toBeLessThan(3 * hourMs);
    expect(fake.files.length).toBeLessThan(60);
  });
});

it('a queue whose status checks fail for a while continues when they succeed again', async () => {
  const { fake, media } = fakeService({ durations: () => '1m' });
  fake.fail(statusEndpoint, { status: 502, times: 40 });
  const run = collect(media().queue(videos(3)));
  await pass(minuteMs);
  expect((await inTime(run)).filter(({ file }) => file)).toHaveLength(3);
});
