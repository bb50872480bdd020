import type { QueueResult, RateBudgetStore } from 'postreel';
import type { FakeMedia } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { OutstandingJobs } from '../../../../src/media/jobs/outstanding.js';
import { systemClock } from '../../../../src/core/async.js';
import {
  PendingSlots,
  sharedSlots,
  type SlotParts,
} from '../../../../src/media/queue/slots/slots.js';
import { fakeService, inTime, pass, useFakeTime, video } from '../../../support/media/fake-time.js';

useFakeTime();

/** A store that leases places to slots, each of which stands for a process. */
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
    hold: (
      _group: string,
      names: readonly string[],
      leaseMs: number,
      instead: readonly string[],
    ) => {
      for (const place of instead) {
        leases.delete(place);
      }
      for (const name of names) {
        leases.set(name, Date.now() + leaseMs);
      }
      return Promise.resolve();
    },
    giveBack: (_group: string, places: readonly string[]) => {
      for (const place of places) {
        leases.delete(place);
      }
      return Promise.resolve();
    },
  } as unknown as RateBudgetStore; // leasing is all that slots want of it
  return { leases, store, slots: () => new PendingSlots(partsWith(store)) };
}

function partsWith(store?: RateBudgetStore): SlotParts {
  return { limit: 20, clock: systemClock, store, group: 'project', others: new OutstandingJobs() };
}

describe('slots with a store', () => {
  it('are never more than there are, however many processes take them', async () => {
    const { leases, slots } = leasing();
    const all = [slots(), slots(), slots()];
    const taken = await Promise.all(all.map((own) => own.take(9)));
    expect(taken.map(({ length }) => length)).toEqual([9, 9, 2]);
    expect(leases.size).toBe(20);
    expect(all[2]!.free).toBe(18); // as far as it can see
    expect(await all[2]!.take(5)).toEqual([]);
    all[0]!.release(taken[0]!.slice(0, 1));
    all[0]!.release(taken[0]!.slice(0, 1)); // once more is nothing
    expect(leases.size).toBe(19);
    expect(await all[2]!.take(5)).toHaveLength(1);
  });

  it('are known to be with others for as long as a lease, once the store has none left', async () => {
    const { slots } = leasing();
    const [one, other] = [slots(), slots()];
    const taken = await one.take(15);
    expect(one.others).toBe(0);
    await other.take(20);
    expect([other.taken, other.others]).toEqual([5, 15]);
    one.release(taken.slice(0, 8));
    await other.take(4); // all that it wanted
    expect([other.taken, other.others]).toEqual([9, 11]);
    await pass(10 * 60_000);
    expect(other.others).toBe(0);
  });

  it('are left to the others where too few are free for a call', async () => {
    const { leases, slots } = leasing();
    await slots().take(17);
    expect(await slots().take(10, 4)).toEqual([]);
    expect(leases.size).toBe(17);
    expect(await slots().take(10, 3)).toHaveLength(3);
  });

  it('of a dead process come free within minutes', async () => {
    const { slots } = leasing();
    const dead = slots();
    dead.hold(
      Array.from({ length: 20 }, (_, index) => `file_${index}`),
      await dead.take(20),
    );
    const other = slots();
    expect(await other.take(1)).toEqual([]);
    await pass(8 * 60_000); // the service counts a long job as pending for as long
    expect(await other.take(1)).toEqual([]);
    await pass(2 * 60_000);
    expect(await other.take(20)).toHaveLength(20);
  });

  it('are tied to file ids: whoever follows the same files takes no new ones', async () => {
    const { leases, slots } = leasing();
    const first = slots();
    first.hold(['file_1', 'file_2'], await first.take(2));
    slots().hold(['file_1', 'file_2']);
    expect([...leases.keys()]).toEqual(['file_1', 'file_2']);
  });

  it('are renewed for as long as the queue lives', async () => {
    const { leases, slots } = leasing();
    const own = slots();
    own.hold(['file_1'], await own.take(1));
    for (let minute = 0; minute < 30; minute++) {
      await pass(60_000);
      own.renew();
    }
    expect([...leases.values()].every((endsAt) => endsAt > Date.now())).toBe(true);
  });

  it('in doubt go back to the store when their time is over', async () => {
    const { leases, slots } = leasing();
    const own = slots();
    own.holdUncertain(await own.take(3));
    for (let minute = 0; minute < 10; minute++) {
      await pass(60_000);
      own.renew();
    }
    expect(own.free).toBe(20);
    expect(leases.size).toBe(0);
  });

  it('are counted by each process itself when the store fails or never answers', async () => {
    for (const answer of [() => Promise.reject(new Error('gone')), () => new Promise(() => {})]) {
      const store = { lease: answer } as unknown as RateBudgetStore;
      const slots = new PendingSlots(partsWith(store));
      expect(await inTime(slots.take(25))).toHaveLength(20);
    }
  });
});

