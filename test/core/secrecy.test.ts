import { inspect } from 'node:util';
import { MediaClient, MessagingClient, type MessagingOptions } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';

type Fetch = typeof globalThis.fetch;

/** The secrets, by the way in which they get into a call. */
const secrets = {
  'a key': 'sk_live_4f9a8b7c6d5e',
  'a key without a form': 'media/key+4f9a8b7c',
  'the cookie of a session': 'cookie-value-4711',
  'a password': 'correct horse battery',
  'a header of the caller': 'vault-token-0815',
  'a field of a body': 'token-of-a-list-42',
} as const;
type Carrier = keyof typeof secrets;

/** A call that carries a secret, whatever `fetch` then does. */
const callWith: Record<Carrier, (fetch: Fetch, told: MessagingOptions) => PromiseLike<unknown>> = {
  'a key': (fetch, told) =>
    messagingOver(fetch, { apiKey: secrets['a key'], ...told }).contacts.get('con_1'),
  'a key without a form': (fetch, { logger }) =>
    mediaOver(fetch, {
      apiKey: secrets['a key without a form'],
      logger,
      retries: 0,
    }).generate.status({ fileId: 'file_1' }),
  'the cookie of a session': async (fetch, told) => {
    const setCookie = { 'set-cookie': `session=${secrets['the cookie of a session']}; Path=/` };
    let answered = 0;
    const messaging = messagingOver(
      async (...given) =>
        answered++ === 0 ? Response.json({}, { headers: setCookie }) : fetch(...given),
      { apiKey: null, ...told },
    );
    await messaging.auth.login({ email: 'ann@example.com', password: secrets['a password'] });
    return messaging.users.me();
  },
  'a password': (fetch, told) =>
    messagingOver(fetch, { apiKey: null, ...told }).auth.login({
      email: 'ann@example.com',
      password: secrets['a password'],
    }),
  'a header of the caller': (fetch, told) => {
    const headers = { 'x-vault-token': secrets['a header of the caller'] };
    return messagingOver(fetch, told).contacts.get('con_1', { headers });
  },
  'a field of a body': (fetch, told) => {
    const body = { hooks: [{ token: secrets['a field of a body'] }] };
    return messagingOver(fetch, told).request('POST', '/hooks', { body });
  },
};

const failed = (fields: object) => Object.assign(new TypeError('fetch failed'), fields);

/** Errors that a `fetch` may throw. */
const faults: Record<string, (secret: string) => unknown> = {
  'the secret alone': (secret) => secret,
  'a message': (secret) => new Error(`sent ${secret}`),
  'a name': (secret) => failed({ name: secret }),
  'a code': (secret) => failed({ code: secret }),
  'a stack': (secret) => failed({ stack: `Error\n    at ${secret}` }),
  'a cause': (secret) => new TypeError('failed', { cause: new Error(`to ${secret}`) }),
  'a refused connection': (secret) =>
    failed({ cause: Object.assign(new Error(`to ${secret}`), { code: 'ECONNREFUSED' }) }),
  'a time limit of its own': (secret) =>
    failed({ cause: Object.assign(new Error(`of ${secret}`), { code: 'UND_ERR_BODY_TIMEOUT' }) }),
  'an AggregateError': (secret) => new AggregateError([new Error(secret)], 'all'),
  'a request': (secret) => failed({ request: { headers: { authorization: secret } } }),
  'the Headers of the runtime': (secret) => failed({ headers: new Headers({ 'x-a': secret }) }),
  'settings that print themselves': (secret) =>
    failed({ config: { [inspect.custom]: () => secret, toJSON: () => secret } }),
  'a field that is not enumerable': (secret) =>
    Object.defineProperty(failed({}), 'request', { value: { secret } }),
  'an error that prints itself': (secret) =>
    failed({ [inspect.custom]: () => secret, toJSON: () => secret }),
};

const refusal = (error: object, status = 400) =>
  Response.json({ success: false, error }, { status });
const escaped = (text: string) =>
  Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** A response that repeats the request. */
