import type { Logger, MessagingClient, MessagingOptions } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { scripted, step } from '../support/script.js';
import { settledInTime } from '../support/settled.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const names = [
  ...(['call:start', 'request', 'response', 'retry', 'throttled'] as const),
  ...(['mismatch', 'warning', 'call:end'] as const),
];

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function recorded(client: MessagingClient) {
  const seen: [string, object][] = [];
  for (const name of names) {
    client.on(name, (event) => seen.push([name, event]));
  }
  return seen;
}

const working = (options: MessagingOptions = {}) =>
  messagingOver(answering(() => ({ id: 'con_1', email: 'ann@example.com' })).fetch, options);

describe('the events of a call', () => {
  it('report its start, every attempt, every retry and its end, in order', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const ok = () => Response.json({ id: 'con_1' }, { headers: { 'x-request-id': 'req_2' } });
    const { client } = scripted([step.status(503), ok]);
    const seen = recorded(client);
    await settledInTime(() => client.contacts.get('con_1'));
    const route = '/contacts/{id}';
    const call = { method: 'GET', path: '/contacts/con_1', route };
    expect(seen).toMatchObject([
      ['call:start', { ...call, baseUrl: 'https://messaging.test' }],
      ['request', { ...call, attempt: 1 }],
      ['response', { ...call, attempt: 1, status: 503, outcome: 'rejected' }],
      ['retry', { ...call, attempt: 1, delayMs: 500, error: { name: 'ServerError' } }],
      ['request', { ...call, attempt: 2 }],
      ['response', { ...call, attempt: 2, status: 200, requestId: 'req_2', outcome: undefined }],
      ['call:end', { ...call, durationMs: 500, outcome: undefined, error: undefined }],
    ]);
    expect(new Set(seen.map(([, event]) => (event as { callId: number }).callId)).size).toBe(1);
  });

  it('report how long an attempt took, also without a response', async () => {
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return step.lost();
    };
    const { client } = scripted([slow]);
    const seen = recorded(client);
    await settledInTime(() => client.send(mail));
    const lost = { status: undefined, durationMs: 50, outcome: 'unknown' };
    expect(seen).toContainEqual(['response', expect.objectContaining(lost)]);
    const end = { durationMs: 50, outcome: 'unknown' };
    expect(seen.at(-1)).toEqual(['call:end', expect.objectContaining(end)]);
  });

  it('report a wait for the rate limit', async () => {
    const rateLimit = { limit: 1, windowMs: 100, group: 'events' };
    const { client } = scripted([], { rateLimit });
    const throttled: unknown[] = [];
    client.on('throttled', (event) => throttled.push(event));
    await client.contacts.get('con_1');
    await settledInTime(() => client.contacts.get('con_2'));
    expect(throttled).toMatchObject([{ reason: 'limit', queued: 1, waitMs: 100 }]);
  });

  it("contain no attempt if the client's checks reject the call", async () => {
    const client = working();
    const seen = recorded(client);
    await client.send({ ...mail, to: 'nobody' }).safe();
    expect(seen.map(([name]) => name)).toEqual(['call:start', 'call:end']);
  });
});

describe('a listener', () => {
  const throwing = () => {
    throw new Error('sk_secret in a message');
  };
  const rejecting = () => Promise.reject(new Error('sk_secret in a message')) as never; // async

  it.each([
    ['throws', throwing],
    ['rejects later', rejecting],
  ])(
    'that %s harms neither the call nor other listeners, and is warned of once',
    async (_, listener) => {
      const error = vi.fn();
      const client = working({ logger: { error } });
      const after = vi.fn();
      const warnings: string[] = [];
      client.on('warning', ({ message }) => warnings.push(message));
      for (const name of names) {
        client.on(name, listener).on(name, after);
      }
      await expect(client.contacts.get('con_1')).resolves.toBeDefined();
      await client.contacts.get('con_1');
      const ofCalls = 2 * ['call:start', 'request', 'response', 'call:end'].length;
      expect(after.mock.calls.length).toBeGreaterThanOrEqual(ofCalls);
      expect(warnings).toEqual([
        'A listener of `call:start` threw (Error), so its own work for this event was skipped. The call continues.',
      ]);
      expect(error).toHaveBeenCalledWith('postreel: a listener threw', {
        error: expect.objectContaining({ message: 'sk_secret in a message' }) as Error,
      });
    },
  );

  it('of once() receives one event, and after off() none', async () => {
    const client = working();
    const [one, none, never] = [vi.fn(), vi.fn(), vi.fn()];
    client.once('request', one).on('request', none).off('request', none);
    client.once('request', never).off('request', never);
    await client.contacts.get('con_1');
    await client.contacts.get('con_2');
    expect([one, none, never].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0]);
  });
});

