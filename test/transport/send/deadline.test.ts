import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { arrivals, serve } from '../../support/fake-server.js';
import { settled } from '../../support/settled.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const lateMs = 4_000; // "on time", on a busy machine: what must not be waited for takes 30 s

describe('timeout', () => {
  it.each(['hang', 'stall'] as const)('ends an attempt that meets %s', async (kind) => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { [kind]: true });
    const client = messaging({ retries: 0, timeout: 200 });
    const { error, tookMs } = await settled(() => client.contacts.list());
    expect(error).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT' });
    expect((error as Error).message).toContain('within 200 ms');
    expectAbout(tookMs, 200);
  });

  it('ends an attempt whose body comes drop by drop', async () => {
    const drops = new TextEncoder().encode('1');
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        controller.enqueue(drops);
      },
    });
    const client = messagingOver(() => Promise.resolve(new Response(body)), { retries: 0 });
    const { error, tookMs } = await settled(() => client.contacts.get('con_1', { timeout: 150 }));
    expect(error).toMatchObject({ code: 'TIMEOUT' });
    expectAbout(tookMs, 150);
  });

  it('is the time of one attempt: a repeat has it anew', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { hang: true });
    const { items } = await messaging({ timeout: 1_500 }).contacts.list();
    expect(items).toEqual([]);
    expect(arrivals(fake.requests, 'GET /contacts')).toBe(2);
  });

  it.each([0, -1, Number.NaN, '30' as unknown as number])('cannot be %s', async (timeout) => {
    const client = messagingOver(() => Promise.reject(new Error('must not be called')));
    await expect(client.contacts.get('con_1', { timeout })).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'INVALID_OPTION',
    });
  });

  it('may be Infinity, or longer than a timer can be', async () => {
    const client = messagingOver(() => Promise.resolve(Response.json({ id: 'con_1' })));
    for (const timeout of [Number.POSITIVE_INFINITY, 2 ** 40]) {
      await expect(client.contacts.get('con_1', { timeout })).resolves.toEqual({ id: 'con_1' });
    }
  });
});

describe('deadline', () => {
  it('ends an attempt that meets a longer timeout', async () => {
    const { messaging, fake } = await serve();
    const client = messaging();
    await client.send(mail); // connects and loads the checks: the time of the call is its own
    fake.fail('POST /v1/send', { hang: true });
    const { error, tookMs } = await settled(() => client.send(mail, { deadline: 500 }));
    expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'unknown' });
    expectAbout(tookMs, 500);
  });

  it('covers the retries', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { hang: true, times: 99 });
    const client = messaging({ timeout: 100, retries: 99 });
    const { error, tookMs } = await settled(() => client.contacts.list({}, { deadline: 600 }));
    expect(error).toMatchObject({ name: 'TimeoutError' });
    expect(tookMs).toBeLessThan(600 + lateMs);
    expect(arrivals(fake.requests, 'GET /contacts')).toBeGreaterThanOrEqual(1);
  });

  it('covers the queue: a wait that cannot fit is refused at once', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ rateLimit: { limit: 1, windowMs: 60_000 } });
    await client.contacts.list();
    const { error, tookMs } = await settled(() => client.send(mail, { deadline: 5_000 }));
    expect(error).toMatchObject({ name: 'RateLimitError', outcome: 'not-sent' });
    expect((error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(50_000);
    expect(tookMs).toBeLessThan(lateMs);
    expect(arrivals(fake.requests, 'POST /v1/send')).toBe(0);
  });

  it('covers the function that fetches the key', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ apiKey: () => new Promise<string>(() => undefined) });
    const { error, tookMs } = await settled(() => client.send(mail, { deadline: 200 }));
    expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'not-sent' });
    expectAbout(tookMs, 200);
    expect(fake.requests).toEqual([]);
  });

  it('rejects at once, with the wait, when a retry cannot fit', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { status: 503, retryAfter: 30 });
    const { error, tookMs } = await settled(() =>
      messaging().contacts.list({}, { deadline: 2_000 }),
    );
    expect(error).toMatchObject({ status: 503, retryAfterMs: 30_000 });
    expect(tookMs).toBeLessThan(lateMs);
  });

  it('names the wait even where the service did not', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { status: 429 });
    const { error, tookMs } = await settled(() => messaging().send(mail, { deadline: 2_000 }));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 60_000, outcome: 'rejected' });
    expect(tookMs).toBeLessThan(lateMs);
  });

  it('is named when it is what ended the call, however close the timeout', async () => {
    const client = messagingOver(() => new Promise(() => undefined), { timeout: 150 });
    for (let tries = 0; tries < 10; tries++) {
      const call = client.contacts.get('con_1', { deadline: 50.7 });
      await expect(call).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    }
  });
});

function expectAbout(tookMs: number, wantedMs: number): void {
  expect(tookMs).toBeGreaterThanOrEqual(wantedMs - 2); // timers may be early by a rounding
  expect(tookMs).toBeLessThan(wantedMs + lateMs);
}

it('a turn that comes after the deadline, on a process that was busy, sends nothing', async () => {
  const { fetch, requests } = answering(() => ({ id: 'con_1' }));
  const client = messagingOver(fetch, { rateLimit: { limit: 1, windowMs: 300 } });
  await client.contacts.get('con_1');
  const late = settled(() => client.contacts.get('con_2', { deadline: 450 }));
  setTimeout(() => block(600), 200);
  const { error } = await late;
  expect(error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'not-sent' });
  expect(requests).toHaveLength(1);
  // Its place is free again.
  await client.contacts.get('con_3');
  expect(requests).toHaveLength(2);
});

function block(forMs: number): void {
  const endsAt = performance.now() + forMs;
  while (performance.now() < endsAt) {
    // Keeps the process busy.
  }
}
