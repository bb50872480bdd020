import type { QueueResult } from 'postreel';
import type { FakeMedia } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import type { RateBudgetStore } from '../../../src/contract/rate-budget-store.js';
import { PendingSlots, sharedSlots } from '../../../src/media/queue/slots.js';
import { fakeService, inTime, pass, useFakeTime, video } from '../../support/media/fake-time.js';

useFakeTime();

/** A store that leases places to gates, each of which stands for a process. */
function leasing() {
  const leases = new Map<string, number>();
  let count = 0;
  const store = {
    lease: (_group: string, wanted: number, limit: number, leaseMs: number) => {
      for (const [place, endsAt] of leases) {
        if (endsAt <= Date.now()) {
          leases.delete(place);
        }
      }
      const free = Math.max(0, Math.min(wanted, limit - leases.size));
      const places = Array.from({ length: free }, () => `place ${++count}`);
      for (const place of places) {
        leases.set(place, Date.now() + leaseMs);
      }
      return Promise.resolve(places);
    },
    giveBack: (_group: string, places: readonly string[]) => {
      for (const place of places) {
        leases.delete(place);
      }
      return Promise.resolve();
    },
  };
  return {
    leases,
    store: store as unknown as RateBudgetStore, // leasing is all that a gate wants of it
    gate: () => new PendingSlots(20, store as unknown as RateBudgetStore, 'project'),
  };
}

it('processes that share a store never take more places than there are', async () => {
  const { leases, gate } = leasing();
  const gates = [gate(), gate(), gate()];
  const taken = await Promise.all(gates.map((own) => own.take(9)));
  expect(taken.map(({ length }) => length)).toEqual([9, 9, 2]);
  expect(leases.size).toBe(20);
  expect(gates[2]!.open).toBe(18); // as far as it can see
  expect(await gates[2]!.take(5)).toEqual([]);
  taken[0]![0]!.free();
  taken[0]![0]!.free(); // once more is nothing
  expect(leases.size).toBe(19);
  expect(await gates[2]!.take(5)).toHaveLength(1);
});

it('a place that a dead process took comes free by itself', async () => {
  const { gate } = leasing();
  await gate().take(20);
  const other = gate();
  expect(await other.take(1)).toEqual([]);
  await pass(60 * 60_000);
  expect(await other.take(20)).toHaveLength(20);
});

it('a gate with a store asks again by itself, one without hears of every place', async () => {
  const alone = new PendingSlots(2, undefined, 'project');
  expect(alone.askAgainMs).toBe(Number.POSITIVE_INFINITY);
  expect(Number.isFinite(leasing().gate().askAgainMs)).toBe(true);
  let frees = 0;
  const stop = alone.onFree(() => frees++);
  const [first, second] = await alone.take(5);
  expect(alone.open).toBe(0);
  first!.free();
  second!.freeAfter(10_000);
  expect([frees, alone.open]).toEqual([1, 1]);
  await pass(10_000);
  expect([frees, alone.open]).toEqual([2, 2]);
  stop();
  alone.count().free();
  expect(frees).toBe(2);
});

it('a store that fails leaves each process to itself', async () => {
  const store = { lease: () => Promise.reject(new Error('gone')) };
  const gate = new PendingSlots(20, store as unknown as RateBudgetStore, 'project');
  expect(await gate.take(25)).toHaveLength(20);
});

it('clients of one project have one gate, which leases once any of them has a store', async () => {
  const { leases, store } = leasing();
  const alone = sharedSlots('one project', { limit: 20, store: undefined, group: 'project' });
  await alone.take(3);
  expect(leases.size).toBe(0);
  const stored = sharedSlots('one project', { limit: 20, store: store, group: 'project' });
  expect(stored).toBe(alone);
  expect(await stored.take(20)).toHaveLength(17);
  expect(leases.size).toBe(17);
  expect(sharedSlots('one project', { limit: 20, store: undefined, group: 'project' })).toBe(alone);
  const other = sharedSlots('one project', { limit: 20, store: leasing().store, group: 'project' });
  expect(other).not.toBe(alone);
});

describe('jobs beside a queue', () => {
  const videos = (count: number, name: string) =>
    Array.from({ length: count }, (_, index) => video({ prompt: `${name} ${index}` }));
  const handedIn = ({ files }: FakeMedia) =>
    files.filter(({ settings }) => String(settings.prompt).startsWith('queued')).length;

  it('take places of it while they last, so that nothing is refused', async () => {
    const { fake, media } = fakeService({ durations: () => '8m' });
    const client = media();
    await inTime(client.generate.video({ payload: videos(15, 'direct') }));
    const results = collect(client.queue(videos(8, 'queued')));
    await pass(5 * 60_000);
    expect(handedIn(fake)).toBe(5);
    await pass(30 * 60_000); // nobody waits for the fifteen: their places are taken for ten minutes
    expect(await results).toHaveLength(8);
    expect(fake.requests.filter(({ status }) => status === 429)).toEqual([]);
  });

  it('give their places back when somebody sees their end', async () => {
    const { fake, media } = fakeService({ durations: () => '1m' });
    const client = media();
    const jobs = await inTime(client.generate.video({ payload: videos(15, 'direct') }));
    await inTime(client.waitForFiles(jobs.map(({ fileId }) => fileId)));
    const results = collect(client.queue(videos(8, 'queued')));
    await pass(10_000);
    expect(handedIn(fake)).toBe(8);
    await pass(10 * 60_000);
    expect(await results).toHaveLength(8);
  });
});

async function collect(queue: AsyncIterable<QueueResult>): Promise<QueueResult[]> {
  const results: QueueResult[] = [];
  for await (const result of queue) {
    results.push(result);
  }
  return results;
}