const echoes: Record<string, (secret: string) => Response> = {
  'a message': (secret) => refusal({ message: `Bad: ${secret}` }),
  'a code, suggestion and request id': (secret) =>
    refusal({ code: secret, suggestion: secret, requestId: secret }),
  fields: (secret) => refusal({ errors: [{ field: secret, message: secret, code: secret }] }, 422),
  'names of other fields': (secret) => refusal({ details: { [secret]: [secret] } }),
  'a bare text': (secret) => Response.json({ error: `no ${secret}` }, { status: 401 }),
  'escapes of JSON': (secret) =>
    new Response(`{"error": {"message": "${escaped(secret)}"}}`, { status: 401 }),
  'plain text': (secret) => new Response(`You sent ${secret}`, { status: 500 }),
  'the page of a gateway': (secret) => new Response(`<pre>${secret}</pre>`, { status: 502 }),
  'a no with 200': (secret) => refusal({ message: secret }, 200),
  'what is no JSON': (secret) =>
    new Response(secret, { headers: { 'content-type': `text/${encodeURIComponent(secret)}` } }),
  'a header': (secret) => new Response('{}', { status: 404, headers: { 'x-request-id': secret } }),
  'a redirect': (secret) =>
    new Response(null, { status: 302, headers: { location: `/?k=${encodeURIComponent(secret)}` } }),
};

/** Everything that a call prints or reports: its error, its events and its log. */
async function toldOf(carrier: Carrier, fetch: Fetch): Promise<string> {
  const lines: unknown[] = [];
  const write = (...told: unknown[]) => lines.push(told);
  const logger = { debug: write, info: write, warn: write, error: write };
  const error: unknown = await Promise.resolve(
    callWith[carrier](fetch, { logger, retries: 0 }),
  ).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error, 'the call fails').toBeInstanceOf(Error);
  const deep = { depth: 12, showHidden: true, maxArrayLength: null } as const;
  const shown = [inspect(error, deep), inspect(error), JSON.stringify(error), String(error)];
  return [...shown, (error as Error).stack, inspect(lines, deep), JSON.stringify(lines)].join('\n');
}

function expectSilence(told: string): void {
  for (const secret of Object.values(secrets)) {
    expect(told).not.toContain(secret);
    expect(told).not.toContain(encodeURIComponent(secret));
  }
}

describe.each(Object.keys(secrets) as Carrier[])(
  '%s is not in any error, event or log',
  (carrier) => {
    it.each(Object.entries(faults))('of a fault with %s', async (_, fault) => {
      const throwing: Fetch = () =>
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a fetch may throw anything
        Promise.reject(fault(secrets[carrier]));
      expectSilence(await toldOf(carrier, throwing));
    });

    it.each(Object.entries(echoes))('of a response with %s', async (_, echo) => {
      expectSilence(await toldOf(carrier, () => Promise.resolve(echo(secrets[carrier]))));
    });
  },
);

describe('a foreign text', () => {
  it.each([
    ['your key sk_live_4f9a8b7c6d5e is bad', 'your key [key] is bad'],
    ['not sk_other_1 and pk_x-9z', 'not sk_[key] and pk_[key]'],
    ['a task_list is no key, nor is sk_ab', 'a task_list is no key, nor is sk_ab'],
    ['Authorization: Bearer x.y.z, done', 'Authorization: Bearer [key], done'],
    ['Use `Authorization: Bearer <key>`', 'Use `Authorization: Bearer <key>`'],
    ['see https://cdn.test/f?sig=abc&x=1', 'see https://cdn.test/f?sig=[key]&x=1'],
  ])('stays readable: %s', async (message, expected) => {
    const { fetch } = answering(() => refusal({ message }));
    const { error } = await messagingOver(fetch, { apiKey: secrets['a key'] })
      .contacts.get('con_1')
      .safe();
    expect(error?.message).toBe(`GET /contacts/con_1 was rejected (400): ${expected}.`);
  });

  it('keeps the names, messages, codes and system calls of a fault and its causes', async () => {
    const inner = Object.assign(new Error(`connect to ${secrets['a key']}`), {
      code: 'ECONNRESET',
      syscall: 'read',
    });
    const fault = new TypeError('fetch failed', { cause: inner });
    const messaging = messagingOver(() => Promise.reject(fault), {
      apiKey: secrets['a key'],
      retries: 0,
    });
    const { error } = await messaging.contacts.get('con_1').safe();
    expect(error?.cause).toBeInstanceOf(Error);
    expect(error?.cause).toMatchObject({
      name: 'TypeError',
      message: 'fetch failed',
      cause: { message: 'connect to [key]', code: 'ECONNRESET', syscall: 'read' },
    });
  });
});

