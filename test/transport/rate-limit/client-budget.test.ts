import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientBudget } from '../../../src/transport/rate-limit/client-budget.js';
import { LocalBudget } from '../../../src/transport/rate-limit/local-budget.js';
import { started, turn } from '../../support/transport/turns.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('ClientBudget', () => {
  it('counts the wait for its own slot as part of the whole wait', async () => {
    const project = new LocalBudget({ limit: 1, windowMs: 5_000, headroom: 0 });
    const budget = new ClientBudget(project, { limit: 1, windowMs: 1_000, headroom: 0 });
    (await budget.acquire(turn())).release();
    const maxWaitMs = 4_500; // a second for its own slot, then four for that of the project
    const refused = expect(budget.acquire(turn({ maxWaitMs }))).rejects.toMatchObject({
      outcome: 'not-sent',
      retryAfterMs: 4_000,
    });
    await vi.advanceTimersByTimeAsync(1_000);
    await refused;
    const patient = started(budget, { maxWaitMs: 4_500 });
    await vi.advanceTimersByTimeAsync(4_000);
    expect(patient.hasStarted).toBe(true);
  });
});
