import type { MessagingClient } from 'postreel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve } from '../../support/fake-server.js';
import { abortMany, batchSize, type Tally } from '../../support/transport/abort-tries.js';
import { startFullBacklog, type FullBacklog } from '../../support/transport/full-backlog.js';

const tries = 200;
const heard = { tries, reasonsKept: tries, listenersLeft: 0 };
const maxTurns = 5;

let backlog: FullBacklog;
beforeAll(async () => {
  backlog = await startFullBacklog();
});
afterAll(() => backlog.close());

describe('an abort is heard within five turns of the event loop, 200 times out of 200,', () => {
  it('before the start: no request at all', async () => {
    const { messaging, fake } = await serve();
    const client = messaging();
    for (let index = 0; index < tries; index++) {
      const reason = { index };
      const call = client.contacts.get('con_1', { signal: AbortSignal.abort(reason) });
      await expect(call).rejects.toBe(reason);
    }
    expect(fake.requests).toEqual([]);
  });

  it('while the key is being fetched', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ apiKey: () => new Promise<string>(() => undefined) });
    const tally = await abortMany(tries, (signal) => ({
      call: client.contacts.get('con_1', { signal }),
      inPhase: turnOfTheLoop(),
    }));
    expectHeard(tally);
    expect(fake.requests).toEqual([]);
  });

  it('in the queue of the rate limit', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ rateLimit: { limit: 1, windowMs: 3_600_000 } });
    await client.contacts.list();
    let allQueued = Promise.resolve();
    const tally = await abortMany(tries, (signal, index) => {
      const call = client.contacts.get('con_1', { signal });
      if (index % batchSize === 0) {
        allQueued = queued(client, batchSize);
      }
      return { call, inPhase: allQueued };
    });
    expectHeard(tally);
    expect(client.rateLimit.state()).toMatchObject({ used: 1, queued: 0 });
    expect(fake.requests).toHaveLength(1);
  });

  it('in the sleep before a retry', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts/{id}', { status: 503, retryAfter: 30, times: tries });
    const client = messaging({ rateLimit: false });
    const tally = await abortMany(tries, (signal, index) => ({
      call: client.contacts.get(`con_${index}`, { signal }),
      inPhase: event(client, 'retry', `/contacts/con_${index}`),
    }));
    expectHeard(tally);
    expect(fake.requests).toHaveLength(tries);
  });

  it('while connecting', async () => {
    const { messaging } = await serve();
    const client = messaging({ baseUrl: backlog.url, rateLimit: false });
    const tally = await abortMany(tries, (signal, index) => ({
      call: client.contacts.get(`con_${index}`, { signal }),
      inPhase: event(client, 'request', `/contacts/con_${index}`).then(turnOfTheLoop),
    }));
    expectHeard(tally);
  });

  it('while waiting for the head of the answer', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts/{id}', { hang: true, times: tries });
    const client = messaging({ rateLimit: false });
    const tally = await abortMany(tries, (signal, index) => ({
      call: client.contacts.get(`con_${index}`, { signal }),
      inPhase: expect.poll(() => arrived(fake, index), { interval: 2 }).toBe(true),
    }));
    expectHeard(tally);
    await expect.poll(() => fake.requests.every(({ status }) => status === undefined)).toBe(true);
  });

  it('while the body is read', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { stall: true, times: tries });
    const heads = new Map<string, () => void>();
    const client = messaging({
      rateLimit: false,
      async fetch(input, init) {
        const response = await fetch(input, init);
        heads.get(new URL(response.url).searchParams.get('search') ?? '')?.();
        return response;
      },
    });
    const tally = await abortMany(tries, (signal, index) => ({
      call: client.contacts.list({ search: `try ${index}` }, { signal }),
      inPhase: new Promise<void>((resolve) => heads.set(`try ${index}`, resolve)).then(
        turnOfTheLoop,
      ),
    }));
    expectHeard(tally);
    expect(fake.requests.filter(({ status }) => status === 200)).toHaveLength(tries);
  });

  it('between two looks of a wait', async () => {
    const { media, fakeMedia } = await serve({ media: { durations: () => '1h', queueTime: 0 } });
    const client = media();
    const job = await client.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
    const tally = await abortMany(tries, (signal) => ({
      call: job.waitForFile({ signal }),
      inPhase: turnOfTheLoop(),
    }));
    expectHeard(tally);
    expect(fakeMedia.requests).toHaveLength(1);
  });
});

function expectHeard(tally: Tally): void {
  expect(tally).toMatchObject(heard);
  expect(tally.maxTurns).toBeLessThanOrEqual(maxTurns);
}

async function queued(client: MessagingClient, count: number): Promise<void> {
  while (client.rateLimit.state()?.queued !== count) {
    await turnOfTheLoop();
  }
}

function event(client: MessagingClient, name: 'request' | 'retry', path: string): Promise<void> {
  return new Promise((resolve) => {
    const listener = (happened: { path: string }) => {
      if (happened.path !== path) {
        return;
      }
      client.off(name, listener);
      resolve();
    };
    client.on(name, listener);
  });
}

function arrived({ requests }: { requests: readonly { path: string }[] }, index: number): boolean {
  return requests.some(({ path }) => path === `/contacts/con_${index}`);
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
