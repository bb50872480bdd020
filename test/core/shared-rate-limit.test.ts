import type { RateBudgetStore, StoreAnswer, ThrottledEvent } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freshKey, limited, passes, slowly, tooMany } from '../support/core/limited.js';
import { step, type Step } from '../support/script.js';
import { memoryStore } from '../support/transport/memory-store.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('processes that share a store', () => {
  it('share the limit', async () => {
    const [one, other] = fleet(2);
    void one.calls(2);
    void other.calls(2);
    await passes(999);
    expect(one.requests.length + other.requests.length).toBe(2);
    await passes(1_001); // they ask the store every second
    expect(one.requests.length + other.requests.length).toBe(4);
  });

  it('count a window from the response', async () => {
    const [one, other] = fleet(2, [slowly(5_000), slowly(5_000)]);
    void one.calls(2);
    await passes(0);
    void other.calls(1);
    await passes(5_999);
    expect(other.requests).toHaveLength(0);
    await passes(1_001);
    expect(other.requests).toHaveLength(1);
  });

  it('get the slot of a request that was never sent', async () => {
    const [one, other] = fleet(2, [step.ok, step.refused]);
    await one.client.contacts.get('con_1');
    await one.client.contacts.get('con_2', { retries: 0 }).safe();
    await other.client.contacts.get('con_3');
    expect(other.requests).toHaveLength(1);
  });

  it('get the slots of a killed process one window and ten seconds later', async () => {
    const [killed, other] = fleet(2, [step.silence, step.silence]);
    void killed.calls(2);
    await passes(0);
    void other.calls(1);
    await passes(10_999);
    expect(other.requests).toHaveLength(0);
    await passes(1_001);
    expect(other.requests).toHaveLength(1);
  });

  it('keep the slots of abandoned requests two seconds longer', async () => {
    const [one, other] = fleet(2, [step.silence, step.silence]);
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const aborted = ['con_1', 'con_2'].map((id) => one.client.contacts.get(id, options).safe());
    await passes(0);
    controller.abort();
    await Promise.all(aborted);
    void other.calls(1);
    await passes(2_999);
    expect(other.requests).toHaveLength(0);
    await passes(1_001);
    expect(other.requests).toHaveLength(1);
  });

  it('let interactive calls go before bulk ones', async () => {
    const [{ client, calls, ids }] = fleet(1);
    await Promise.all(calls(2));
    void client.contacts.get('bulk_1', { priority: 'bulk' });
    void client.contacts.get('bulk_2', { priority: 'bulk' });
    void client.contacts.get('con_3');
    await passes(1_000);
    expect(ids().slice(2)).toEqual(['con_3', 'bulk_1']);
  });

  it('all pause after a 429 to one of them', async () => {
    const [one, other] = fleet(2, [tooMany(5)]);
    const first = one.client.contacts.get('con_1');
    await passes(0);
    const second = other.client.contacts.get('con_2');
    await passes(4_999);
    expect(other.requests).toHaveLength(0);
    await passes(1_001);
    await Promise.all([first, second]);
    expect(other.requests).toHaveLength(1);
  });

  it('reject calls that would have to wait for hours', async () => {
    const [one, other] = fleet(2, [tooMany(3_600)]);
    const [refused, waiting] = [one.client.contacts.get('con_1').safe(), one.calls(2)[1]!.safe()];
    expect((await refused).error).toMatchObject({ status: 429 });
    const shut = { code: 'QUEUE_TIMEOUT', retryAfterMs: 3_600_000 };
    expect((await waiting).error).toMatchObject(shut);
    await expect(one.client.contacts.get('con_3')).rejects.toMatchObject(shut);
    await expect(other.client.contacts.get('con_4')).rejects.toMatchObject(shut);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('report the wait of each call once, and reject calls that would wait too long', async () => {
    const [one, other] = fleet(2);
    await Promise.all(one.calls(2));
    const events: ThrottledEvent[] = [];
    other.client.on('throttled', (event) => events.push(event));
    const waiting = other.client.contacts.get('con_1');
    await passes(300);
    expect(events).toEqual([{ reason: 'limit', waitMs: 1_000, queued: 1 }]);
    expect(other.client.rateLimit.state()).toEqual({
      limit: 2,
      used: 0,
      queued: 1,
      resetsAt: new Date(Date.now() + 700),
    });
    const hasty = other.client.contacts.get('con_2', { deadline: 600 });
    await expect(hasty).rejects.toMatchObject({ outcome: 'not-sent', retryAfterMs: 700 });
    await passes(700);
    await waiting;
    expect(events).toHaveLength(1);
  });

  it('leave no timer and no slot behind when every call was aborted', async () => {
    const [one, other] = fleet(2);
    await Promise.all(one.calls(2));
    const controller = new AbortController();
    const call = other.client.contacts.get('con_1', { signal: controller.signal });
    await passes(500);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
    await passes(500);
    await Promise.all(one.calls(2));
    expect(one.requests).toHaveLength(4);
  });

  it('use the whole limit even if the store takes a second', async () => {
    const { store } = memoryStore();
    const far: RateBudgetStore = {
      ...store,
      async take(...asked) {
        await pause(500);
        const answer = await store.take(...asked);
        await pause(500);
        return answer;
      },
    };
    const rateLimit = { limit: 1_000, windowMs: 60_000, store: far };
    const { client, requests } = limited({ rateLimit });
    const send = async () => {
      for (;;) {
        await client.contacts.get('con_1');
        await pause(50);
      }
    };
    void Array.from({ length: 100 }, send);
    await passes(180_000);
    expect(requests.length).toBeLessThanOrEqual(3_000);
    expect(requests.length).toBeGreaterThan(2_940);
  });
});

