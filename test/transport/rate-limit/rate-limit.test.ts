import type { MessagingOptions, ThrottledEvent } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the rate limit of a client', () => {
  it('sends no more than the limit, and the rest a window after the answers', async () => {
    const { requests, client } = limited();
    const calls = Promise.all([1, 2, 3, 4, 5].map((id) => client.contacts.get(`con_${id}`)));
    await vi.advanceTimersByTimeAsync(999);
    expect(requests).toHaveLength(2);
    expect(client.rateLimit.state()).toEqual({
      limit: 2,
      used: 2,
      queued: 3,
      resetsAt: new Date(Date.now() + 1),
    });
    await vi.advanceTimersByTimeAsync(1);
    expect(requests).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1_000);
    await calls;
    expect(requests).toHaveLength(5);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is shared by the clients of a project in one process', async () => {
    const { requests, client, options } = limited();
    const { client: other } = limited(options);
    await client.contacts.get('con_1');
    await other.contacts.get('con_2');
    void client.contacts.get('con_3');
    void other.contacts.get('con_4');
    await vi.advanceTimersByTimeAsync(0);
    expect(requests).toHaveLength(1);
    expect(other.rateLimit.state()).toMatchObject({ used: 2, queued: 2 });
  });

  it('is not shared with other projects, unless a group joins their keys', async () => {
    const { client } = limited();
    const { client: stranger } = limited();
    await client.contacts.get('con_1');
    expect(client.rateLimit.state()?.used).toBe(1);
    expect(stranger.rateLimit.state()?.used).toBe(0);

    const group = freshKey();
    const rateLimit = { limit: 2, windowMs: 1_000, group };
    const { client: one } = limited({ apiKey: freshKey(), rateLimit });
    const { client: two } = limited({ apiKey: freshKey(), rateLimit });
    await one.contacts.get('con_1');
    expect(two.rateLimit.state()?.used).toBe(1);
  });

  it('outlives the key of its project', async () => {
    const keys = [freshKey(), freshKey()];
    const apiKey = () => Promise.resolve(keys.shift()!);
    const answers = [() => Response.json({}, { status: 401 }), contact, contact];
    const { requests, client } = limited({ apiKey }, () => answers.shift()!());
    await client.contacts.get('con_1');
    expect(requests).toHaveLength(2);
    expect(client.rateLimit.state()?.used).toBe(2);
    const next = client.contacts.get('con_2');
    await vi.advanceTimersByTimeAsync(999);
    expect(requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    await next;
  });

  it('lets interactive calls go before bulk calls', async () => {
    const { requests, client } = limited();
    const ids = ['bulk_1', 'bulk_2', 'bulk_3', 'bulk_4'];
    const bulk = ids.map((id) => client.contacts.get(id, { priority: 'bulk' }));
    const interactive = client.contacts.get('con_1');
    await vi.advanceTimersByTimeAsync(1_000);
    await interactive;
    const paths = requests.map(({ url }) => new URL(url).pathname.split('/').at(-1));
    expect(paths).toEqual(['bulk_1', 'bulk_2', 'con_1', 'bulk_3']);
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(bulk);
  });

  it('leaves room for others', async () => {
    const rateLimit = { limit: 10, windowMs: 1_000, headroom: 0.8 };
    const { requests, client } = limited({ rateLimit });
    for (let id = 0; id < 5; id++) {
      void client.contacts.get(`con_${id}`);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(requests).toHaveLength(2);
  });

  it('can be told anew, and goes on counting', async () => {
    const { client, options } = limited();
    await client.contacts.get('con_1');
    const { client: generous } = limited({
      ...options,
      rateLimit: { limit: 100, windowMs: 1_000 },
    });
    await generous.contacts.get('con_2');
    expect(client.rateLimit.state()).toMatchObject({ limit: 100, used: 2 });
  });

  it('can be lower for a derived client, and its parent keeps its own', async () => {
    const { requests, client } = limited();
    const careful = client.with({ rateLimit: { limit: 1, windowMs: 1_000 } });
    void careful.contacts.get('con_1');
    void careful.contacts.get('con_2');
    await vi.advanceTimersByTimeAsync(0);
    expect(requests).toHaveLength(1);
    expect(client.rateLimit.state()).toMatchObject({ limit: 2, used: 1, queued: 0 });
    await client.contacts.get('con_3');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests).toHaveLength(3);
  });

  it('can be off', async () => {
    const { requests, client } = limited({ rateLimit: false });
    await Promise.all(Array.from({ length: 50 }, (_, id) => client.contacts.get(`con_${id}`)));
    expect(requests).toHaveLength(50);
    expect(client.rateLimit.state()).toBeUndefined();
  });

  it('tells who listens that a call waits, how long, and with how many', async () => {
    const { client } = limited();
    const events: ThrottledEvent[] = [];
    client.on('throttled', (event) => events.push(event));
    await Promise.all([client.contacts.get('con_1'), client.contacts.get('con_2')]);
    expect(events).toEqual([]);
    void client.contacts.get('con_3');
    void client.contacts.get('con_4');
    await vi.advanceTimersByTimeAsync(0);
    expect(events).toEqual([
      { reason: 'limit', waitMs: 1_000, queued: 1 },
      { reason: 'limit', waitMs: 1_000, queued: 2 },
    ]);
  });
});

