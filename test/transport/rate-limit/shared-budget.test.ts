import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RateBudgetStore, StoreAnswer } from 'postreel';
import { LocalBudget } from '../../../src/transport/rate-limit/local-budget.js';
import { SharedBudget } from '../../../src/transport/rate-limit/shared-budget.js';
import { memoryStore } from '../../support/transport/memory-store.js';
import { started, turn } from '../../support/transport/turns.js';

const limits = { limit: 2, windowMs: 1_000, headroom: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('SharedBudget', () => {
  it('shares the limit with other processes', async () => {
    const [one, other] = processes(2);
    const calls = [started(one!), started(other!)];
    await vi.advanceTimersByTimeAsync(0);
    calls.push(started(one!), started(other!));
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.map(({ hasStarted }) => hasStarted)).toEqual([true, true, false, false]);
    expect(one!.state()).toMatchObject({ limit: 2, used: 1, queued: 1 });
    calls[0]!.slot?.release();
    await vi.advanceTimersByTimeAsync(999);
    expect(calls.filter(({ hasStarted }) => hasStarted)).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.filter(({ hasStarted }) => hasStarted)).toHaveLength(3);
  });

  it('asks its store every second, however long that is full', async () => {
    const { store } = memoryStore();
    const asked: number[] = [];
    const isFree = () => performance.now() - startedAt >= 2_500;
    const full: RateBudgetStore = {
      ...store,
      take: (...values) => {
        asked.push(performance.now() - startedAt);
        return isFree() ? store.take(...values) : Promise.resolve({ waitMs: 40_000 });
      },
    };
    const startedAt = performance.now();
    const call = started(sharedBudget(full, limits));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(asked).toEqual([0, 1_000, 2_000, 3_000]);
    expect(call.hasStarted).toBe(true);
  });

  it('gives the slot of a request that never left to another process', async () => {
    const [one, other] = processes(2);
    const calls = [started(one!), started(one!), started(other!)];
    await vi.advanceTimersByTimeAsync(0);
    calls[0]!.slot?.cancel();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls[2]!.hasStarted).toBe(true);
  });

  it('keeps the slot of a process that died until nothing of it can arrive any more', async () => {
    const [died, lives] = processes(2);
    void started(died!);
    void started(died!);
    await vi.advanceTimersByTimeAsync(0);
    const next = started(lives!);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(next.hasStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(next.hasStarted).toBe(true);
  });

  it('holds the slot of a request that nobody waits for a little longer', async () => {
    const { store, account } = memoryStore();
    const call = started(sharedBudget(store, limits));
    await vi.advanceTimersByTimeAsync(0);
    call.slot?.abandon();
    await vi.advanceTimersByTimeAsync(0);
    expect(account.held).toEqual([Date.now() + 3_000]);
  });

  it('ends a slot once', async () => {
    const { store, account } = memoryStore();
    const call = started(sharedBudget(store, limits));
    await vi.advanceTimersByTimeAsync(0);
    call.slot?.release();
    call.slot?.cancel();
    call.slot?.abandon();
    await vi.advanceTimersByTimeAsync(0);
    expect(account.held).toHaveLength(1);
  });

  it('lets interactive calls go before bulk ones', async () => {
    const [one] = processes(1);
    const first = [started(one!), started(one!)];
    await vi.advanceTimersByTimeAsync(0);
    const bulk = started(one!, { priority: 'bulk' });
    const interactive = started(one!);
    first[0]!.slot?.cancel();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([bulk.hasStarted, interactive.hasStarted]).toEqual([false, true]);
  });

  it('tells each call once that it waits, and only those that do', async () => {
    const [one] = processes(1);
    const onWait = [vi.fn(), vi.fn(), vi.fn()];
    for (const listener of onWait) {
      started(one!, { onWait: listener });
    }
    await vi.advanceTimersByTimeAsync(5_000);
    expect(onWait.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 1]);
    expect(onWait[2]).toHaveBeenCalledWith({ reason: 'limit', waitMs: 1_000, queued: 1 });
  });

  it('refuses at once what would wait too long', async () => {
    const [one, other] = processes(2);
    const calls = [started(one!), started(one!)];
    await vi.advanceTimersByTimeAsync(0);
    for (const { slot } of calls) {
      slot?.release();
    }
    await expect(other!.acquire(turn({ maxWaitMs: 900 }))).rejects.toMatchObject({
      outcome: 'not-sent',
      retryAfterMs: 1_000,
    });
    void started(other!);
    await vi.advanceTimersByTimeAsync(300);
    expect(other!.state().resetsAt).toEqual(new Date(Date.now() + 700));
    await expect(other!.acquire(turn({ maxWaitMs: 600 }))).rejects.toMatchObject({
      retryAfterMs: 700,
    });
  });

  it('leaves no timer behind when everybody has gone', async () => {
    const [one, other] = processes(2);
    void started(other!);
    void started(other!);
    await vi.advanceTimersByTimeAsync(0);
    const controller = new AbortController();
    const call = one!.acquire(turn({ signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives back a slot that came after everybody has gone', async () => {
    const { store, account } = memoryStore();
    const controller = new AbortController();
    const budget = sharedBudget(store, limits);
    const call = budget.acquire(turn({ signal: controller.signal }));
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(account.leased.size).toBe(0);
    expect(budget.state()).toMatchObject({ used: 0, queued: 0 });
  });

  it('takes over other limits', async () => {
    const [one] = processes(1);
    const calls = Array.from({ length: 3 }, () => started(one!));
    await vi.advanceTimersByTimeAsync(0);
    one!.adjust({ ...limits, limit: 3 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.every(({ hasStarted }) => hasStarted)).toBe(true);
  });
});

describe('after a 429 a SharedBudget', () => {
  it('lets nobody of any process go for the time the service asks', async () => {
    const [one, other] = processes(2);
    one!.close(900);
    const calls = [started(one!), started(other!)];
    await vi.advanceTimersByTimeAsync(890);
    expect(calls.some(({ hasStarted }) => hasStarted)).toBe(false);
    await vi.advanceTimersByTimeAsync(110);
    expect(calls.every(({ hasStarted }) => hasStarted)).toBe(true);
  });

  it('lets one request of all processes try, a window later, and all others once it is taken', async () => {
    const { store, processes } = fleet(3, { ...limits, limit: 50 });
    processes[0]!.close(60_000);
    const calls = processes.flatMap((budget) => [started(budget), started(budget)]);
    const going = () => calls.filter(({ hasStarted }) => hasStarted);
    await vi.advanceTimersByTimeAsync(990);
    expect(going()).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(20);
    expect(going()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(900);
    expect(going()).toHaveLength(1);
    const reopen = vi.spyOn(store, 'reopen');
    going()[0]!.slot?.accepted();
    going()[0]!.slot?.release();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(reopen).toHaveBeenCalledTimes(1);
    for (const call of going()) {
      call.slot?.accepted();
      call.slot?.release();
    }
    await vi.advanceTimersByTimeAsync(1_000);
    expect(going()).toHaveLength(6);
  });

  it('tries again a window later when the probe is refused too', async () => {
    const { processes } = fleet(2, { ...limits, limit: 50 });
    processes[0]!.close(60_000);
    const calls = processes.map((budget) => started(budget));
    const going = () => calls.filter(({ hasStarted }) => hasStarted);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(going()).toHaveLength(1);
    going()[0]!.slot?.release();
    for (const budget of processes) {
      budget.close(60_000);
    }
    await vi.advanceTimersByTimeAsync(980);
    expect(going()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_200);
    expect(going()).toHaveLength(2);
  });

  it('makes nobody wait for hours in silence, in any process', async () => {
    const [one, other] = processes(2);
    const waiting = expect(one!.acquire(turn())).resolves.toBeDefined();
    await waiting;
    one!.close(3_600_000);
    for (const budget of [one!, other!]) {
      await expect(budget.acquire(turn())).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
    }
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('a SharedBudget that was refused lets one request go first, then more with each answer', async () => {
  const [budget] = processes(1, { ...limits, limit: 50 });
  budget!.close(100);
  const calls = Array.from({ length: 8 }, () => started(budget!));
  const underWay = () => calls.filter(({ hasStarted }) => hasStarted).length;
  await vi.advanceTimersByTimeAsync(200);
  expect(underWay()).toBe(1);
  calls[0]!.slot?.accepted();
  calls[0]!.slot?.release();
  await vi.advanceTimersByTimeAsync(100);
  expect(underWay()).toBe(3);
});

describe('with a slow store, a SharedBudget', () => {
  it.each([200, 900])('keeps the pace of the limit when each answer takes %i ms', async (lagMs) => {
    const { store } = memoryStore();
    const slow = lagging(store, lagMs);
    const budget = sharedBudget(slow, { limit: 1_000, windowMs: 60_000, headroom: 0 });
    let sent = 0;
    const send = async () => {
      for (;;) {
        const slot = await budget.acquire(turn());
        sent++;
        await new Promise((resolve) => setTimeout(resolve, 50));
        slot.accepted();
        slot.release();
      }
    };
    for (let sender = 0; sender < 100; sender++) {
      void send();
    }
    await vi.advanceTimersByTimeAsync(300_000);
    expect(sent).toBeLessThanOrEqual(5_000);
    expect(sent).toBeGreaterThan(4_850);
  });

  it('warns after a second, once, and again when it was well in between', async () => {
    const { store } = memoryStore();
    let lagMs = 1_500;
    const slow: RateBudgetStore = {
      ...store,
      take: (...asked) => lagging(store, lagMs).take(...asked),
    };
    const budget = sharedBudget(slow, { ...limits, limit: 1_000 });
    const onWarning = vi.fn();
    const call = started(budget, { onWarning });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(onWarning.mock.calls).toEqual([
      [expect.stringMatching(/is slow .*Calls wait for it\./)],
    ]);
    expect(call.hasStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(500);
    expect(call.hasStarted).toBe(true);
    started(budget, { onWarning });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(onWarning).toHaveBeenCalledTimes(1);
    lagMs = 10;
    started(budget, { onWarning });
    await vi.advanceTimersByTimeAsync(2_000);
    lagMs = 1_500;
    started(budget, { onWarning });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(onWarning).toHaveBeenCalledTimes(2);
  });
});

describe('the slots of a store that renews them', () => {
  it('have short leases, renewed each second while their request is under way', async () => {
    const { store } = memoryStore();
    const take = vi.spyOn(store, 'take');
    const renew = vi.fn(() => Promise.resolve());
    const budget = sharedBudget({ ...store, renew }, limits);
    const call = started(budget);
    await vi.advanceTimersByTimeAsync(0);
    expect(take).toHaveBeenCalledWith('project', limits, 5_000, 1);
    await vi.advanceTimersByTimeAsync(3_500);
    expect(renew).toHaveBeenCalledTimes(3);
    call.slot?.release();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(renew).toHaveBeenCalledTimes(3);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('when its store is gone, a SharedBudget', () => {
  it('keeps to the limit by itself, and counts what it sent before', async () => {
    const { store } = memoryStore();
    const budget = sharedBudget(store, limits);
    const first = started(budget);
    await vi.advanceTimersByTimeAsync(0);
    vi.spyOn(store, 'take').mockRejectedValue(new Error('gone'));
    vi.spyOn(store, 'release').mockRejectedValue(new Error('gone'));
    const calls = [started(budget), started(budget)];
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.map(({ hasStarted }) => hasStarted)).toEqual([true, false]);
    first.slot?.release();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls[1]!.hasStarted).toBe(true);
  });

  it('asks it again after a while', async () => {
    const { store } = memoryStore();
    const budget = sharedBudget(store, { ...limits, limit: 100 });
    const take = vi.spyOn(store, 'take').mockImplementationOnce(() => {
      throw new Error('not even a promise');
    });
    for (let count = 0; count < 5; count++) {
      started(budget);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(take).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_000);
    started(budget);
    await vi.advanceTimersByTimeAsync(0);
    expect(take).toHaveBeenCalledTimes(2);
  });

  it('does not wait for a store that hangs, and gives back the slot that comes late', async () => {
    const { store } = memoryStore();
    let answerLate: (answer: StoreAnswer) => void = () => undefined;
    const late = new Promise<StoreAnswer>((resolve) => {
      answerLate = resolve;
    });
    vi.spyOn(store, 'take').mockReturnValue(late);
    const cancel = vi.spyOn(store, 'cancel');
    const call = started(sharedBudget(store, limits));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(call.hasStarted).toBe(true);
    answerLate({ slots: ['late'] });
    await vi.advanceTimersByTimeAsync(0);
    expect(cancel).toHaveBeenCalledWith('project', 'late');
  });

  it('leaves no timer behind when the call is aborted before the store has answered', async () => {
    const { store } = memoryStore();
    let answerLate: (answer: StoreAnswer) => void = () => undefined;
    vi.spyOn(store, 'take').mockReturnValue(
      new Promise((resolve) => {
        answerLate = resolve;
      }),
    );
    const cancel = vi.spyOn(store, 'cancel');
    const controller = new AbortController();
    const budget = sharedBudget(store);
    const call = budget.acquire(turn({ signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(0);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
    expect(budget.state().used).toBe(0);
    answerLate({ slots: ['late'] });
    await vi.advanceTimersByTimeAsync(0);
    expect(cancel).toHaveBeenCalledWith('project', 'late');
  });

  it('gives each call that waits an error of its own', async () => {
    const { store } = memoryStore();
    const budget = sharedBudget(store);
    const calls = [started(budget), started(budget)];
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.every(({ hasStarted }) => hasStarted)).toBe(true);
    const waiting = [budget.acquire(turn()), budget.acquire(turn())];
    const ends = Promise.allSettled(waiting);
    await vi.advanceTimersByTimeAsync(0);
    budget.close(3_600_000);
    const errors = (await ends).map((end): unknown =>
      end.status === 'rejected' ? end.reason : undefined,
    );
    expect(errors[0]).toMatchObject({ code: 'QUEUE_TIMEOUT', path: '/contacts' });
    expect(errors[0]).not.toBe(errors[1]);
  });

  it.each(['release', 'cancel', 'close'] as const)(
    'takes a failing %s for what it is',
    async (method) => {
      const { store } = memoryStore();
      const failing: RateBudgetStore = { ...store, [method]: () => Promise.reject(new Error()) };
      const budget = sharedBudget(failing, limits);
      const call = started(budget);
      await vi.advanceTimersByTimeAsync(0);
      if (method === 'close') {
        budget.close(10);
      } else {
        call.slot?.[method]();
      }
      await vi.advanceTimersByTimeAsync(0);
      expect(budget.state().queued).toBe(0);
    },
  );
});

function processes(count: number, own = limits): SharedBudget[] {
  return fleet(count, own).processes;
}

function fleet(count: number, own = limits) {
  const { store } = memoryStore();
  return { store, processes: Array.from({ length: count }, () => sharedBudget(store, own)) };
}

function sharedBudget(store: RateBudgetStore, own = limits): SharedBudget {
  return new SharedBudget(store, 'project', { limits: own, local: new LocalBudget(own) });
}

/** The same store, far away. */
function lagging(store: RateBudgetStore, lagMs: number): RateBudgetStore {
  return {
    ...store,
    async take(...asked) {
      await new Promise((resolve) => setTimeout(resolve, lagMs / 2));
      const answer = await store.take(...asked);
      await new Promise((resolve) => setTimeout(resolve, lagMs / 2));
      return answer;
    },
  };
}
