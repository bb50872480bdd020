import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Slot } from '../../../src/core/types.js';
import { LocalBudget } from '../../../src/transport/rate-limit/local-budget.js';
import { started, takeNow, turn } from '../../support/transport/turns.js';

const limits = { limit: 3, windowMs: 1_000, headroom: 0 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('after a 429 a LocalBudget', () => {
  it('lets nobody go for the time the service asks, then one, then two', async () => {
    const budget = new LocalBudget({ ...limits, limit: 100 });
    takeNow(budget).release();
    budget.close(500);
    const calls = Array.from({ length: 10 }, () => started(budget));
    const going = () => calls.filter(({ hasStarted }) => hasStarted).length;
    await vi.advanceTimersByTimeAsync(499);
    expect(going()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(going()).toBe(1);
    await answered(calls[0]!);
    expect(going()).toBe(3);
    await answered(calls[1]!);
    expect(going()).toBe(6);
  });

  it('ignores answers to what left before', async () => {
    const budget = new LocalBudget({ ...limits, limit: 100 });
    const before = Array.from({ length: 10 }, () => takeNow(budget));
    await vi.advanceTimersByTimeAsync(10);
    budget.close(500);
    for (const slot of before) {
      slot.accepted();
      slot.release();
    }
    const calls = Array.from({ length: 10 }, () => started(budget));
    await vi.advanceTimersByTimeAsync(500);
    expect(calls.filter(({ hasStarted }) => hasStarted)).toHaveLength(1);
  });

  it('stays closed for the longest time that was asked for', async () => {
    const budget = new LocalBudget(limits);
    budget.close(500);
    budget.close(100);
    expect(budget.state().resetsAt).toEqual(new Date(Date.now() + 500));
    const call = started(budget);
    await vi.advanceTimersByTimeAsync(499);
    expect(call.hasStarted).toBe(false);
  });

  it('refuses at once those in the queue who cannot wait so long', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget).release();
    const hasty = budget.acquire(turn({ maxWaitMs: 2_000 }));
    const patient = started(budget);
    const refused = expect(hasty).rejects.toMatchObject({ retryAfterMs: 3_000 });
    budget.close(3_000);
    await refused;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(patient.hasStarted).toBe(true);
  });

  it('makes nobody wait for hours in silence', async () => {
    const budget = new LocalBudget({ ...limits, limit: 1 });
    takeNow(budget);
    const waiting = expect(budget.acquire(turn())).rejects.toMatchObject({
      outcome: 'not-sent',
      retryAfterMs: 3_600_000,
    });
    budget.close(3_600_000);
    await waiting;
    await expect(budget.acquire(turn())).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('can wait longer than a timer lasts', async () => {
    const windowMs = 30 * 24 * 60 * 60_000;
    const budget = new LocalBudget({ limit: 1, windowMs, headroom: 0 });
    takeNow(budget).release();
    const call = started(budget);
    await vi.advanceTimersByTimeAsync(windowMs - 1);
    expect(call.hasStarted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(call.hasStarted).toBe(true);
  });
});

async function answered({ slot }: { slot: Slot | undefined }): Promise<void> {
  await vi.advanceTimersByTimeAsync(1);
  slot?.accepted();
  slot?.release();
  await vi.advanceTimersByTimeAsync(0);
}