describe('the printed form', () => {
  const printed = (value: unknown) =>
    inspect(value, { depth: 10, showHidden: true, maxArrayLength: null }) + JSON.stringify(value);

  it('of clients, resources, calls, responses and pages contains no key', async () => {
    const apiKey = secrets['a key'];
    const { fetch } = answering(() => ({ data: [{ id: 'con_1' }], cursor: 'next', hasMore: true }));
    const messaging = messagingOver(fetch, { apiKey, rateLimit: { limit: 1000 } });
    const media = new MediaClient({ apiKey, baseUrl: 'https://media.test', fetch });
    const list = messaging.contacts.list();
    const call = messaging.contacts.get('con_1');
    const page = await list;
    const objects: unknown[] = [messaging, messaging.with({ timeout: 1 }), messaging.contacts];
    objects.push(media, media.job({ fileId: 'file_1', kind: 'video' }));
    objects.push(list, page, page[Symbol.asyncIterator](), call, await call.withResponse());
    for (const object of objects) {
      expect(printed(object)).not.toContain(apiKey);
    }
  });

  it('of the global object contains no key, although it holds the state of projects', async () => {
    const apiKey = secrets['a key'];
    const messaging = messagingOver(fetch, { apiKey, rateLimit: { limit: 1000 } });
    expect(messaging.rateLimit.state()).toMatchObject({ limit: 1000 });
    const { fetch: made } = answering(() => ({ data: { filesCreated: ['file_1'] } }));
    const video = { workflowType: 'idea', workflowFormat: 'video', prompt: 'Hi' } as const;
    const media = mediaOver(made, { apiKey });
    await media.generate.video({ payload: [{ ...video, voiceId: 'voice_1' }] });
    await media.generate.status({ fileId: 'file_1' });
    const registry: unknown = Reflect.get(globalThis, Symbol.for('postreel.projects.1'));
    const { ofProcess } = registry as { ofProcess: Map<string, unknown> }; // as: see `core/limit/projects.ts`
    expect([...ofProcess.keys()].filter((name) => !/^[0-9a-f]{16}$/.test(name))).toEqual([]);
    expect(printed(registry)).toContain('Project');
    expect(printed(registry)).not.toContain(apiKey);
  });
});

it('no log line above debug contains an email address, whatever goes wrong', async () => {
  const email = 'ann@example.com';
  const content = { from: 'shop@example.com', subject: 'Hi', body: 'Hi' };
  const fake = createFakeMessaging();
  let above = '';
  const write = (message: string, facts?: unknown) => {
    above += `${message} ${inspect(facts, { depth: 9 })}\n`;
  };
  const messaging = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: fake.fetch,
    logger: { info: write, warn: write, error: write },
    retries: 1,
  });
  const body = { error: `no ${email}`, message: 'no' };
  fake.fail('GET /contacts', { status: 503, retryAfter: 0, body });
  fake.fail('POST /contacts', { status: 409, body: { error: `${email} is taken` }, after: 1 });
  await messaging.contacts.create({ email, data: { email, note: '' } as object });
  await messaging.contacts.create({ email }).safe();
  await messaging.contacts.findByEmail(email);
  await messaging.send({ ...content, to: email, replyTo: email } as typeof content & {
    to: string;
  });
  await messaging.send({ ...content, to: `Ann <${email}>` }).safe();
  await messaging.track({ email, event: 'paid', emial: email });
  await messaging.sendEach([email, 'bea@example.com'], content);
  expect(above).toContain('retry');
  expect(above).toContain('warning');
  expect(above).not.toMatch(/ann(@|%40)example|bea(@|%40)example/i);
});
