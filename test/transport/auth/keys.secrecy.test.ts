import { inspect } from 'node:util';
import { MediaClient, MessagingClient, type Logger } from 'postreel';
import { describe, expect, it } from 'vitest';
import { cleanCause } from '../../../src/core/redact.js';
import { answering, messagingOver } from '../../support/clients.js';

const key = 'sk_live_4f9a8b7c6d5e';
const mediaKey = 'media/key+4f9a8b7c6d5e';
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

type Answer = (request: Request) => Response | Promise<Response>;

/** What a service could do to get a key into an error, a log or an event. */
const echoes: [string, Answer][] = [
  ['the message of an error', (request) => refusal({ message: `Bad key ${bearerOf(request)}` })],
  [
    'its code, suggestion and request id',
    () => refusal({ code: key, suggestion: key, requestId: key }),
  ],
  ['its fields', () => refusal({ errors: [{ field: key, message: key, code: key }] })],
  ['a bare text', () => Response.json({ error: `no ${key}` }, { status: 401 })],
  ['JSON escapes', () => escaped(401)],
  ['JSON escapes with HTTP 200', () => escaped(200)],
  ['a refusal with HTTP 200', () => Response.json({ success: false, error: { message: key } })],
  ['what is no JSON', () => new Response(key)],
  ['the page of a gateway', () => new Response(`<p>${key}</p>`, { status: 502 })],
  [
    'the headers',
    () => new Response('?', { headers: { 'x-request-id': key, 'content-type': key } }),
  ],
  ['a redirect', () => redirect(`https://${key}.example.com/?key=${key}`)],
  ['the fault of a connection', () => Promise.reject(new Error(`cannot send ${key}`))],
  ['the cause of a fault', () => Promise.reject(new Error('x', { cause: new Error(key) }))],
  [
    'a request that a fault carries',
    (request) => Promise.reject(Object.assign(new Error('x'), { request })),
  ],
  [
    'the settings that a fault carries',
    () => Promise.reject(Object.assign(new Error('x'), { config: { headers: [key] } })),
  ],
];

