import { inspect } from 'node:util';
import { instrument } from 'postreel/otel';
import { describe, expect, it } from 'vitest';
import { mediaOver, messagingOver } from '../support/clients.js';
import { recording } from '../support/otel/recording.js';
import { holdLaw, type Subject } from './exceptions.js';

/** What must never be told, by how it gets into a call. */
const secrets = {
  key: 'media.key.without.a.form',
  cookie: 'cookie-value-4711',
  password: 'correct horse battery',
  header: 'vault-token-0815',
  list: 'token-of-a-list-42',
} as const;

type Fetch = () => Promise<Response>;

/** A call that carries a secret, whatever `fetch` then does. */
const callsWith: Record<keyof typeof secrets, (fetch: Fetch, told: Told) => Promise<unknown>> = {
  key: async (fetch, told) => {
    const media = mediaOver(fetch, { apiKey: secrets.key, retries: 0, logger: told.logger });
    const stop = await instrument(media, told.telemetry);
    return media.generate.status({ fileId: 'file_1' }).finally(stop);
  },
  cookie: async (fetch, told) => {
    const setCookie = { 'set-cookie': `session=${secrets.cookie}; Path=/` };
    let answered = 0;
    const messaging = messagingOver(
      async () => (answered++ === 0 ? Response.json({}, { headers: setCookie }) : fetch()),
      { apiKey: null, retries: 0, logger: told.logger },
    );
    const stop = await instrument(messaging, told.telemetry);
    await messaging.auth.login({ email: 'ann@example.com', password: secrets.password });
    return messaging.users.me().finally(stop);
  },
  password: async (fetch, told) => {
    const messaging = messagingOver(fetch, { apiKey: null, logger: told.logger });
    const stop = await instrument(messaging, told.telemetry);
    return messaging.auth
      .login({ email: 'ann@example.com', password: secrets.password })
      .finally(stop);
  },
  header: async (fetch, told) => {
    const messaging = messagingOver(fetch, { logger: told.logger, retries: 0 });
    const stop = await instrument(messaging, told.telemetry);
    const headers = { 'x-vault-token': secrets.header };
    return messaging.contacts.get('con_1', { headers }).finally(stop);
  },
  list: async (fetch, told) => {
    const messaging = messagingOver(fetch, { logger: told.logger, retries: 0 });
    const stop = await instrument(messaging, told.telemetry);
    const body = { hooks: [{ token: secrets.list }] };
    return messaging.request('POST', '/hooks', { body }).finally(stop);
  },
};

interface Told {
  readonly lines: unknown[];
  readonly logger: Record<'debug' | 'info' | 'warn' | 'error', (...told: unknown[]) => void>;
  readonly telemetry: NonNullable<Parameters<typeof instrument>[1]>;
  readonly spans: () => unknown;
}

const traces = recording();

function listening(): Told {
  const lines: unknown[] = [];
  const write = (...told: unknown[]) => void lines.push(told);
  const logger = { debug: write, info: write, warn: write, error: write };
  const { tracer, meter } = traces;
  const before = traces.spans().length;
  const spans = () =>
    traces
      .spans()
      .slice(before)
      .map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
  return { lines, logger, telemetry: { tracer, meter }, spans };
}

/** A request of another library: it hides its headers and prints them. */
class ForeignRequest {
  readonly #headers: string;
  constructor(secret: string) {
    this.#headers = secret;
  }
  get headers(): string {
    return this.#headers;
  }
  toJSON(): string {
    return this.#headers;
  }
  [inspect.custom](): string {
    return `Request ${this.#headers}`;
  }
}

class ForeignError extends Error {
  readonly #request: string;
  constructor(secret: string) {
    super('failed');
    this.#request = secret;
  }
  toJSON(): string {
    return this.#request;
  }
  [inspect.custom](): string {
    return this.#request;
  }
}

class SelfPrintingError extends Error {
  readonly #request: string;
  constructor(secret: string) {
    super('failed');
    this.#request = secret;
  }
  [inspect.custom](): string {
    return this.#request;
  }
}

const failed = (fields: object) => Object.assign(new TypeError('fetch failed'), fields);

