import type { ThrottledEvent } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freshKey, limited, passes, slowly, tooMany } from '../support/core/limited.js';
import { step, type Step } from '../support/script.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the rate limit of a client', () => {
  it('allows as many requests as the limit, and the others one window after the responses', async () => {
    const { requests, client, calls } = limited();
    const all = Promise.all(calls(5));
    await passes(999);
    expect(requests).toHaveLength(2);
    expect(client.rateLimit.state()).toEqual({
      limit: 2,
      used: 2,
      queued: 3,
      resetsAt: new Date(Date.now() + 1),
    });
    await passes(1);
    expect(requests).toHaveLength(4);
    await passes(1_000);
    await all;
    expect(requests).toHaveLength(5);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('counts the window from the response, because the service may have counted as late as that', async () => {
    const { requests, calls } = limited({}, [slowly(5_000), slowly(5_000)]);
    const all = Promise.all(calls(3));
    await passes(5_999);
    expect(requests).toHaveLength(2);
    await passes(1);
    await all;
    expect(requests).toHaveLength(3);
  });

  it.each([-3_600_000, 3_600_000])(
    'is not affected when the wall clock is set by %i ms',
    async (ms) => {
      const { requests, calls } = limited();
      void calls(3);
      await passes(100);
      vi.setSystemTime(Date.now() + ms);
      await passes(899);
      expect(requests).toHaveLength(2);
      await passes(1);
      expect(requests).toHaveLength(3);
    },
  );

  it('is shared by the clients of a project in one process', async () => {
    const { requests, client, options } = limited();
    const { client: other } = limited(options);
    await client.contacts.get('con_1');
    await other.contacts.get('con_2');
    void client.contacts.get('con_3');
    void other.contacts.get('con_4');
    await passes(0);
    expect(requests).toHaveLength(1);
    expect(other.rateLimit.state()).toMatchObject({ used: 2, queued: 2 });
  });

  it('is not shared with other projects, unless a group joins their keys', async () => {
    const { client } = limited();
    const { client: stranger } = limited();
    await client.contacts.get('con_1');
    expect(client.rateLimit.state()?.used).toBe(1);
    expect(stranger.rateLimit.state()?.used).toBe(0);

    const rateLimit = { limit: 2, windowMs: 1_000, group: freshKey() };
    const { client: one } = limited({ rateLimit });
    const { client: two } = limited({ rateLimit });
    await one.contacts.get('con_1');
    expect(two.rateLimit.state()?.used).toBe(1);
  });

  it('outlives the key of its project', async () => {
    const keys = [freshKey(), freshKey()];
    const apiKey = () => Promise.resolve(keys.shift()!);
    const { requests, client } = limited({ apiKey }, [step.status(401)]);
    await client.contacts.get('con_1');
    expect(requests).toHaveLength(2);
    expect(client.rateLimit.state()?.used).toBe(2);
    const next = client.contacts.get('con_2');
    await passes(999);
    expect(requests).toHaveLength(2);
    await passes(1);
    await next;
  });

  it('lets interactive calls go before bulk calls', async () => {
    const { client, ids } = limited();
    for (const id of ['bulk_1', 'bulk_2', 'bulk_3', 'bulk_4']) {
      void client.contacts.get(id, { priority: 'bulk' });
    }
    const interactive = client.contacts.get('con_1');
    await passes(1_000);
    await interactive;
    expect(ids()).toEqual(['bulk_1', 'bulk_2', 'con_1', 'bulk_3']);
  });

  it('lets repeats go before first attempts', async () => {
    const rateLimit = { limit: 2, windowMs: 10_000 };
    const { calls, ids } = limited({ rateLimit }, [step.status(503)]);
    void calls(4);
    await passes(10_000);
    expect(ids()).toEqual(['con_0', 'con_1', 'con_0', 'con_2']);
  });

  it('leaves room for others, with at most 24 requests in flight', async () => {
    const rateLimit = { limit: 100, windowMs: 1_000, headroom: 0.07 };
    const { requests, calls } = limited({ rateLimit }, Array<Step>(24).fill(slowly(100)));
    void calls(200);
    await passes(99);
    expect(requests).toHaveLength(24);
    await passes(800);
    expect(requests).toHaveLength(93);
  });

  it('can be changed, and keeps counting', async () => {
    const { client, options } = limited();
    await client.contacts.get('con_1');
    await client.contacts.get('con_2');
    const waiting = client.contacts.get('con_3');
    limited({ ...options, rateLimit: { limit: 100, windowMs: 1_000 } }).client.rateLimit.state();
    await waiting;
    expect(client.rateLimit.state()).toMatchObject({ limit: 100, used: 3 });
  });

  it('can be lower for a derived client, without effect on its parent', async () => {
    const { requests, client } = limited();
    const careful = client.with({ rateLimit: { limit: 1, windowMs: 1_000 } });
    void careful.contacts.get('con_1');
    void careful.contacts.get('con_2');
    await passes(0);
    expect(requests).toHaveLength(1);
    expect(careful.rateLimit.state()).toMatchObject({ limit: 1, used: 1, queued: 1 });
    expect(client.rateLimit.state()).toMatchObject({ limit: 2, used: 1, queued: 0 });
    await client.contacts.get('con_3');
    await passes(1_000);
    expect(requests).toHaveLength(3);
  });

  it("cannot be larger for a derived client than the rest of its parent's limit", async () => {
    const { requests, client } = limited();
    const eager = client.with({ rateLimit: { limit: 100, windowMs: 1_000 } });
    for (const id of ['con_1', 'con_2', 'con_3']) {
      void eager.contacts.get(id);
    }
    await passes(0);
    expect(requests).toHaveLength(2);
    const hasty = eager.contacts.get('con_4', { deadline: 500 });
    await expect(hasty).rejects.toMatchObject({ code: 'QUEUE_TIMEOUT', retryAfterMs: 1_000 });
    expect(eager.rateLimit.state()).toMatchObject({ limit: 2, used: 3 });
    await passes(1_000);
    expect(requests).toHaveLength(3);
  });

  it('can be off', async () => {
    const { requests, client, calls } = limited({ rateLimit: false });
    await Promise.all(calls(50));
    expect(requests).toHaveLength(50);
    expect(client.rateLimit.state()).toBeUndefined();
  });

  it('emits an event when a call waits, with the time and the length of the queue', async () => {
    const { client, calls } = limited();
    const events: ThrottledEvent[] = [];
    client.on('throttled', (event) => events.push(event));
    await Promise.all(calls(2));
    expect(events).toEqual([]);
    void calls(2);
    await passes(0);
    expect(events).toEqual([
      { reason: 'limit', waitMs: 1_000, queued: 1 },
      { reason: 'limit', waitMs: 1_000, queued: 2 },
    ]);
  });

  it('is dropped with its project if there are a thousand and the project is idle', async () => {
    const [idle, used, paused] = [limited(), limited(), limited({ retries: 0 }, [tooMany(60)])];
    const idleState = idle.client.rateLimit.state();
    await used.client.contacts.get('con_1');
    await paused.client.contacts.get('con_1').safe();
    for (let count = 0; count < 1_000; count++) {
      limited().client.rateLimit.state();
    }
    expect(idleState).toMatchObject({ limit: 2 });
    // By a client without its own limit: the default limit shows that the budget is new.
    const stateOf = ({ options: { apiKey } }: typeof idle) =>
      limited({ apiKey, rateLimit: {} }).client.rateLimit.state();
    expect(stateOf(idle)).toMatchObject({ limit: 1_000 });
    expect(stateOf(used)).toMatchObject({ limit: 2, used: 1 });
    expect(stateOf(paused)).toMatchObject({ limit: 2, resetsAt: expect.any(Date) as Date });
  });
});

describe('a call that waits for the rate limit', () => {
  it('rejects at once if its deadline is too short for the wait', async () => {
    const { requests, client, calls } = limited();
    await Promise.all(calls(2));
    const call = client.contacts.get('con_3', { deadline: 900 });
    await expect(call).rejects.toMatchObject({
      name: 'RateLimitError',
      code: 'QUEUE_TIMEOUT',
      outcome: 'not-sent',
      retryAfterMs: 1_000,
      method: 'GET',
      path: '/contacts/con_3',
      message:
        'The rate limit is used up: the call would wait about 1 s. Try again later, or allow a longer `deadline`.',
    });
    expect(call.outcome).toBe('not-sent');
    expect(requests).toHaveLength(2);
  });

  it('rejects at once if `maxQueueMs` is too short for the wait', async () => {
    const rateLimit = { limit: 1, windowMs: 1_000, maxQueueMs: 500 };
    const { client } = limited({ rateLimit });
    await client.contacts.get('con_1');
    await expect(client.contacts.get('con_2')).rejects.toMatchObject({
      retryAfterMs: 1_000,
      message: expect.stringContaining('allow a longer `maxQueueMs`') as string,
    });
  });

  it('counts the calls before it; bulk calls only if it is a bulk call', async () => {
    const { client, calls, ids } = limited();
    await Promise.all(calls(2));
    for (let id = 0; id < 3; id++) {
      void client.contacts.get(`bulk_${id}`, { priority: 'bulk' });
    }
    const bulk = client.contacts.get('bulk_3', { priority: 'bulk', deadline: 1_500 });
    await expect(bulk).rejects.toMatchObject({ retryAfterMs: 2_000 });
    const interactive = client.contacts.get('con_1', { deadline: 1_500 });
    await passes(1_000);
    await interactive;
    expect(ids().slice(2)).toEqual(['con_1', 'bulk_0']);
  });

  it('gives up when the wait takes longer than forecast', async () => {
    const rateLimit = { limit: 1, windowMs: 1_000 };
    const { client, calls } = limited({ rateLimit, timeout: 60_000 }, [step.silence]);
    void calls(1);
    await passes(0);
    const call = client.contacts.get('con_1', { deadline: 1_500 }).safe();
    await passes(1_500);
    expect((await call).error).toMatchObject({ code: 'QUEUE_TIMEOUT', outcome: 'not-sent' });
    expect(client.rateLimit.state()).toMatchObject({ queued: 0 });
  });

  it.each([new Error('enough'), 'enough', null])(
    'hears an abort, gives up its place and rejects with the reason: %s',
    async (reason) => {
      const { requests, client, calls } = limited();
      await Promise.all(calls(2));
      const controller = new AbortController();
      const call = client.contacts.get('con_3', { signal: controller.signal });
      const next = client.contacts.get('con_4');
      await passes(500);
      controller.abort(reason);
      await expect(call).rejects.toBe(reason);
      expect(call.outcome).toBe('not-sent');
      await passes(500);
      await next;
      await passes(0); // the call tidies up
      expect(requests).toHaveLength(3);
      expect(vi.getTimerCount()).toBe(0);
    },
  );
});

it('a priority that does not exist is rejected before anything is sent', async () => {
  const { requests, client } = limited();
  const call = client.contacts.get('con_1', { priority: 'high' as never });
  await expect(call).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: "`priority` must be one of 'interactive', 'bulk'.",
  });
  expect(requests).toHaveLength(0);
});