describe('slots of a store that is gone', () => {
  it('stay with those who had them when it last told, while it may only restart', async () => {
    const { store, slots } = leasing();
    const [one, other] = [slots(), slots()];
    await one.take(12);
    const own = await other.take(20);
    const gone = () => Promise.reject(new Error('gone'));
    Object.assign(store, { lease: gone, hold: gone, giveBack: gone });
    expect(await other.take(5)).toEqual([]);
    other.release(own.slice(0, 3));
    expect(await other.take(5, 4)).toHaveLength(3); // nobody can say when there will be more
    await pass(60_000);
    expect(await other.take(20)).toHaveLength(12);
  });
});

describe('slots that a store could not take back', () => {
  it.each(['rejects', 'hangs'])('are given back with the next question: it %s', async (habit) => {
    const { leases, store, slots } = leasing();
    const own = slots();
    const before = { ...store };
    const gone = () =>
      habit === 'hangs' ? new Promise(() => {}) : Promise.reject(new Error('gone'));
    const names = await own.take(6);
    Object.assign(store, { giveBack: gone, hold: gone });
    own.release(names.slice(0, 3));
    own.hold(['file_1', 'file_2'], names.slice(3, 5));
    await pass(5_000);
    Object.assign(store, before);
    expect(leases.size).toBe(6);
    await own.take(1);
    expect([...leases.keys()]).toEqual(['place 6', 'place 7']);
  });

  it('are given back again where it hears that last', async () => {
    const { leases, store, slots } = leasing();
    const own = slots();
    const hold = store.hold!.bind(store);
    own.hold(['file_1', 'file_2'], await own.take(2));
    store.hold = async (...call) => {
      await new Promise((resolve) => setTimeout(resolve, 6_000));
      return hold(...call);
    };
    own.hold(['file_1', 'file_2']);
    own.release(['file_1']);
    await pass(6_000);
    expect([...leases.keys()]).toEqual(['file_2']);
  });

  it('are kept when they are held again', async () => {
    const { leases, store, slots } = leasing();
    const own = slots();
    const before = { ...store };
    own.hold(['file_1'], await own.take(1));
    Object.assign(store, { giveBack: () => Promise.reject(new Error('gone')) });
    own.release(['file_1']);
    await pass(0);
    Object.assign(store, before);
    own.hold(['file_1']);
    await own.take(1);
    expect(leases.has('file_1')).toBe(true);
  });
});

describe('slots', () => {
  it('in doubt come free after ten minutes, and say when', async () => {
    const slots = new PendingSlots(partsWith());
    const names = await slots.take(25);
    expect(slots.free).toBe(0);
    slots.release(names.slice(0, 1));
    slots.holdUncertain(names.slice(1, 3));
    expect(slots.free).toBe(1);
    expect(slots.nextAt - systemClock.now()).toBe(600_000);
    await pass(600_000);
    expect(slots.free).toBe(3);
  });

  it('tell of every change', async () => {
    const slots = new PendingSlots(partsWith());
    let changes = 0;
    const stop = slots.onChange(() => changes++);
    const names = await slots.take(2);
    slots.release(names);
    expect(changes).toBe(1);
    stop();
    slots.release(names);
    expect(changes).toBe(1);
  });

  it('are as many as the service takes: halved after a refusal, then one more every ten minutes', async () => {
    const slots = new PendingSlots(partsWith());
    slots.learn('refused', 20);
    expect(slots.free).toBe(10);
    slots.learn('accepted', 10);
    slots.learn('refused', 12);
    expect(slots.free).toBe(10);
    await pass(600_000);
    expect(slots.free).toBe(11);
    slots.learn('accepted', 11);
    expect(slots.free).toBe(11);
    await pass(9 * 600_000);
    expect(slots.free).toBe(20);
  });

  it('that were doubted for the sake of a job at fault are there again', () => {
    const slots = new PendingSlots(partsWith());
    slots.learn('maybe-full', 20);
    slots.learn('maybe-full', 10);
    expect(slots.free).toBe(5);
    slots.learn('not-full', 1);
    expect(slots.free).toBe(20);
  });

  it('of one project are the same for all clients, and leased once any of them has a store', async () => {
    const { leases, store } = leasing();
    const alone = sharedSlots('one project', partsWith());
    await alone.take(3);
    expect(leases.size).toBe(0);
    const stored = sharedSlots('one project', partsWith(store));
    expect(stored).toBe(alone);
    expect(await stored.take(20)).toHaveLength(17);
    expect(leases.size).toBe(17);
    expect(sharedSlots('one project', partsWith())).toBe(alone);
    expect(sharedSlots('one project', partsWith(leasing().store))).not.toBe(alone);
  });
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
