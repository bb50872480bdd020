import type { Logger } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { serve } from '../support/fake-server.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const names = ['request', 'response', 'retry', 'throttled', 'mismatch', 'warning'] as const;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the events of a call', () => {
  it('tell of every attempt and every retry, in order', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const answers = [new Response(null, { status: 503 }), { id: 'con_1' }];
    const { fetch } = answering(() => answers.shift());
    const messaging = messagingOver(fetch, { validation: { responses: 'off' } });
    const seen: [string, object][] = [];
    for (const name of names) {
      messaging.on(name, (event) => seen.push([name, event]));
    }
    await messaging.contacts.get('con_1');
    const call = { method: 'GET', path: '/contacts/con_1' };
    expect(seen).toMatchObject([
      ['request', { ...call, attempt: 1 }],
      ['response', { ...call, attempt: 1, status: 503, outcome: 'rejected' }],
      ['retry', { ...call, attempt: 1, delayMs: 1_000, error: { name: 'ServerError' } }],
      ['request', { ...call, attempt: 2 }],
      ['response', { ...call, attempt: 2, status: 200, outcome: undefined }],
    ]);
  });

  it('tell how long an attempt took and what the service called it', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { slow: 50 });
    const responses: { durationMs: number }[] = [];
    const client = messaging();
    client.on('response', (event) => responses.push(event));
    await client.contacts.list();
    expect(responses[0]?.durationMs).toBeGreaterThanOrEqual(45);
  });

  it('tell of an attempt without an answer', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { loseAnswer: true });
    const responses: unknown[] = [];
    const client = messaging();
    client.on('response', (event) => responses.push(event));
    await client.send(mail).catch(() => undefined);
    expect(responses).toMatchObject([{ status: undefined, outcome: 'unknown' }]);
  });

  it('tell of a wait for the rate limit', async () => {
    const { messaging } = await serve();
    const throttled: unknown[] = [];
    const client = messaging({ rateLimit: { limit: 1, windowMs: 100 } });
    client.on('throttled', (event) => throttled.push(event));
    await client.contacts.list();
    await client.contacts.list();
    expect(throttled).toMatchObject([{ reason: 'limit', queued: 1 }]);
  });

  it('tell of an answer that is not as documented, and hand it on', async () => {
    const { fetch } = answering(() => ({ id: 7 }));
    const messaging = messagingOver(fetch);
    const mismatches: { issues: readonly object[] }[] = [];
    messaging.on('mismatch', (event) => mismatches.push(event));
    await expect(messaging.contacts.get('con_1')).resolves.toEqual({ id: 7 });
    expect(mismatches[0]?.issues).toContainEqual(expect.objectContaining({ field: 'id' }));
  });

  it('are none for a call that our own checks refuse', async () => {
    const { fetch } = answering(() => ({}));
    const messaging = messagingOver(fetch);
    const listener = vi.fn();
    for (const name of names) {
      messaging.on(name, listener);
    }
    await messaging.send({ ...mail, to: 'nobody' }).catch(() => undefined);
    expect(listener).not.toHaveBeenCalled();
  });
});

describe('a listener', () => {
  const client = () => messagingOver(answering(() => ({})).fetch);

  it('that throws harms neither the call nor the other listeners', async () => {
    const messaging = client();
    const after = vi.fn();
    messaging.on('request', () => {
      throw new Error('a bug');
    });
    messaging.on('request', after);
    await expect(messaging.contacts.get('con_1')).resolves.toBeDefined();
    expect(after).toHaveBeenCalledTimes(1);
  });

  it('that rejects later harms nobody either, and is told to the logger', async () => {
    const error = vi.fn();
    const { fetch } = answering(() => ({ id: 'con_1' }));
    const messaging = messagingOver(fetch, { logger: { error } });
    const bug = new Error('bug');
    messaging.on('request', vi.fn().mockRejectedValue(bug));
    await messaging.contacts.get('con_1');
    expect(error).toHaveBeenCalledWith('postreel: a listener threw', { error: bug });
  });

  it('that throws is told to the logger', async () => {
    const error = vi.fn();
    const messaging = messagingOver(answering(() => ({})).fetch, { logger: { error } });
    const bug = new Error('a bug');
    messaging.on('request', () => {
      throw bug;
    });
    await messaging.contacts.get('con_1');
    expect(error).toHaveBeenCalledWith('postreel: a listener threw', { error: bug });
  });

  it('of once() hears one event, and of off() none', async () => {
    const messaging = client();
    const [one, none] = [vi.fn(), vi.fn()];
    messaging.once('request', one).on('request', none).off('request', none);
    await messaging.contacts.get('con_1');
    await messaging.contacts.get('con_2');
    expect(one).toHaveBeenCalledTimes(1);
    expect(none).not.toHaveBeenCalled();
  });

  it('can be taken off before its one event', async () => {
    const messaging = client();
    const listener = vi.fn();
    messaging.once('request', listener).off('request', listener);
    await messaging.contacts.get('con_1');
    expect(listener).not.toHaveBeenCalled();
  });

  it('hears what derived clients do', async () => {
    const messaging = client();
    const listener = vi.fn();
    messaging.on('request', listener);
    await messaging.with({ timeout: 1_000 }).contacts.get('con_1');
    expect(listener).toHaveBeenCalledTimes(1);
  });
});