describe('a call that waits for the rate limit', () => {
  it('rejects at once when its deadline is too short for the wait', async () => {
    const { requests, client } = limited();
    await Promise.all([client.contacts.get('con_1'), client.contacts.get('con_2')]);
    const call = client.contacts.get('con_3', { deadline: 900 });
    await expect(call).rejects.toMatchObject({
      name: 'RateLimitError',
      code: 'QUEUE_TIMEOUT',
      outcome: 'not-sent',
      retryAfterMs: 1_000,
      method: 'GET',
      path: '/contacts/con_3',
    });
    expect(call.outcome).toBe('not-sent');
    expect(requests).toHaveLength(2);
  });

  it('rejects at once when it may not wait so long', async () => {
    const rateLimit = { limit: 1, windowMs: 1_000, maxQueueMs: 500 };
    const { client } = limited({ rateLimit });
    await client.contacts.get('con_1');
    await expect(client.contacts.get('con_2')).rejects.toMatchObject({ retryAfterMs: 1_000 });
  });

  it('hears an abort, gives up its place and rejects with the reason', async () => {
    const { requests, client } = limited();
    await Promise.all([client.contacts.get('con_1'), client.contacts.get('con_2')]);
    const controller = new AbortController();
    const call = client.contacts.get('con_3', { signal: controller.signal });
    const next = client.contacts.get('con_4');
    await vi.advanceTimersByTimeAsync(500);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(call.outcome).toBe('not-sent');
    await vi.advanceTimersByTimeAsync(500);
    await next;
    expect(requests).toHaveLength(3);
    expect(client.rateLimit.state()).toMatchObject({ queued: 0 });
  });
});

it('a priority that does not exist is refused before anything is sent', async () => {
  const { requests, client } = limited();
  const call = client.contacts.get('con_1', { priority: 'high' as never });
  await expect(call).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: "`priority` must be one of 'interactive', 'bulk'.",
  });
  expect(requests).toHaveLength(0);
});

describe('the slot of a call', () => {
  it('is free at once when the request never left', async () => {
    const refused = Object.assign(new TypeError('fetch failed'), {
      cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }),
    });
    const { client } = limited({ retries: 0 }, () => Promise.reject(refused));
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({ outcome: 'not-sent' });
    expect(client.rateLimit.state()?.used).toBe(0);
  });

  it('is kept when the call was aborted under way, for nobody knows when it arrives', async () => {
    const { client } = limited({}, () => new Promise(() => undefined));
    const controller = new AbortController();
    const call = client.contacts.get('con_1', { signal: controller.signal });
    await vi.advanceTimersByTimeAsync(100);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(client.rateLimit.state()?.used).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(client.rateLimit.state()?.used).toBe(0);
  });
});

describe('a 429', () => {
  it('stops all calls for the time the service asks, then one goes first', async () => {
    const answers = [tooMany];
    const rateLimit = { limit: 100, windowMs: 60_000 };
    const { requests, client } = limited({ rateLimit }, () =>
      later(100, (answers.shift() ?? contact)()),
    );
    const first = client.contacts.get('con_1');
    await vi.advanceTimersByTimeAsync(100);
    const others = [2, 3, 4].map((id) => client.contacts.get(`con_${id}`));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(100);
    expect(requests).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(200);
    await Promise.all([first, ...others]);
    expect(requests).toHaveLength(5);
  });

  it('closes it for a window when it names no time', async () => {
    const answers = [() => Response.json({}, { status: 429 })];
    const { client, requests } = limited({ retries: 0 }, () => (answers.shift() ?? contact)());
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({ status: 429 });
    const next = client.contacts.get('con_2');
    await vi.advanceTimersByTimeAsync(999);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await next;
  });

  it('closes it for an hour at most, and lets one request a window try, whatever the service asks for', async () => {
    const headers = { 'retry-after': '864000' };
    const refused = () => Response.json({}, { status: 429, headers });
    const answers = [refused, refused];
    const { client, requests } = limited({}, () => (answers.shift() ?? contact)());
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 864_000_000,
    });
    const shut = { code: 'QUEUE_TIMEOUT', retryAfterMs: 3_600_000 };
    await expect(client.contacts.get('con_2')).rejects.toMatchObject(shut);
    expect(client.rateLimit.state()?.resetsAt).toEqual(new Date(Date.now() + 1_000));
    await vi.advanceTimersByTimeAsync(1_000);
    const [probe, other] = ['con_3', 'con_4'].map((id) => client.contacts.get(id).safe());
    expect((await other)?.error).toMatchObject({ code: 'QUEUE_TIMEOUT' });
    expect((await probe)?.error).toMatchObject({ status: 429 });
    await vi.advanceTimersByTimeAsync(1_000);
    await client.contacts.get('con_5');
    await client.contacts.get('con_6');
    expect(requests).toHaveLength(4);
  });

  it('tells the calls that wait for it why', async () => {
    const answers = [tooMany];
    const { client } = limited({}, () => (answers.shift() ?? contact)());
    const events: ThrottledEvent[] = [];
    client.on('throttled', (event) => events.push(event));
    const first = client.contacts.get('con_1');
    await vi.advanceTimersByTimeAsync(0);
    const second = client.contacts.get('con_2');
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all([first, second]);
    expect(events[0]).toEqual({ reason: 'service', waitMs: 5_000, queued: 1 });
  });
});

let keys = 0;

function freshKey(): string {
  return `sk_rate_limit_${keys++}`;
}

/** A client of a project of its own with two requests a second. */
function limited(changes: MessagingOptions = {}, answer: () => unknown = contact) {
  const { fetch, requests } = answering(answer);
  const options = {
    apiKey: freshKey(),
    rateLimit: { limit: 2, windowMs: 1_000 },
    // Schemas are loaded from the disk, and the disk does not know about fake timers.
    validation: { requests: 'off', responses: 'off' },
    ...changes,
  } as const;
  return { client: messagingOver(fetch, options), requests, options };
}

function contact(): Response {
  return Response.json({ id: 'con_1' });
}

function tooMany(): Response {
  return Response.json({}, { status: 429, headers: { 'retry-after': '5' } });
}

async function later<T>(delayMs: number, value: T): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  return value;
}
