import {
  isPostreelError,
  type MessagingClient,
  type MessagingOptions,
  type RequestOptions,
} from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { scripted, step } from '../support/script.js';
import { settledInTime } from '../support/settled.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const unchecked = { requests: 'off', responses: 'off' } as const;
const never = new Promise<never>(() => undefined);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('`timeout`', () => {
  it('is half a minute by default', async () => {
    const { client } = scripted([step.silence], { retries: 0 });
    const { error, tookMs } = await settledInTime(() => client.send(mail));
    expect(error).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT', outcome: 'unknown' });
    expect((error as Error).message).toContain('got no complete response within 30000 ms');
    expect(tookMs).toBe(30_000);
  });

  it('covers an attempt to the last byte of its response', async () => {
    const drop = new TextEncoder().encode('1');
    const drops = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        controller.enqueue(drop);
      },
    });
    const { client } = scripted([() => new Response(drops)], { retries: 0, timeout: 150 });
    const { error, tookMs } = await settledInTime(() => client.contacts.get('con_1'));
    expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'rejected' });
    expect(tookMs).toBe(150);
  });

  it('starts again with each attempt', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { client, requests } = scripted([step.silence, step.silence], { timeout: 1_000 });
    const end = await settledInTime(() => client.contacts.get('con_1'));
    expect(end).toMatchObject({ error: undefined, tookMs: 1_000 + 500 + 1_000 + 1_000 });
    expect(requests).toHaveLength(3);
  });

  it('may be Infinity, or longer than a timer can be', async () => {
    const { client } = scripted([]);
    for (const timeout of [Number.POSITIVE_INFINITY, 2 ** 40]) {
      await expect(client.contacts.get('con_1', { timeout })).resolves.toBeDefined();
    }
  });
});

describe('`deadline`', () => {
  it.each([
    [{ timeout: 1_000, deadline: 5_000 }, 'TIMEOUT', 1_000],
    [{ timeout: 5_000, deadline: 1_000 }, 'DEADLINE_EXCEEDED', 1_000],
  ])('or the timeout, whichever is earlier, ends an attempt: %j', async (limits, code, limitMs) => {
    const { client } = scripted([step.silence]);
    const call = () => client.contacts.get('con_1', { ...limits, retries: 0 });
    const { error, tookMs } = await settledInTime(call);
    expect(error).toMatchObject({ name: 'TimeoutError', code });
    expect(tookMs).toBe(limitMs);
  });

  it('covers the retries', async () => {
    const silent = Array.from({ length: 99 }, () => step.silence);
    const { client } = scripted(silent, { timeout: 100, retries: 99 });
    const call = () => client.contacts.get('con_1', { deadline: 10_000 });
    const { error, tookMs } = await settledInTime(call);
    expect(error).toMatchObject({ name: 'TimeoutError' });
    expect(tookMs).toBeLessThanOrEqual(10_000);
  });

  it('makes the outcome unknown after a request was sent, and not-sent otherwise', async () => {
    const { client } = scripted([step.silence]);
    const sent = await settledInTime(() => client.send(mail, { deadline: 500 }));
    expect(sent.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'unknown' });
    const keyless = scripted([], { apiKey: () => never });
    const unsent = await settledInTime(() => keyless.client.send(mail, { deadline: 500 }));
    expect(unsent.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'not-sent' });
    expect((unsent.error as Error).message).toBe(
      'POST /v1/send was not sent, because its `deadline` passed while it was waiting.',
    );
    expect([unsent.tookMs, keyless.requests]).toEqual([500, []]);
  });

  it.each([
    [429, { 'retry-after': '30' }, 30_000],
    [503, { 'retry-after': '30' }, 30_000],
    [429, {}, 60_000],
  ])(
    'rejects at once, with the time to wait, if a retry would be too late: %i %j',
    async (...given) => {
      const [status, headers, retryAfterMs] = given;
      const { client } = scripted([step.status(status, headers)]);
      const call = () => client.contacts.get('con_1', { deadline: 2_000 });
      const { error, tookMs } = await settledInTime(call);
      expect(error).toMatchObject({ status, retryAfterMs, outcome: 'rejected' });
      expect(tookMs).toBe(0);
    },
  );
});