describe('the slot of a call', () => {
  it('is free at once if the request was never sent', async () => {
    const { client } = limited({ retries: 0 }, [step.refused]);
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({ code: 'NOT_CONNECTED' });
    expect(client.rateLimit.state()?.used).toBe(0);
  });

  it('is kept two seconds longer if the call was aborted in flight, because the request may arrive late', async () => {
    const { client } = limited({}, [step.silence]);
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    await passes(100);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    await passes(2_999);
    expect(client.rateLimit.state()?.used).toBe(1);
    await passes(1);
    expect(client.rateLimit.state()?.used).toBe(0);
  });
});

it('an abort at the moment when a slot becomes free loses no slot', async () => {
  const rateLimit = { limit: 1, windowMs: 1_000 };
  for (let turns = 0; turns < 60; turns++) {
    const controller = new AbortController();
    const unsent = () => {
      void after(turns, () => controller.abort());
      return step.refused();
    };
    const { client, calls } = limited({ rateLimit, retries: 0 }, [slowly(100, unsent)]);
    void calls(1);
    const waiting = client.contacts.get('con_1', { signal: controller.signal }).safe();
    await passes(100);
    await waiting;
    await passes(5_000);
    expect(client.rateLimit.state()).toMatchObject({ used: 0, queued: 0 });
  }
});