describe('a warning', () => {
  const misspelt = { emial: 'ann@example.com' } as object;

  it('is printed if there is no listener and no logger', async () => {
    const print = vi.spyOn(process, 'emitWarning').mockReturnValue();
    await working().contacts.update('con_1', misspelt);
    expect(print).toHaveBeenCalledTimes(1);
    expect(print.mock.calls[0]?.[0]).toMatch(/^`emial` is not a documented field .+ `email`\?$/);
    print.mockClear();
    const listened = working();
    listened.on('warning', () => undefined);
    await listened.contacts.update('con_1', misspelt);
    await working({ logger: { warn: () => undefined } }).contacts.update('con_1', misspelt);
    expect(print).not.toHaveBeenCalled();
  });
});

describe('the logger', () => {
  function logged() {
    const lines: string[] = [];
    const logger: Logger = Object.fromEntries(
      ['debug', 'info', 'warn', 'error'].map((level) => [
        level,
        (message: string, facts?: object) =>
          lines.push(`${level} ${message} ${JSON.stringify(facts)}`),
      ]),
    );
    return { lines, logger };
  }

  it('gets one line for each event, with its level and without bodies', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { lines, logger } = logged();
    const answers = [
      Response.json({ hidden: 'of the answer' }, { status: 503 }),
      Response.json({ id: 7, hidden: 'of the answer' }),
    ];
    const client = messagingOver(answering(() => answers.shift()).fetch, { logger });
    const note = { data: { note: 'of the request' } };
    await settledInTime(() => client.contacts.update('con_1', note));
    expect(lines.map((line) => line.split(' {')[0])).toEqual([
      'debug postreel: request PATCH /contacts/con_1',
      'debug postreel: response PATCH /contacts/con_1',
      'info postreel: retry PATCH /contacts/con_1',
      'debug postreel: request PATCH /contacts/con_1',
      'debug postreel: response PATCH /contacts/con_1',
      'warn postreel: mismatch PATCH /contacts/con_1',
    ]);
    expect(lines.join()).not.toMatch(/of the (request|answer)/);
  });

  it('may have only some of the levels', async () => {
    const debug = vi.fn();
    await working({ logger: { debug } }).contacts.get('con_1');
    expect(debug).toHaveBeenCalledTimes(2);
  });

  it.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new RangeError('the disk is full');
      },
    ],
    ['rejects later', () => Promise.reject(new SyntaxError('the disk is full')) as never],
  ])('that %s does not break a call or hide a warning', async (_, debug) => {
    const print = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const rateLimit = { limit: 5, windowMs: 3_600_000, group: `logger ${_}` };
    const client = working({ logger: { debug }, rateLimit });
    await expect(client.contacts.get('con_1')).resolves.toBeDefined();
    await vi.waitFor(() => expect(print).toHaveBeenCalledTimes(1));
    expect(print.mock.calls[0]?.[0]).toMatch(
      /^The logger failed \((Range|Syntax)Error\)\. Calls continue/,
    );
    expect(client.rateLimit.state()).toMatchObject({ used: 1, queued: 0 });
  });
});

describe('the console', () => {
  const levels = ['debug', 'info', 'warn', 'error'] as const;

  async function linesOf(options: MessagingOptions): Promise<[string, ...unknown[]][]> {
    const lines: [string, ...unknown[]][] = [];
    for (const level of levels) {
      vi.spyOn(console, level).mockImplementation((...words: unknown[]) => {
        lines.push([level, ...words]);
      });
    }
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    const client = working({ validation: { responses: 'off' }, ...options });
    await client.contacts.update('con_1', { emial: 'ann@example.com' } as object);
    return lines;
  }

  it('gets each event as one line if `POSTREEL_LOG` is debug', async () => {
    vi.stubEnv('POSTREEL_LOG', 'debug');
    const lines = await linesOf({});
    expect(lines.map(([level, ...words]) => [level, words.length])).toEqual([
      ['warn', 1],
      ['debug', 1],
      ['debug', 1],
    ]);
    expect(lines[2]?.[1]).toMatch(
      /^postreel: response PATCH \/contacts\/con_1 callId=\d+ route="\/contacts\/{id}" attempt=1 status=200 durationMs=\d+$/,
    );
  });

  it.each([
    ['warn', ['warn']],
    ['', []],
    ['loud', []],
  ])('gets with `POSTREEL_LOG=%s`: %j', async (word, expected) => {
    vi.stubEnv('POSTREEL_LOG', word);
    expect((await linesOf({})).map(([level]) => level)).toEqual(expected);
  });

  it('gets nothing if another logger is given, and one line for each event if it is the logger', async () => {
    vi.stubEnv('POSTREEL_LOG', 'debug');
    expect(await linesOf({ logger: { warn: () => undefined } })).toEqual([]);
    vi.unstubAllEnvs();
    expect((await linesOf({ logger: console })).map((line) => line.length)).toEqual([2, 2, 2]);
  });
});