/** What a `fetch` may throw. */
const faults: Record<string, (secret: string) => unknown> = {
  'the secret alone': (secret) => secret,
  'a message': (secret) => new Error(`sent ${secret}`),
  'a code': (secret) => failed({ code: secret }),
  'a stack': (secret) => failed({ stack: `Error\n    at ${secret}` }),
  'a request as plain data': (secret) =>
    failed({ request: { headers: { authorization: secret } } }),
  'a foreign request': (secret) => failed({ request: new ForeignRequest(secret) }),
  'a foreign error': (secret) => new ForeignError(secret),
  'an error that prints itself': (secret) => new SelfPrintingError(secret),
  'the Request of the runtime': (secret) =>
    failed({ request: new Request('https://a.test', { headers: { 'x-a': secret } }) }),
  'the Headers of the runtime': (secret) => failed({ headers: new Headers({ 'x-a': secret }) }),
  'a Map': (secret) => failed({ headers: new Map([['authorization', secret]]) }),
  'a Set': (secret) => failed({ headers: new Set([secret]) }),
  'a list': (secret) => failed({ rawHeaders: ['authorization', secret] }),
  'an accessor': (secret) =>
    Object.defineProperty(failed({}), 'request', { get: () => secret, enumerable: true }),
  'a field that is not enumerable': (secret) =>
    Object.defineProperty(failed({}), 'request', { value: { secret } }),
  'a symbol': (secret) => failed({ [Symbol('request')]: { secret } }),
  'the name of a field': (secret) => failed({ headers: { [secret]: 1 } }),
  'a custom inspection': (secret) => failed({ request: { [inspect.custom]: () => secret } }),
  'a toJSON': (secret) => failed({ request: { toJSON: () => secret } }),
  'a cause': (secret) => new TypeError('failed', { cause: failed({ socket: { secret } }) }),
  'an AggregateError': (secret) => new AggregateError([failed({ request: { secret } })], 'all'),
  'a function': (secret) => failed({ request: Object.assign(() => undefined, { secret }) }),
  'a URL': (secret) => failed({ url: new URL(`https://a.test/?k=${encodeURIComponent(secret)}`) }),
  bytes: (secret) => failed({ body: Buffer.from(secret) }),
  'an error as a field': (secret) => failed({ reason: new ForeignError(secret) }),
  'a proxy': (secret) => failed({ request: new Proxy({ secret }, {}) }),
  'many levels': (secret) =>
    failed({ a: { b: { c: { d: { e: { f: { g: { h: { i: { j: secret } } } } } } } } } }),
};

const json = (body: unknown, init?: ResponseInit) => () => Response.json(body, init);

/** An answer that repeats what it was sent. */
const echoes: Record<string, (secret: string) => () => Response> = {
  'error.message': (secret) =>
    json({ success: false, error: { message: secret } }, { status: 400 }),
  'error.code': (secret) => json({ error: { code: secret, message: 'no' } }, { status: 500 }),
  'error.errors': (secret) =>
    json(
      { error: { errors: [{ field: secret, message: secret, code: secret }] } },
      { status: 422 },
    ),
  'error.details': (secret) => json({ error: { details: { [secret]: secret } } }, { status: 400 }),
  'error.suggestion': (secret) => json({ error: { suggestion: secret } }, { status: 403 }),
  'error.requestId': (secret) => json({ error: { requestId: secret } }, { status: 503 }),
  'a bare error': (secret) => json({ error: secret, message: 'no' }, { status: 401 }),
  'a text': (secret) => () => new Response(`You sent ${secret}`, { status: 500 }),
  'a page': (secret) => () => new Response(`<pre>${secret}</pre>`, { status: 502 }),
  'a no with 200': (secret) => json({ success: false, error: { message: secret } }),
  'no JSON with 200': (secret) => () =>
    new Response(secret, { headers: { 'content-type': `text/${encodeURIComponent(secret)}` } }),
  'a request id': (secret) => () =>
    new Response('{}', { status: 404, headers: { 'x-request-id': secret } }),
  'a redirect': (secret) => () =>
    new Response(null, { status: 302, headers: { location: `/?k=${encodeURIComponent(secret)}` } }),
};

function subjectsOf(kind: string, ways: Record<string, (secret: string) => Fetch>): Subject[] {
  return Object.entries(ways).flatMap(([way, fetchWith]) =>
    Object.entries(callsWith).map(([name, call]) => ({
      name: `${name} in ${kind}: ${way}`,
      check: async () => {
        const secret = secrets[name as keyof typeof secrets]; // the table has the same names
        const told = listening();
        const error: unknown = await call(fetchWith(secret), told).then(
          () => undefined,
          (failure: unknown) => failure,
        );
        expect(error, 'the call fails').toBeInstanceOf(Error);
        const deep = { depth: 12, showHidden: true, maxArrayLength: null } as const;
        const texts = [
          inspect(error, deep),
          inspect(error, { ...deep, showHidden: false, getters: true }),
          JSON.stringify(error),
          String(error),
          (error as Error).stack ?? '',
          inspect(told.lines, deep),
          JSON.stringify(told.lines),
          inspect(told.spans(), deep),
        ];
        for (const text of texts) {
          for (const hidden of Object.values(secrets)) {
            expect(text.includes(hidden) || text.includes(encodeURIComponent(hidden))).toBe(false);
          }
        }
      },
    })),
  );
}

describe('law 8', () => {
  it('no secret is in anything that is thrown, logged, traced or inspected', async () => {
    const throwing = Object.fromEntries(
      Object.entries(faults).map(([name, fault]) => [
        name,
        (secret: string): Fetch =>
          () =>
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a fetch may throw anything
            Promise.reject(fault(secret)),
      ]),
    );
    const answering = Object.fromEntries(
      Object.entries(echoes).map(([name, answer]) => [
        name,
        (secret: string): Fetch =>
          () =>
            Promise.resolve(answer(secret)()),
      ]),
    );
    await holdLaw('law 8, no secret is told', [
      ...subjectsOf('a fault', throwing),
      ...subjectsOf('an echo', answering),
    ]);
  });
});