describe('the logger', () => {
  it('gets one line for each event, on the level that fits', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const lines: string[] = [];
    const logger: Logger = Object.fromEntries(
      ['debug', 'info', 'warn', 'error'].map((level) => [
        level,
        (message: string) => lines.push(`${level} ${message}`),
      ]),
    );
    const answers = [new Response(null, { status: 503 }), { id: 7 }];
    const { fetch } = answering(() => answers.shift());
    await messagingOver(fetch, { logger }).contacts.get('con_1');
    expect(lines).toEqual([
      'debug postreel: request GET /contacts/con_1',
      'debug postreel: response GET /contacts/con_1',
      'info postreel: retry GET /contacts/con_1',
      'debug postreel: request GET /contacts/con_1',
      'debug postreel: response GET /contacts/con_1',
      'warn postreel: mismatch GET /contacts/con_1',
    ]);
  });

  it('may know some levels only', async () => {
    const debug = vi.fn();
    const messaging = messagingOver(answering(() => ({ id: 7 })).fetch, { logger: { debug } });
    await expect(messaging.contacts.get('con_1')).resolves.toBeDefined();
    expect(debug).toHaveBeenCalledTimes(2);
  });

  it('that throws breaks no call, and costs no place in the rate budget', async () => {
    const { messaging } = await serve();
    const logger = {
      debug() {
        throw new Error('the disk is full');
      },
    };
    const client = messaging({ logger, rateLimit: { limit: 5, windowMs: 3_600_000 } });
    await expect(client.contacts.list().then(({ items }) => items)).resolves.toEqual([]);
    expect(client.rateLimit.state()).toMatchObject({ used: 1, queued: 0 });
  });

  it('never gets a body', async () => {
    const seen: unknown[] = [];
    const write = (message: string, facts?: object) => seen.push(message, facts);
    const logger: Logger = { debug: write, info: write, warn: write, error: write };
    const { fetch } = answering(() => Response.json({ secret: 'of the answer' }, { status: 500 }));
    await messagingOver(fetch, { logger })
      .send({ ...mail, body: 'of the request' })
      .catch(() => undefined);
    expect(JSON.stringify(seen)).not.toMatch(/of the (request|answer)/);
  });
});

describe('a body that cannot be cloned', () => {
  it('is sent all the same, on the first call too', async () => {
    const { fetch, requests } = answering(() => ({ success: true, data: { emails: [] } }));
    const reactive = new Proxy(mail, {});
    await messagingOver(fetch).send(reactive);
    await expect(requests[0]?.json()).resolves.toEqual(mail);
  });
});

describe('a logger that fails later', () => {
  it('does not end the process', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const logger: Logger = { debug: () => Promise.reject(new Error('disk full')) as never };
    const { fetch } = answering(() => ({ id: 'con_1' }));
    await messagingOver(fetch, { logger }).contacts.get('con_1');
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

it('a logger that fails does not hide the warnings', async () => {
  const printed: string[] = [];
  const print = vi.spyOn(process, 'emitWarning').mockImplementation((message) => {
    printed.push(String(message));
  });
  const logger = {
    debug() {
      throw new RangeError('full'); // no other test prints this warning
    },
  };
  await messagingOver(answering(() => ({ id: 'con_1' })).fetch, { logger }).contacts.get('con_1');
  print.mockRestore();
  expect(printed.join()).toContain('The logger failed (RangeError)');
});
