import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scripted, step } from '../../support/script.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const reconcile = { reconcile: true, retries: 0 } as const;
const found = () => Response.json({ id: 'con_1' });

/** Deletes a contact over such a service; what comes of it, when, and what was asked. */
async function deleted(steps: Parameters<typeof scripted>[0], more: { deadline?: number } = {}) {
  const { client, requests } = scripted(steps);
  const startedAt = performance.now();
  const end = client.contacts.delete('con_1', { ...reconcile, ...more }).then(
    () => ({ error: undefined, ms: performance.now() - startedAt }),
    (error: unknown) => ({ error, ms: performance.now() - startedAt }),
  );
  await vi.runAllTimersAsync();
  return { ...(await end), methods: requests.map(({ method }) => method) };
}

describe('a call that may be read back', () => {
  it('is read twice, a second apart, when its answer was lost', async () => {
    const { error, ms, methods } = await deleted([step.lost, found, step.status(404)]);
    expect(error).toBeUndefined();
    expect(ms).toBe(1_000);
    expect(methods).toEqual(['DELETE', 'GET', 'GET']);
  });

  it('stays unknown when it has not happened by then', async () => {
    const { error, methods } = await deleted([step.lost, found, found]);
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
    expect(methods).toEqual(['DELETE', 'GET', 'GET']);
  });

  it.each([403, 422])('is not read when it was refused with %i', async (status) => {
    const { error, methods } = await deleted([step.status(status)]);
    expect(error).toMatchObject({ status, outcome: 'rejected' });
    expect(methods).toEqual(['DELETE']);
  });

  it.each([403, 500])('is not taken for done when the read fails with %i', async (status) => {
    const { error } = await deleted([step.lost, step.status(status), step.status(status)]);
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
  });

  it('is not read again after its deadline', async () => {
    const { error, ms, methods } = await deleted([step.lost, found], { deadline: 500 });
    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(ms).toBe(0);
    expect(methods).toEqual(['DELETE', 'GET']);
  });
});