describe('a wait for the rate limit', () => {
  let clients = 0;

  /** A client whose only slot of an hour is taken. */
  async function full({
    maxQueueMs,
    windowMs = 3_600_000,
  }: {
    maxQueueMs?: number;
    windowMs?: number;
  }) {
    const group = `deadlines ${++clients}`;
    const rateLimit = { limit: 1, windowMs, group, maxQueueMs };
    const { client, requests } = scripted([], { rateLimit });
    await client.contacts.get('con_1');
    return { client, requests };
  }

  it.each([
    ['`deadline`', undefined, 60_000],
    ['`maxQueueMs`', 60_000, undefined],
    ['`deadline`', 7_200_000, 60_000],
    ['`maxQueueMs`', 60_000, 7_200_000],
  ])(
    'that would be too long is rejected at once, with the name of `%s`',
    async (name, maxQueueMs, deadline) => {
      const { client, requests } = await full(maxQueueMs === undefined ? {} : { maxQueueMs });
      const call = () => client.contacts.get('con_1', { deadline });
      const { error, tookMs } = await settledInTime(call);
      expect(error).toMatchObject({ name: 'RateLimitError', code: 'QUEUE_TIMEOUT' });
      expect(error).toMatchObject({ outcome: 'not-sent', retryAfterMs: 3_600_000 });
      expect((error as Error).message).toMatch(
        new RegExp(`about \\d+ s\\. Try again later, or allow a longer ${name}\\.$`),
      );
      expect([tookMs, requests.length]).toEqual([0, 1]);
    },
  );

  it('that ends at the moment of an abort leaves its slot to the next call', async () => {
    const { client, requests } = await full({ windowMs: 1_000 });
    const controller = new AbortController();
    const late = client.contacts.get('con_2', { signal: controller.signal });
    const rejected = expect(late).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(999);
    setTimeout(() => controller.abort('enough'), 1);
    vi.advanceTimersByTime(1); // both timers, and nothing between them
    await rejected;
    expect(client.rateLimit.state()?.used).toBe(0);
    await client.contacts.get('con_3');
    expect(requests.map(({ url }) => url.split('/').at(-1))).toEqual(['con_1', 'con_3']);
  });

  it('that ends after the deadline, because the process was suspended, sends nothing', async () => {
    const { client, requests } = await full({ windowMs: 1_000 });
    const late = client.contacts.get('con_2', { deadline: 2_000 });
    const rejected = expect(late).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      outcome: 'not-sent',
    });
    await vi.advanceTimersByTimeAsync(999);
    const after = performance.now() + 3_000;
    setTimeout(() => vi.spyOn(performance, 'now').mockReturnValue(after), 1);
    vi.advanceTimersByTime(1); // both timers, and nothing between them
    await rejected;
    expect(client.rateLimit.state()?.used).toBe(0);
    await client.contacts.get('con_3');
    expect(requests.map(({ url }) => url.split('/').at(-1))).toEqual(['con_1', 'con_3']);
  });
});

interface Phase {
  readonly answer?: () => unknown;
  readonly options?: MessagingOptions;
  readonly call?: (client: MessagingClient, options: RequestOptions) => PromiseLike<unknown>;
  /** The error where a wait that cannot fit is refused before it begins. */
  readonly ending?: string;
}

const refusal = (status: number, retryAfter: string) =>
  new Response(null, { status, headers: { 'retry-after': retryAfter } });

/** Everything that a call may be busy with for ever. */
const phases: Readonly<Record<string, Phase>> = {
  'the function that gives the key': { options: { apiKey: () => never } },
  'the connection': {},
  'the body of the answer': { answer: () => new Response(new ReadableStream()) },
  // A retry that cannot fit is not waited for: the call ends with the refusal.
  'a wait that the service asks for': {
    answer: () => refusal(429, '0.9'),
    ending: 'RateLimitError',
  },
  retries: {
    answer: () => refusal(503, '0'),
    options: { retries: 50 },
    ending: 'ServerError',
  },
  'a Blob that cannot be read': {
    call: (client, options) => {
      const content = new Blob(['a']);
      content.arrayBuffer = () => never;
      return client.send({ ...mail, attachments: [{ content }] }, options);
    },
  },
  'a page of a list': { call: (client, options) => client.contacts.list({}, options).toArray() },
};

async function endOf(phase: Phase, options: RequestOptions) {
  const { fetch } = answering(phase.answer ?? (() => never));
  const client = messagingOver(fetch, { validation: unchecked, ...phase.options });
  const call = phase.call ?? ((one: MessagingClient, all) => one.contacts.get('con_1', all));
  return settledInTime(() => call(client, options));
}

describe.each(Object.entries(phases))('%s that never ends', (_, phase) => {
  it('ends with the deadline', async () => {
    const { error, tookMs } = await endOf(phase, { deadline: 1_000 });
    expect(isPostreelError(error) && error.name).toBe(phase.ending ?? 'TimeoutError');
    expect(tookMs).toBeLessThanOrEqual(1_000);
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort('enough'), 500);
    const { error, tookMs } = await endOf(phase, { signal: controller.signal });
    expect([error, tookMs]).toEqual(['enough', 500]);
  });
});
