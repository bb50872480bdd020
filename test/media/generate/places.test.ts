import type { MediaOptions, RateBudgetStore } from 'postreel';
import { describe, expect, it, vi } from 'vitest';
import { collect, videos } from '../../support/media/queue-helpers.js';
import {
  ending,
  fakeService,
  inTime,
  pass,
  speech,
  useFakeTime,
  videoEndpoint,
} from '../../support/media/fake-time.js';

useFakeTime();

/** A store of places with a memory of its own, as two processes would share it. */
function sharedStore() {
  const leases = new Map<string, number>();
  let names = 0;
  const store: RateBudgetStore = {
    take: () => Promise.resolve({ slots: ['slot'] }),
    release: () => Promise.resolve(),
    cancel: () => Promise.resolve(),
    close: () => Promise.resolve(),
    lease(_, count, limit, leaseMs) {
      for (const [name, until] of leases) {
        if (until <= Date.now()) {
          leases.delete(name);
        }
      }
      const free = Math.max(0, Math.min(count, limit - leases.size));
      const taken = Array.from({ length: free }, () => `lease ${++names}`);
      taken.forEach((name) => leases.set(name, Date.now() + leaseMs));
      return Promise.resolve(taken);
    },
    hold(_, held, leaseMs, instead) {
      instead.forEach((name) => leases.delete(name));
      held.forEach((name) => leases.set(name, Date.now() + leaseMs));
      return Promise.resolve();
    },
    giveBack(_, places) {
      places.forEach((name) => leases.delete(name));
      return Promise.resolve();
    },
  };
  return { store, leases };
}

/** Two processes of one project: each has a key of its own, and both the same store. */
function processes(duration: '8m' | '15m') {
  const { fake, media, group } = fakeService({ durations: () => duration, rateLimit: false });
  const { store, leases } = sharedStore();
  const client = (own: string, more: MediaOptions = {}) =>
    media({ rateLimit: { group: `${group} ${own}`, store }, ...more });
  return { fake, leases, client };
}

describe('direct calls next to a queue, with a shared store', () => {
  it('take slots in the store, so that a queue in another process does not exceed the limit', async () => {
    const { fake, leases, client } = processes('8m');
    const jobs = await inTime(client('one').generate.video({ payload: videos(19) }));
    await inTime(client('one').generate.audio(speech()));
    expect(leases.size).toBe(20);
    expect([...leases.keys()]).toContain(jobs[0]!.fileId);
    const results = collect(client('two').queue(videos(3)));
    await pass(60_000);
    expect(fake.files).toHaveLength(20);
    await inTime(results);
    expect(fake.requests.filter(({ status }) => status === 429)).toEqual([]);
  });

  it('release their slots when the file has ended, and keep them during the wait for it', async () => {
    const { leases, client } = processes('15m');
    const job = await inTime(client('one').generate.audio(speech()));
    const wait = job.waitForFile({ timeout: Infinity });
    await pass(12 * 60_000);
    expect([...leases].map(([name, until]) => [name, until > Date.now()])).toEqual([
      [job.fileId, true],
    ]);
    await inTime(wait);
    expect(leases.size).toBe(0);
  });

  it('release their slots with the next call, if the store could not be reached before', async () => {
    const { fake, media, group } = fakeService({ rateLimit: false });
    const { store, leases } = sharedStore();
    const giveBack = vi.fn(store.giveBack?.bind(store)).mockRejectedValueOnce(new Error('down'));
    const client = media({ rateLimit: { group, store: { ...store, giveBack } } });
    client.on('warning', () => undefined);
    fake.fail(videoEndpoint, { status: 400 });
    await inTime(ending(client.generate.video({ payload: videos(1) })));
    expect(leases.size).toBe(1);
    const { fileId } = await inTime(client.generate.audio(speech()));
    expect([...leases.keys()]).toEqual([fileId]);
  });

  it('release their slots after a refusal, and keep them when the outcome is unknown', async () => {
    const { fake, leases, client } = processes('15m');
    fake.fail(videoEndpoint, { status: 400 });
    await inTime(ending(client('one').generate.video({ payload: videos(1) })));
    expect(leases.size).toBe(0);
    fake.fail(videoEndpoint, { loseAnswer: true });
    await inTime(ending(client('one').generate.video({ payload: videos(2) })));
    expect(leases.size).toBe(2);
  });
});