describe('a 429', () => {
  const rateLimit = { limit: 100, windowMs: 60_000 };

  it('pauses all calls for as long as the service asks; then one is sent, and one more with each response', async () => {
    const { client, requests, calls } = limited({ rateLimit }, [
      slowly(100, tooMany(5)),
      ...Array<Step>(20).fill(slowly(100)),
    ]);
    const first = client.contacts.get('con_1');
    await passes(100);
    const others = calls(12);
    await passes(4_999);
    expect(requests).toHaveLength(1);
    const sent = [];
    for (const ms of [1, 100, 100, 100]) {
      await passes(ms);
      sent.push(requests.length);
    }
    expect(sent).toEqual([2, 4, 8, 14]);
    await passes(100);
    await Promise.all([first, ...others]);
  });

  it('is not followed by more requests because of responses to earlier requests', async () => {
    const { calls, requests } = limited({ rateLimit, retries: 0 }, [
      tooMany(5),
      ...Array<Step>(20).fill(slowly(100)),
    ]);
    void calls(11);
    await passes(1_000);
    void calls(10);
    await passes(4_050);
    expect(requests).toHaveLength(12);
  });

  it('makes calls wait for one window if it names no time', async () => {
    const { client, requests } = limited({ retries: 0 }, [step.status(429)]);
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({ status: 429 });
    const next = client.contacts.get('con_2');
    await passes(999);
    expect(requests).toHaveLength(1);
    await passes(1);
    await next;
  });

  it('that asks for less than an earlier one does not shorten the pause', async () => {
    const steps = [tooMany(30), slowly(100, tooMany(1))];
    const { client, calls, requests } = limited({ rateLimit, retries: 0 }, steps);
    void calls(2);
    await passes(1_000);
    const next = client.contacts.get('con_3');
    await passes(28_999);
    expect(requests).toHaveLength(2);
    await passes(1);
    await next;
  });

  it('that asks for more than two windows rejects the calls, for an hour at most', async () => {
    const { client, requests, calls } = limited({}, [tooMany(864_000), step.ok, step.ok]);
    const [refused, other, ...waiting] = calls(4);
    await expect(refused).rejects.toMatchObject({ status: 429, retryAfterMs: 864_000_000 });
    await other;
    const shut = { code: 'QUEUE_TIMEOUT', outcome: 'not-sent', retryAfterMs: 3_600_000 };
    const errors = await Promise.all(waiting.map(async (call) => (await call.safe()).error));
    expect(errors).toMatchObject([shut, shut]);
    expect(errors[0]).not.toBe(errors[1]);
    await expect(client.contacts.get('con_9')).rejects.toMatchObject(shut);
    expect(client.rateLimit.state()?.resetsAt).toEqual(new Date(Date.now() + 3_600_000));
    expect(vi.getTimerCount()).toBe(0);
    await passes(3_600_000);
    await client.contacts.get('con_9');
    expect(requests).toHaveLength(3);
  });

  it('rejects at once the queued calls that cannot wait this long', async () => {
    const one = { limit: 1, windowMs: 1_000 };
    const { client, calls } = limited({ rateLimit: one }, [slowly(100, tooMany(5))]);
    void calls(1);
    const hasty = client.contacts.get('con_1', { deadline: 3_000 }).safe();
    const patient = client.contacts.get('con_2').safe();
    await passes(100);
    expect((await hasty).error).toMatchObject({
      code: 'QUEUE_TIMEOUT',
      message: expect.stringContaining('The service asked clients to wait about 5 s') as string,
    });
    await passes(10_000);
    expect((await patient).error).toBeUndefined();
  });

  it('is reported to the calls that wait for it', async () => {
    const { client } = limited({}, [tooMany(5)]);
    const events: ThrottledEvent[] = [];
    client.on('throttled', (event) => events.push(event));
    const first = client.contacts.get('con_1');
    await passes(0);
    const second = client.contacts.get('con_2');
    await passes(10_000);
    await Promise.all([first, second]);
    expect(events[0]).toEqual({ reason: 'service', waitMs: 5_000, queued: 1 });
  });
});

/** Runs a task so many turns of the queue of microtasks later. */
async function after(turns: number, task: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await Promise.resolve();
  }
  task();
}