describe('a key that comes back in', () => {
  it.each(echoes)('%s is in no error, log or event', async (_, answer) => {
    const seen: unknown[] = [];
    const logger = spyLogger(seen);
    const { fetch } = answering(answer);
    const messaging = messagingOver(fetch, { apiKey: key, logger, retries: 0 });
    for (const name of ['request', 'response', 'retry', 'mismatch', 'warning'] as const) {
      messaging.on(name, (event) => seen.push(event));
    }
    const failure: unknown = await messaging.send(mail).then(
      () => 'resolved',
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(Error);
    seen.push(failure, JSON.stringify(failure), (failure as Error).stack, String(failure));
    expect(printed(seen)).not.toContain('4f9a8b7c');
  });

  it('the error of the media service is taken out, though it has no prefix', async () => {
    const { fetch } = answering(() => Response.json({ error: `no ${mediaKey}!` }, { status: 401 }));
    const media = new MediaClient({ apiKey: mediaKey, baseUrl: 'https://media.test', fetch });
    const call = media.generate.status({ fileId: 'file_1' });
    await expect(call).rejects.toThrow('no [key]!');
  });

  it('an error leaves the rest of the text readable', async () => {
    const message = `The key ${key} may not send to ann@example.com`;
    const { fetch } = answering(() => refusal({ message }));
    await expect(messagingOver(fetch, { apiKey: key }).send(mail)).rejects.toThrow(
      'POST /v1/send was rejected (401): The key [key] may not send to ann@example.com.',
    );
  });
});

describe('what inspect and JSON show', () => {
  it('of clients, resources, calls, answers and pages holds no key', async () => {
    const { fetch } = answering(() => ({ data: [{ id: 'con_1' }], cursor: 'next', hasMore: true }));
    const messaging = messagingOver(fetch, {
      apiKey: key,
      rateLimit: { limit: 1000 },
    });
    const media = new MediaClient({ apiKey: key, baseUrl: 'https://media.test', fetch });
    const list = messaging.contacts.list();
    const call = messaging.contacts.get('con_1');
    const page = await list;
    const answer = await call.withResponse();
    const objects = [
      messaging,
      messaging.with({ timeout: 1 }),
      media,
      messaging.contacts,
      list,
      page,
      page[Symbol.asyncIterator](),
      call,
      answer,
      media.job({ fileId: 'file_1', kind: 'video' }),
    ];
    expect(printed(objects)).not.toContain(key);
    expect(JSON.stringify(objects)).not.toContain(key);
  });

  it('of the global object holds no key, though rate budgets are shared there', () => {
    const messaging = messagingOver(fetch, { apiKey: key, rateLimit: { limit: 1000 } });
    expect(messaging.rateLimit.state()).toMatchObject({ limit: 1000 });
    const registry: unknown = Reflect.get(globalThis, Symbol.for('postreel.budgets.2'));
    expect(registry).toBeTypeOf('object');
    expect(printed(registry)).not.toContain(key);
  });
});

describe('a request', () => {
  it('carries the key in one header and nowhere else', async () => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const messaging = new MessagingClient({ apiKey: key, baseUrl: 'https://m.test', fetch });
    await messaging.contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });
    const [request] = requests;
    expect(request?.url).not.toContain(key);
    await expect(request?.text()).resolves.not.toContain(key);
    const carriers = [...(request?.headers ?? [])].filter(([, value]) => value.includes(key));
    expect(carriers).toEqual([['authorization', `Bearer ${key}`]]);
  });

  it('of a free call hides its query from errors and events', async () => {
    const paths: string[] = [];
    const { fetch, requests } = answering(() => new Response(null, { status: 404 }));
    const messaging = messagingOver(fetch);
    messaging.on('request', ({ path }) => paths.push(path));
    const query = { token: 'secret' };
    const calls = [
      messaging.request('GET', '/reports', { query }),
      messaging.request('GET', '/reports?token=secret&year=2026'),
    ];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({ path: '/reports' });
    }
    expect(paths).toEqual(['/reports', '/reports']);
    const sent = 'https://messaging.test/reports?token=secret';
    expect(requests.map(({ url }) => url)).toEqual([sent, `${sent}&year=2026`]);
  });
});

describe('the cause of an error', () => {
  it('that carries the request becomes one that can be printed', () => {
    const request = { headers: { authorization: `Bearer ${key}` } };
    const thrown = Object.assign(new TypeError('fetch failed'), { request });
    expect(printed(thrown)).toContain(key);
    expect(printed(cleanCause(thrown, key))).not.toContain(key);
  });

  it('is the same object when there is nothing to hide', () => {
    const fault = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(cleanCause(fault, key)).toBe(fault);
    expect(cleanCause(fault, null)).toBe(fault);
  });

  it('keeps its name, code and causes as a copy', () => {
    const inner = Object.assign(new Error(`to ${key}`), { code: 'ECONNRESET' });
    const fault = new TypeError('fetch failed', { cause: inner });
    expect(cleanCause(fault, key)).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { message: 'to [key]', code: 'ECONNRESET' },
    });
  });

  it('is cut when it is too large to be looked through', () => {
    const fault = { list: Array.from({ length: 1000 }, () => ({})) };
    expect(JSON.stringify(cleanCause(fault, key))).toContain('…');
  });
});

function refusal(error: Record<string, unknown>): Response {
  return Response.json({ success: false, error }, { status: 401 });
}

function escaped(status: number): Response {
  const codes = Array.from(key).map(
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return new Response(`{"success": false, "error": {"message": "${codes.join('')}"}}`, { status });
}

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}

function bearerOf(request: Request): string {
  return request.headers.get('authorization') ?? '';
}

function printed(value: unknown): string {
  return inspect(value, { depth: 10, showHidden: true, maxArrayLength: null });
}

function spyLogger(lines: unknown[]): Logger {
  const write = (message: string, facts?: object) => lines.push(message, facts);
  return { debug: write, info: write, warn: write, error: write };
}
