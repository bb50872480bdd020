import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { limited, passes, slowly, tooMany } from '../support/core/limited.js';
import { step } from '../support/script.js';
import { memoryStore } from '../support/transport/memory-store.js';

// In Cloudflare's workers and Vercel's edge no timer and no response of one request may resume another one,
// and a request may be torn down without cleanup.
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocketPair', Object);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('where every request has a separate I/O context, a waiting call', () => {
  it('is resumed by its own timer, not by the end of another call', async () => {
    const steps = [slowly(50, step.refused), step.silence];
    const { requests, calls } = limited({ retries: 0 }, steps);
    void calls(2);
    await passes(0);
    const timers = vi.getTimerCount();
    void calls(3);
    await passes(0);
    expect(vi.getTimerCount()).toBe(timers + 3);
    await passes(50);
    expect(requests).toHaveLength(2); // a slot is free, and nobody was told
    await passes(950);
    expect(requests).toHaveLength(3);
  });

  it('keeps its place, behind interactive calls if it is a bulk call', async () => {
    const { client, calls, ids } = limited();
    await Promise.all(calls(2));
    void client.contacts.get('bulk_1', { priority: 'bulk' });
    void client.contacts.get('bulk_2', { priority: 'bulk' });
    void client.contacts.get('con_3');
    void client.contacts.get('con_4');
    await passes(1_010);
    expect(ids().slice(2)).toEqual(['con_3', 'con_4']);
  });

  it('ends with an abort or its deadline, and leaves no timer behind', async () => {
    const { client, calls } = limited();
    await Promise.all(calls(2));
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    await expect(client.contacts.get('con_2', { deadline: 500 })).rejects.toMatchObject({
      code: 'QUEUE_TIMEOUT',
    });
    await passes(100);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
    expect(client.rateLimit.state()).toMatchObject({ queued: 0 });
  });

  it('is skipped if the platform has ended its request', async () => {
    const rateLimit = { limit: 1, windowMs: 20_000 };
    const { calls, ids, client } = limited({ rateLimit });
    await Promise.all(calls(1));
    void client.contacts.get('torn');
    await passes(0);
    vi.clearAllTimers(); // nothing of it ever runs again
    await passes(10_000);
    void client.contacts.get('next');
    await passes(10_000);
    expect(ids()).toEqual(['con_0', 'next']);
  });

  it('notices by itself that the service asks for hours', async () => {
    const { client } = limited({}, [slowly(100, tooMany(3_600)), step.silence]);
    const [first, , waiting] = [1, 2, 3].map((id) => client.contacts.get(`con_${id}`).safe());
    await passes(1_100);
    expect((await first)?.error).toMatchObject({ status: 429 });
    expect((await waiting)?.error).toMatchObject({
      code: 'QUEUE_TIMEOUT',
      retryAfterMs: 3_599_100,
    });
  });

  it('asks the store by itself', async () => {
    const { store } = memoryStore();
    const rateLimit = { limit: 2, windowMs: 1_000, store };
    const [one, other] = [limited({ rateLimit }), limited({ rateLimit })];
    void [one, other].map(({ calls }) => calls(2));
    await passes(0);
    expect(one.requests.length + other.requests.length).toBe(2);
    await passes(2_100);
    expect(one.requests.length + other.requests.length).toBe(4);
  });
});

it('the slot of a request that the platform has ended is free once the request can no longer arrive', async () => {
  const rateLimit = { limit: 1, windowMs: 1_000 };
  const { client, calls } = limited({ rateLimit }, [step.silence]);
  void calls(1);
  await passes(0);
  vi.clearAllTimers();
  await passes(10_000);
  expect(client.rateLimit.state()).toMatchObject({ used: 1 });
  await passes(3_000);
  expect(client.rateLimit.state()).toMatchObject({ used: 0 });
});
