import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LocalBudget } from '../../../src/transport/rate-limit/local-budget.js';
import { started, takeNow, turn } from '../../support/transport/turns.js';
import fc from '../../support/property.js';

const limits = { limit: 3, windowMs: 1_000, headroom: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('LocalBudget', () => {
  it('lets as many go as the limit allows, without a wait and without a timer', () => {
    const budget = new LocalBudget(limits);
    for (let count = 0; count < 3; count++) {
      takeNow(budget);
    }
    expect(vi.getTimerCount()).toBe(0);
    expect(budget.state()).toMatchObject({ limit: 3, used: 3, queued: 0 });
  });

  it('gives a slot back one window after its answer, and not a millisecond sooner', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    const first = takeNow(budget);
    const next = started(budget);
    await vi.advanceTimersByTimeAsync(5_000);
    first.release();
    await vi.advanceTimersByTimeAsync(999);
    expect(next.hasStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(next.hasStarted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gives a slot back at once when the request never left', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    const first = takeNow(budget);
    const next = started(budget);
    first.cancel();
    await vi.advanceTimersByTimeAsync(0);
    expect(next.hasStarted).toBe(true);
  });

  it('keeps the slot of a request that nobody waits for until it cannot arrive any more', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget).abandon();
    const next = started(budget);
    await vi.advanceTimersByTimeAsync(2_999);
    expect(next.hasStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(next.hasStarted).toBe(true);
  });

  it('ends a slot once, whatever is called afterwards', () => {
    const budget = new LocalBudget(limits);
    const slot = takeNow(budget);
    slot.release();
    slot.cancel();
    slot.abandon();
    expect(budget.state().used).toBe(1);
  });

  it('lets interactive calls go before bulk ones', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    const first = takeNow(budget);
    const bulk = started(budget, { priority: 'bulk' });
    const interactive = started(budget);
    first.cancel();
    await vi.advanceTimersByTimeAsync(0);
    expect([bulk.hasStarted, interactive.hasStarted]).toEqual([false, true]);
  });

  it('keeps no timer when everybody has left the queue', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget).release();
    const controller = new AbortController();
    const call = budget.acquire(turn({ signal: controller.signal, maxWaitMs: 5_000 }));
    expect(vi.getTimerCount()).toBe(2);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves room for others', () => {
    const budget = new LocalBudget({ limit: 10, windowMs: 1_000, headroom: 0.3 });
    for (let count = 0; count < 7; count++) {
      takeNow(budget);
    }
    void budget.acquire(turn());
    expect(budget.state()).toMatchObject({ limit: 10, used: 7, queued: 1 });
  });

  it('has no more than two dozen under way while others send too', () => {
    const budget = new LocalBudget({ limit: 1_000, windowMs: 1_000, headroom: 0.01 });
    for (let count = 0; count < 100; count++) {
      void budget.acquire(turn());
    }
    expect(budget.state()).toMatchObject({ used: 24, queued: 76 });
  });

  it('knows when the next request becomes free', () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    expect(budget.state().resetsAt).toBeUndefined();
    const slot = takeNow(budget);
    expect(budget.state().resetsAt).toBeUndefined();
    slot.release();
    expect(budget.state().resetsAt).toEqual(new Date(Date.now() + 1_000));
  });

  it('takes over other limits and keeps counting what was sent', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget);
    const next = started(budget);
    budget.adjust(limits);
    await vi.advanceTimersByTimeAsync(0);
    expect(next.hasStarted).toBe(true);
    expect(budget.state()).toMatchObject({ limit: 3, used: 2 });
  });

  it('never lets more arrive in any window than the limit, whatever the delays', async () => {
    const request = fc.record({
      madeAt: fc.nat(3_000),
      there: fc.nat(400),
      back: fc.nat(400),
      end: fc.constantFrom('release' as const, 'release' as const, 'abandon' as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(request, { maxLength: 40 }),
        async (limit, requests) => {
          const arrivals = await arrivalsOf(new LocalBudget({ ...limits, limit }), requests);
          expect(arrivals).toHaveLength(requests.length);
          arrivals.sort((one, other) => one - other);
          for (const [index, at] of arrivals.entries()) {
            const first = arrivals[index - limit];
            if (first !== undefined) {
              expect(at - first).toBeGreaterThanOrEqual(limits.windowMs);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('how long a LocalBudget makes wait', () => {
  it('refuses at once what would wait too long', async () => {
    const budget = new LocalBudget(limits);
    for (let count = 0; count < 3; count++) {
      takeNow(budget).release();
    }
    await expect(budget.acquire(turn({ maxWaitMs: 999 }))).rejects.toMatchObject({
      outcome: 'not-sent',
      retryAfterMs: 1_000,
    });
    expect(budget.state().queued).toBe(0);
  });

  it('counts those who go before, bulk calls only for bulk calls', async () => {
    const budget = new LocalBudget(limits);
    for (let count = 0; count < 3; count++) {
      takeNow(budget).release();
    }
    for (let count = 0; count < 4; count++) {
      void budget.acquire(turn({ priority: 'bulk' }));
    }
    const bulk = budget.acquire(turn({ priority: 'bulk', maxWaitMs: 1_500 }));
    await expect(bulk).rejects.toMatchObject({ retryAfterMs: 2_000 });
    const interactive = started(budget, { maxWaitMs: 1_500 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(interactive.hasStarted).toBe(true);
  });

  it('expects a slot under way to come free a window after its answer', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget);
    await expect(budget.acquire(turn({ maxWaitMs: 999 }))).rejects.toMatchObject({
      retryAfterMs: 1_000,
    });
  });

  it('gives up a wait that took longer than it should have', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget); // its answer never comes
    const call = budget.acquire(turn({ maxWaitMs: 1_500 }));
    const refused = expect(call).rejects.toMatchObject({ code: 'QUEUE_TIMEOUT' });
    await vi.advanceTimersByTimeAsync(1_500);
    await refused;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells a call why it waits', () => {
    const budget = new LocalBudget(limits);
    for (let count = 0; count < 3; count++) {
      takeNow(budget).release();
    }
    const onWait = vi.fn();
    void budget.acquire(turn({ onWait }));
    expect(onWait).toHaveBeenLastCalledWith({ reason: 'limit', waitMs: 1_000, queued: 1 });
    budget.close(5_000);
    void budget.acquire(turn({ onWait }));
    expect(onWait).toHaveBeenLastCalledWith({ reason: 'service', waitMs: 5_000, queued: 2 });
  });
});

interface Request {
  readonly madeAt: number;
  readonly there: number;
  readonly back: number;
  readonly end: 'release' | 'abandon';
}

/** When each request reaches the service; one that is abandoned arrives only afterwards. */
async function arrivalsOf(budget: LocalBudget, requests: readonly Request[]): Promise<number[]> {
  const arrivals: number[] = [];
  for (const { madeAt, there, back, end } of requests) {
    const send = async () => {
      const slot = await budget.acquire(turn());
      setTimeout(() => arrivals.push(performance.now()), there);
      setTimeout(() => slot[end](), end === 'release' ? there + back : there / 2);
    };
    setTimeout(() => void send(), madeAt);
  }
  await vi.runAllTimersAsync();
  return arrivals;
}
