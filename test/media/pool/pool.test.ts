import {
  MediaClient,
  MediaPool,
  memoryJournal,
  pendingJobs,
  type MediaOptions,
  type QueueProgress,
} from 'postreel';
import type { FakeMediaOptions } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
// A file is not read on a fake clock.
import '../../../src/media/queue-parts.js';
import { onFastClock } from '../../../bench/media-queue/clock.js';
import { simulatePool } from '../../../bench/media-queue/pool.js';
import { ending, fakeService, inTime, pass, useFakeTime } from '../../support/media/fake-time.js';
import { collect, videos } from '../../support/media/queue-helpers.js';

useFakeTime();

/** So many keys, each of a service of its own, that answer to nobody else. */
function services(
  count: number,
  more: (key: number) => MediaOptions = () => ({}),
  own: (key: number) => FakeMediaOptions = () => ({}),
) {
  const keys = Array.from({ length: count }, (_, key) => fakeService(own(key)));
  const fakes = keys.map(({ fake }) => fake);
  const clients = () =>
    keys.map(({ fake, media }, key) => media({ fetch: fake.fetch, ...more(key) }));
  const open = (order: 'given' | 'reversed' = 'given') =>
    new MediaPool(order === 'given' ? clients() : clients().reverse());
  return { fakes, open };
}