it('a project has one limit in a process, whatever store its clients have or none', async () => {
  const group = freshKey();
  const { store } = memoryStore();
  const [plain, stored] = [undefined, store].map((one) =>
    limited({ rateLimit: { limit: 2, windowMs: 1_000, group, store: one } }),
  );
  await Promise.all([plain!.calls(1)[0], stored!.calls(1)[0]]);
  expect(plain!.client.rateLimit.state()).toMatchObject({ used: 2 });
  expect(stored!.client.rateLimit.state()).toMatchObject({ used: 2 });
});

describe('when the store is unavailable', () => {
  it('each process keeps to the limit by itself, and counts its earlier requests', async () => {
    const { store, client, requests, calls } = withStore();
    await client.contacts.get('con_1');
    store.take = gone;
    store.release = gone;
    void calls(2);
    await passes(999);
    expect(requests).toHaveLength(2);
    await passes(1);
    expect(requests).toHaveLength(3);
  });

  it('it is asked again after ten seconds', async () => {
    const { store, client } = withStore();
    const take = vi.spyOn(store, 'take').mockImplementationOnce(gone);
    await client.contacts.get('con_1');
    await passes(9_999);
    await client.contacts.get('con_2');
    expect(take).toHaveBeenCalledTimes(1);
    await passes(1);
    await client.contacts.get('con_3');
    expect(take).toHaveBeenCalledTimes(2);
  });

  it('calls wait five seconds for it, and the slots of its late response are released', async () => {
    const { store, slots, requests, calls } = withStore();
    const { take } = store;
    let answer: (late: StoreAnswer) => void = () => undefined;
    store.take = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const all = Promise.all(calls(2));
    await passes(4_999);
    expect(requests).toHaveLength(0);
    await passes(1);
    await all;
    expect(requests).toHaveLength(2);
    answer(await take('any', { limit: 2, windowMs: 1_000, headroom: 0 }, 10_000, 2));
    expect(slots.size).toBe(2);
    await passes(0);
    expect(slots.size).toBe(0);
  });

  it('a call that is aborted while the store is asked leaves nothing behind', async () => {
    const { store, slots, client } = withStore();
    const { take } = store;
    let answer: (late: StoreAnswer) => void = () => undefined;
    store.take = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    await passes(0);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
    expect(client.rateLimit.state()).toMatchObject({ used: 0 });
    answer(await take('any', { limit: 2, windowMs: 1_000, headroom: 0 }, 10_000));
    await passes(0);
    expect(slots.size).toBe(0);
  });

  it.each(['rejects', 'throws', 'answers nothing', 'answers no slot', 'answers one too many'])(
    'the process warns, and a call goes on: %s',
    async (what) => {
      const { store, client, warnings } = withStore();
      const ways: Record<string, () => Promise<never>> = {
        rejects: gone,
        throws: () => {
          throw new Error('gone');
        },
        'answers nothing': () => Promise.resolve(undefined as never),
        'answers no slot': () => Promise.resolve({ slots: [] } as never),
        'answers one too many': () => Promise.resolve({ slots: ['one', 'two'] } as never),
      };
      store.take = ways[what]!;
      await client.contacts.get('con_1');
      expect(warnings).toEqual([
        expect.stringMatching(
          /^The store of the rate limit failed to take \(.+\)\. Until it answers again, this process keeps to its limits by itself, and several processes may exceed them together\.$/,
        ),
      ]);
    },
  );

  it('the process warns once per outage, whichever step of the store fails', async () => {
    const { store, client, warnings } = withStore();
    const whole = { ...store };
    const outage = { take: gone, release: gone, cancel: gone, close: gone };
    Object.assign(store, outage);
    for (let minute = 0; minute < 5; minute++) {
      await client.contacts.get('con_1');
      await passes(60_000);
    }
    expect(warnings).toHaveLength(1);
    Object.assign(store, whole);
    await client.contacts.get('con_1');
    await passes(60_000);
    Object.assign(store, outage);
    await client.contacts.get('con_1');
    expect(warnings).toHaveLength(2);
  });

  it("the warning shows no password of the store's address, and has one line", async () => {
    const { store, client, warnings } = withStore();
    const text = `connect redis://user:pass@host:1\nfailed ${'x'.repeat(999)}`;
    store.take = () => Promise.reject(new Error(text));
    await client.contacts.get('con_1');
    expect(warnings[0]).toContain('(connect redis://host:1 failed xxx');
    expect(warnings[0]?.length).toBeLessThan(400);
  });

  it.each(['release', 'cancel', 'close'] as const)(
    'a call does not notice that %s fails',
    async (method) => {
      const answers: Record<typeof method, Step> = {
        release: step.ok,
        cancel: step.refused,
        close: tooMany(1),
      };
      const { store, client, warnings } = withStore([answers[method]]);
      store[method] = gone;
      const call = client.contacts.get('con_1').safe();
      await passes(60_000);
      expect((await call).error).toBeUndefined();
      expect(warnings[0]).toContain(`failed to ${method} (gone).`);
    },
  );

  it('the clients of a project in one process have one limit, even if each has a separate store', async () => {
    const group = freshKey();
    const clients = [1, 2, 3].map(() => {
      const store = { ...memoryStore().store, take: gone };
      const one = limited({ rateLimit: { limit: 5, windowMs: 1_000, group, store } });
      one.client.on('warning', () => undefined);
      return one;
    });
    void clients.map(({ calls }) => calls(5));
    await passes(999);
    expect(clients.flatMap(({ requests }) => requests)).toHaveLength(5);
  });
});

/** Clients that share only a store, like separate processes. The service responds to the first as scripted. */
function fleet(count: 1, steps?: readonly Step[]): [ReturnType<typeof limited>];
function fleet(
  count: 2,
  steps?: readonly Step[],
): [ReturnType<typeof limited>, ReturnType<typeof limited>];
function fleet(count: number, steps: readonly Step[] = []): ReturnType<typeof limited>[] {
  const { store } = memoryStore();
  const rateLimit = { limit: 2, windowMs: 1_000, store };
  return Array.from({ length: count }, (_, index) =>
    limited({ rateLimit }, index === 0 ? steps : []),
  );
}

/** A client whose store can be broken, and what it warns of. */
function withStore(steps: readonly Step[] = []) {
  const { store, slots } = memoryStore();
  const rateLimit = { limit: 2, windowMs: 1_000, store };
  const client = limited({ rateLimit }, steps);
  const warnings: string[] = [];
  client.client.on('warning', ({ message }) => warnings.push(message));
  return { store, slots, warnings, ...client };
}

function gone(): Promise<never> {
  return Promise.reject(new Error('gone'));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
