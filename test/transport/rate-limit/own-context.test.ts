import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LocalBudget } from '../../../src/transport/rate-limit/local-budget.js';
import { SharedBudget } from '../../../src/transport/rate-limit/shared-budget.js';
import { memoryStore } from '../../support/transport/memory-store.js';
import { started, takeNow, turn } from '../../support/transport/turns.js';

const limits = { limit: 2, windowMs: 1_000, headroom: 0 };

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocketPair', Object);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('where every request has an I/O context of its own, a LocalBudget', () => {
  it('resumes nobody from the context of another: each call has a timer of its own', async () => {
    const budget = new LocalBudget(limits);
    const first = [takeNow(budget), takeNow(budget)];
    const calls = [started(budget), started(budget), started(budget)];
    expect(vi.getTimerCount()).toBe(3);
    first[0]?.cancel();
    await Promise.resolve();
    expect(calls.some(({ hasStarted }) => hasStarted)).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.map(({ hasStarted }) => hasStarted)).toEqual([true, false, false]);
  });

  it('lets calls go in their order, interactive ones first, and no more than the limit', async () => {
    const budget = new LocalBudget(limits);
    for (const slot of [takeNow(budget), takeNow(budget)]) {
      slot.release();
    }
    const bulk = [started(budget, { priority: 'bulk' }), started(budget, { priority: 'bulk' })];
    const interactive = [started(budget), started(budget)];
    expect(budget.state()).toMatchObject({ used: 2, queued: 4 });
    await vi.advanceTimersByTimeAsync(1_010);
    expect(interactive.map(({ hasStarted }) => hasStarted)).toEqual([true, true]);
    expect(bulk.map(({ hasStarted }) => hasStarted)).toEqual([false, false]);
    expect(budget.state()).toMatchObject({ used: 2, queued: 2 });
  });

  it('hears an abort, and a wait that is too long, and leaves no timer behind', async () => {
    const budget = new LocalBudget(limits);
    takeNow(budget).release();
    takeNow(budget).release();
    const controller = new AbortController();
    const call = budget.acquire(turn({ signal: controller.signal }));
    await expect(budget.acquire(turn({ maxWaitMs: 500 }))).rejects.toMatchObject({
      code: 'QUEUE_TIMEOUT',
    });
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
    expect(budget.state().queued).toBe(0);
  });

  it('passes over calls whose request was cancelled without a word', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1, windowMs: 20_000 });
    takeNow(budget).release();
    started(budget);
    vi.clearAllTimers(); // nothing of that request ever runs again
    await vi.advanceTimersByTimeAsync(10_000);
    const next = started(budget);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(next.hasStarted).toBe(true);
  });

  it('gets the slot of a request back that was cancelled under way', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget); // nobody is left to release it
    await vi.advanceTimersByTimeAsync(120_000);
    expect(budget.state().used).toBe(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(budget.state().used).toBe(0);
  });

  it('ends the waits of a pause that is too long, each by itself', async () => {
    const budget = new LocalBudget(limits);
    takeNow(budget);
    takeNow(budget);
    const refused = expect(budget.acquire(turn())).rejects.toMatchObject({
      retryAfterMs: expect.closeTo(3_600_000, -4) as number,
    });
    budget.close(3_600_000);
    await vi.advanceTimersByTimeAsync(1_000);
    await refused;
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('where every request has an I/O context of its own, each call asks the store for itself', async () => {
  const { store } = memoryStore();
  const [one, other] = [0, 1].map(
    () => new SharedBudget(store, 'project', { limits, local: new LocalBudget(limits) }),
  );
  const calls = [started(one!), started(other!), started(one!), started(other!)];
  await vi.advanceTimersByTimeAsync(0);
  expect(calls.map(({ hasStarted }) => hasStarted)).toEqual([true, true, false, false]);
  for (const { slot } of calls) {
    slot?.release();
  }
  await vi.advanceTimersByTimeAsync(2_100);
  expect(calls.every(({ hasStarted }) => hasStarted)).toBe(true);
});