describe('a pool of keys', () => {
  it('makes all files with the limits of all keys, and says which job each is of', async () => {
    const { fakes, open } = services(3);
    const jobs = videos(70);
    const results = await inTime(collect(open().queue(jobs)));
    expect(results.map(({ index }) => index)).toEqual(jobs.map((_, index) => index));
    expect(results.map(({ input }) => input)).toEqual(jobs);
    expect(results.every(({ file }) => file)).toBe(true);
    const shares = fakes.map(({ files }) => files.length);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(70);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(15);
    expect(
      fakes.flatMap(({ requests }) => requests).filter(({ status }) => status === 429),
    ).toEqual([]);
  });

  it('sets a key aside that is refused, and makes its jobs with the others', async () => {
    const { fakes, open } = services(3, (key) => (key === 1 ? { apiKey: 'revoked' } : {}));
    const results = await inTime(collect(open().queue(videos(50))));
    expect(results.filter(({ file }) => file)).toHaveLength(50);
    expect(fakes[1]?.files).toHaveLength(0);
    expect((fakes[0]?.files.length ?? 0) + (fakes[2]?.files.length ?? 0)).toBe(50);
  });

  it('ends with the refusal when no key is left', async () => {
    const { open } = services(2, () => ({ apiKey: 'revoked' }));
    const seen: unknown[] = [];
    const read = async () => {
      for await (const { error } of open().queue(videos(5))) {
        seen.push((error as { status?: number }).status);
      }
    };
    const { error } = await ending(inTime(read()));
    expect(error).toMatchObject({ status: 401 });
    expect(seen).toEqual([401, 401, 401, 401, 401]);
  });

  it('knows after a restart which key has which job', async () => {
    const journal = memoryJournal();
    const { fakes, open } = services(2, () => ({ journal }));
    const options = { name: 'films' };
    const read = async () => {
      for await (const { file } of open().queue(videos(50), options)) {
        if (file) {
          break; // the process ends here
        }
      }
    };
    await inTime(read());
    const results = await inTime(collect(open().queue(videos(50), options)));
    expect(results.filter(({ file }) => file)).toHaveLength(50);
    expect(fakes.flatMap(({ files }) => files)).toHaveLength(50);
  });

  it('bills no job again whose key was rotated or removed: its owner is missing', async () => {
    const journal = memoryJournal();
    const { fake } = fakeService();
    const clientOf = (apiKey: string) => {
      fake.apiKeys.add(apiKey);
      const { baseUrl, fetch } = fake;
      return new MediaClient({ apiKey, baseUrl, fetch, journal });
    };
    const run = (keys: readonly string[]) =>
      inTime(collect(new MediaPool(keys.map(clientOf)).queue(videos(10), { name: 'films' })));
    await run(['key_a', 'key_b']);
    const before = fake.files.length;
    const results = await run(['key_c', 'key_d']);
    expect(fake.files).toHaveLength(before);
    const codes = results.map(({ error }) => (error as { code?: string } | undefined)?.code);
    expect(codes).toEqual(videos(10).map(() => 'OWNER_MISSING'));
    expect((await run(['key_b', 'key_a'])).every(({ file }) => file)).toBe(true);
    expect(fake.files).toHaveLength(before);
  });

  it('sets a key aside that is revoked while its slots are full: its jobs go to the others', async () => {
    const durations = ['60m', '1m'] as const;
    const { fakes, open } = services(2, undefined, (key) => ({ durations: () => durations[key]! }));
    const run = collect(open().queue(videos(60)));
    await pass(5 * 60_000);
    const before = fakes[1]!.files.length;
    fakes[0]!.apiKeys.clear();
    await pass(4 * 60_000);
    expect(fakes[1]!.files.length).toBe(before + 10); // what it had in hand beside its slots
    const results = await inTime(run);
    const failed = results.filter(({ error }) => error !== undefined);
    expect(failed).toHaveLength(20); // what it had in progress
    for (const { job, error } of failed) {
      expect(job).toBeDefined();
      expect(error).toMatchObject({ status: 401 });
    }
  });

  it('bills no job again whose call was lost, whichever key made it', async () => {
    const journal = memoryJournal();
    let calls = 0;
    const { fakes, open } = services(2, (key) => ({
      journal,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const isLost = key === 0 && request.method === 'POST' && ++calls === 1;
        const answer = await fakes[key]!.fetch(request);
        return isLost ? new Response('', { status: 500 }) : answer;
      },
    }));
    const run = (order: 'given' | 'reversed') =>
      inTime(collect(open(order).queue(videos(13), { name: 'films' })));
    const lost = (await run('given')).filter(({ error }) => error !== undefined);
    expect(lost.length).toBeGreaterThan(1);
    expect(fakes.flatMap(({ files }) => files)).toHaveLength(13);
    const again = (await run('reversed')).filter(({ error }) => error !== undefined);
    expect(fakes.flatMap(({ files }) => files)).toHaveLength(13);
    expect(again.map(({ index }) => index)).toEqual(lost.map(({ index }) => index));
    for (const { error } of again) {
      expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    }
  });

  it('ends every job that was read with its deadline', async () => {
    const { open } = services(2, undefined, () => ({ durations: () => '60m' }));
    const results = await inTime(collect(open().queue(videos(200), { deadline: 600_000 })));
    expect(results.map(({ index }) => index)).toEqual(videos(200).map((_, index) => index));
    const codes = results.map(({ error }) => (error as { code: string }).code);
    expect(codes.filter((code) => code === 'DEADLINE_EXCEEDED')).toHaveLength(160);
  });

  it('tells how far all of its keys are together', async () => {
    const { open } = services(2);
    const seen: QueueProgress[] = [];
    const onProgress = (progress: QueueProgress) => void seen.push(progress);
    await inTime(collect(open().queue(videos(50), { onProgress })));
    expect(Math.max(...seen.map(({ pending }) => pending))).toBe(40);
    expect(seen.every(({ total }) => total === 50)).toBe(true);
    expect(seen.at(-1)).toMatchObject({ done: 50, failed: 0, pending: 0, waiting: 0 });
  });

  it('acknowledges a file when the next one is asked for, not when the caller leaves', async () => {
    const journals = [memoryJournal(), memoryJournal()]; // both services count their ids from 1
    const { open } = services(2, (key) => ({ journal: journals[key] }));
    const read = async () => {
      let taken = 0;
      for await (const { file } of open().queue(videos(30))) {
        if (file && ++taken === 5) {
          break; // while this one is being stored
        }
      }
    };
    await inTime(read());
    const pending = await Promise.all(journals.map((journal) => pendingJobs(journal)));
    expect(pending.flatMap(({ jobs }) => jobs)).toHaveLength(26);
  });

  it('refuses a key that comes twice in a named queue, whichever client has it', async () => {
    const journal = memoryJournal();
    const { fakes, open } = services(2, () => ({ journal }));
    const options = { name: 'films', key: () => 'the same' };
    const results = await inTime(collect(open().queue(videos(4), options)));
    expect(results.filter(({ file }) => file)).toHaveLength(1);
    expect(fakes.flatMap(({ files }) => files)).toHaveLength(1);
  });

  it('reads a stream step by step, and passes on what it throws', async () => {
    const { open } = services(2);
    const stream = async function* () {
      yield* videos(3);
      await Promise.resolve();
      throw new Error('the list is torn');
    };
    const seen: number[] = [];
    const read = async () => {
      for await (const { index, file } of open().queue(stream())) {
        seen.push(file ? index : -1);
      }
    };
    const { error } = await ending(inTime(read()));
    expect(error).toMatchObject({ message: 'the list is torn' });
    expect(seen.sort()).toEqual([0, 1, 2]);
  });

  it('ends at once with its signal', async () => {
    const { open } = services(2);
    const controller = new AbortController();
    const read = async () => {
      for await (const { file } of open().queue(videos(60), { signal: controller.signal })) {
        controller.abort(new Error(file ? 'enough' : 'failed'));
      }
    };
    expect((await ending(inTime(read()))).error).toMatchObject({ message: 'enough' });
  });

  it('needs a client', () => {
    expect(() => new MediaPool([])).toThrow('A `MediaPool` needs at least one client.');
    expect(
      new MediaPool([new MediaClient({ apiKey: 'a', baseUrl: 'https://media.test' })]),
    ).toBeDefined();
  });
});

it('three keys make 100 videos, killed once: none is paid for twice, none is lost', async () => {
  const scene = { keys: 3, jobs: 100, kills: 1, seed: 5 };
  const { ratio, twice, lost, refused } = await onFastClock(() => simulatePool(scene));
  expect({ twice, lost, refused }).toEqual({ twice: 0, lost: 0, refused: 0 });
  expect(ratio).toBeLessThan(1.6); // `npm run bench:media-queue` has the figure of ten keys
}, 120_000);
