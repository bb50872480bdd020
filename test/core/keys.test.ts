import { ConfigurationError, MediaClient, MessagingClient, type MessagingOptions } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';
import { faked } from '../support/faked.js';
import { scripted, step } from '../support/script.js';
import { settledInTime } from '../support/settled.js';

const baseUrl = 'https://messaging.test';
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const event = { email: 'ann@example.com', event: 'signed_up' };
const bearers = (requests: readonly Request[]) =>
  requests.map(({ headers }) => headers.get('authorization'));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

function refusalOf(work: () => unknown): ConfigurationError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return error as ConfigurationError;
  }
  throw new Error('it was accepted');
}

describe('the form of a key', () => {
  it.each<[string, unknown, string]>([
    ['that is empty', '', 'must be a non-empty string. Set `apiKey`'],
    ['that is no text', 42, 'must be a non-empty string. Set `apiKey`'],
    ['with a space before it', ' sk_live_12345', 'contains whitespace. Copy it again.'],
    ['with a line break after it', 'sk_live_12345\n', 'contains whitespace. Copy it again.'],
    ['with a tab inside', 'sk_live\t12345', 'contains whitespace. Copy it again.'],
    ['with the word of its header', 'Bearer sk_live', 'must be the key alone.'],
    ['in quotes', '"sk_live"', 'must be the key alone.'],
    ['that no header can carry', 'sk_live_ключ', 'contains characters that a key cannot have.'],
    ['with an invisible character', 'sk_live\u200b', 'contains characters that a key cannot have.'],
    [
      'of another service',
      'key_live_1',
      'must start with "sk_" or "pk_". Is it the key of another',
    ],
  ])(
    'is checked: one %s is rejected, and the error does not repeat it',
    async (_, apiKey, words) => {
      const error = refusalOf(() => new MessagingClient({ apiKey: apiKey as string, baseUrl }));
      expect(error).toMatchObject({ code: 'INVALID_API_KEY', outcome: 'not-sent' });
      expect(error.message).toContain(words);
      expect(error.message).not.toMatch(/_live|42/);
      const { fetch, requests } = answering(() => ({}));
      const call = messagingOver(fetch, { apiKey: () => apiKey as string }).send(mail);
      await expect(call).rejects.toMatchObject({ code: 'INVALID_API_KEY', outcome: 'not-sent' });
      expect(requests).toEqual([]);
    },
  );

  it('of the media service is any text without white space', async () => {
    const { fetch, requests } = answering(() => ({ fileId: 'file_1', status: 'queued' }));
    // A key that begins like a public key of the other service is accepted, too.
    await mediaOver(fetch, { apiKey: 'pk_media/1' }).generate.status({ fileId: 'file_1' });
    expect(bearers(requests)).toEqual(['Bearer pk_media/1']);
    expect(() => mediaOver(fetch, { apiKey: 'any thing' })).toThrow('contains whitespace');
  });
});

describe('the environment', () => {
  it('is named by the error about a missing key, also with two clients', () => {
    vi.stubEnv('MESSAGING_API_KEY', 'sk_env\n');
    vi.stubEnv('MEDIA_API_KEY', 'media key');
    const messages = [
      () => new MessagingClient({ baseUrl }),
      () => new MediaClient({ baseUrl }),
      () => new MediaClient({ baseUrl, apiKey: 'media key' }),
    ].map((work) => refusalOf(work).message);
    const refusal = 'The API key contains whitespace. Copy it again. The key came from';
    expect(messages).toEqual([
      `${refusal} MESSAGING_API_KEY.`,
      `${refusal} MEDIA_API_KEY.`,
      `${refusal} the option \`apiKey\`.`,
    ]);
  });
  it('provides the key and the address that the options omit', async () => {
    vi.stubEnv('MESSAGING_API_KEY', 'sk_env');
    vi.stubEnv('MESSAGING_BASE_URL', 'https://env.test');
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    await new MessagingClient({ fetch }).contacts.get('con_1');
    await new MessagingClient({ fetch, apiKey: 'sk_key', baseUrl }).contacts.get('con_1');
    expect(requests.map(({ url }) => new URL(url).origin)).toEqual(['https://env.test', baseUrl]);
    expect(bearers(requests)).toEqual(['Bearer sk_env', 'Bearer sk_key']);
  });

  it.each(['', undefined])('with the value %j counts as unset', (value) => {
    vi.stubEnv('MESSAGING_API_KEY', value);
    vi.stubEnv('MESSAGING_BASE_URL', value);
    const noKey = refusalOf(() => new MessagingClient({ baseUrl }));
    expect(noKey).toMatchObject({ code: 'API_KEY_MISSING', outcome: 'not-sent' });
    expect(noKey.message).toContain('pass `apiKey`, or set MESSAGING_API_KEY');
    const noAddress = refusalOf(() => new MessagingClient({ apiKey: 'sk_key' }));
    expect(noAddress).toMatchObject({ code: 'BASE_URL_MISSING', outcome: 'not-sent' });
    expect(noAddress.message).toContain('pass `baseUrl`, or set MESSAGING_BASE_URL');
    expect(noAddress.message).toContain('run `npx postreel fake`');
  });

  it('may be missing, as in a browser, or denied, as in Deno', () => {
    vi.stubGlobal('process', undefined);
    expect(refusalOf(() => new MessagingClient({ baseUrl })).code).toBe('API_KEY_MISSING');
    const env = new Proxy({}, { get: () => expect.fail('it was read') });
    vi.stubGlobal('process', { env });
    vi.stubGlobal('Deno', { permissions: { querySync: () => ({ state: 'denied' }) } });
    expect(refusalOf(() => new MessagingClient({ baseUrl })).code).toBe('API_KEY_MISSING');
    expect(() => new MessagingClient({ apiKey: 'sk_key', baseUrl })).not.toThrow();
  });

  it('or the option is named by the error about a rejected key, without the key', async () => {
    vi.stubEnv('MESSAGING_API_KEY', 'sk_env_1234567890');
    const { fetch } = answering(() => new Response('{}', { status: 401 }));
    const refused = async (options: MessagingOptions) => {
      const client = new MessagingClient({ fetch, baseUrl, rateLimit: false, ...options });
      return (await client.contacts.get('con_1').safe()).error?.message;
    };
    expect(await refused({})).toMatch(/The key \(sk_…\) came from MESSAGING_API_KEY\.$/);
    expect(await refused({ apiKey: 'sk_given' })).toMatch(/came from the option `apiKey`\.$/);
    expect(await refused({ apiKey: () => 'sk_made' })).toMatch(
      /came from the function `apiKey`\.$/,
    );
  });
});

describe('a public key', () => {
  it('can only track events: other calls are rejected before the network', async () => {
    const { fetch, requests } = answering(() => ({ success: true, data: {} }));
    const messaging = messagingOver(fetch, { apiKey: 'pk_test_1' });
    await messaging.track(event);
    for (const call of [
      messaging.send(mail),
      messaging.contacts.get('con_1'),
      messaging.events.track(event),
      messaging.users.me(),
      messaging.request('GET', '/contacts'),
    ]) {
      const { error } = await call.safe();
      expect(error).toMatchObject({ code: 'SECRET_KEY_NEEDED', outcome: 'not-sent' });
      expect(error?.message).toMatch(
        /^A public key \(pk_\) may only track events\. Use a secret key/,
      );
    }
    await expect(messaging.contacts.list()).rejects.toMatchObject({ code: 'SECRET_KEY_NEEDED' });
    expect(bearers(requests)).toEqual(['Bearer pk_test_1']);
  });
});

describe('a client without a key', () => {
  it('makes calls that need no key, and rejects the others', async () => {
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch, { apiKey: null });
    await messaging.config.get();
    const { error } = await messaging.send(mail).safe();
    expect(error).toMatchObject({ code: 'KEY_NEEDED', outcome: 'not-sent' });
    expect(error?.message).toBe(
      'A client without an API key cannot call POST /v1/send. Create the client with a secret key.',
    );
    const account = await messaging.users.me().safe();
    expect(account.error?.message).toContain('Sign in with `auth.login()` or create the client');
    expect(bearers(requests)).toEqual([null]);
  });

  it('is enough for `config.get()`, which neither fetches nor sends a key', async () => {
    const apiKey = vi.fn(() => 'sk_test_1');
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch, { apiKey }).config.get();
    expect(apiKey).not.toHaveBeenCalled();
    expect(bearers(requests)).toEqual([null]);
  });
});

describe('a secret key in a browser', () => {
  const worker = { WorkerGlobalScope: vi.fn(), importScripts: vi.fn() };
  const stub = (globals: object) =>
    Object.entries(globals).forEach(([name, value]) => vi.stubGlobal(name, value));

  it.each<[string, object]>([
    ['a page', { window: { document: {} } }],
    ['a worker', { ...worker, process: undefined }],
    ['a worker with the `process` of a bundler', { ...worker, process: { versions: {} } }],
  ])('is rejected on %s; a public key is not', (_, globals) => {
    stub(globals);
    expect(refusalOf(() => messagingOver(fetch)).code).toBe('SECRET_KEY_IN_BROWSER');
    expect(refusalOf(() => mediaOver(fetch)).code).toBe('SECRET_KEY_IN_BROWSER');
    expect(() => messagingOver(fetch, { apiKey: 'pk_test_1' })).not.toThrow();
    expect(() => messagingOver(fetch, { dangerouslyAllowSecretKeyInBrowser: true })).not.toThrow();
  });

  it.each<[string, object]>([
    ['a test with half a window', { window: {} }],
    ['a worker of Node', worker],
    ['an edge worker', { ...worker, process: undefined, WebSocketPair: vi.fn() }],
    ['a worker of Deno', { ...worker, process: undefined, Deno: {} }],
  ])('is accepted in %s', (_, globals) => {
    stub(globals);
    expect(() => messagingOver(fetch)).not.toThrow();
  });

  it('is rejected before the network if a function returns it', async () => {
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch, { apiKey: () => 'sk_test_1' });
    stub({ window: { document: {} } });
    const { error } = await messaging.send(mail).safe();
    expect(error).toMatchObject({ code: 'SECRET_KEY_IN_BROWSER', outcome: 'not-sent' });
    expect(requests).toEqual([]);
  });

  it('is rejected with a hint for tests with jsdom or happy-dom', () => {
    stub({ window: { document: {} } });
    const { message } = refusalOf(() => new MessagingClient({ apiKey: 'sk_test_1', baseUrl }));
    expect(message).toContain(
      'In a test with jsdom or happy-dom use the environment "node", or set `dangerouslyAllowSecretKeyInBrowser`.',
    );
    expect(message).toContain('track events with a public key (pk_)');
  });
});

describe('over plain http', () => {
  const client = (url: string, more: MessagingOptions = {}) =>
    new MessagingClient({ apiKey: 'sk_test_1', baseUrl: url, ...more });

  it.each([
    'http://api.example.com',
    'http://10.0.0.5:8080',
    'http://0.0.0.0',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://[::2]',
  ])('a secret key is not sent to %s', (url) => {
    expect(refusalOf(() => client(url))).toMatchObject({ code: 'PLAIN_HTTP' });
    expect(() => client(url, { apiKey: 'pk_test_1' })).not.toThrow();
    expect(() => client(url, { dangerouslyAllowPlainHttp: true })).not.toThrow();
    const derive = () => client('https://api.example.com').with({ baseUrl: url });
    expect(refusalOf(derive)).toMatchObject({ code: 'PLAIN_HTTP' });
  });

  it.each([
    'http://localhost:3000',
    'http://127.250.9.1:1',
    'http://[::1]:80',
    'http://mail.localhost',
    'https://api.example.com',
  ])('a secret key is sent to %s', (url) => {
    expect(() => client(url)).not.toThrow();
  });
});

describe('a function for the key', () => {
  it('is not called before the first call, and then once for all calls', async () => {
    const apiKey = vi.fn(() => Promise.resolve('sk_test_1'));
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const messaging = messagingOver(fetch, { apiKey });
    expect(apiKey).not.toHaveBeenCalled();
    await Promise.all(Array.from({ length: 20 }, () => messaging.contacts.get('con_1')));
    await messaging.contacts.get('con_1');
    expect(apiKey).toHaveBeenCalledTimes(1);
    expect(new Set(bearers(requests))).toEqual(new Set(['Bearer sk_test_1']));
  });

  it('that fails makes the call fail unsent, with the cause, and is called again by the next call', async () => {
    const apiKey = vi.fn<() => Promise<string>>().mockResolvedValue('sk_test_1');
    apiKey.mockRejectedValueOnce(new Error('the vault is closed'));
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const messaging = messagingOver(fetch, { apiKey });
    const { error } = await messaging.contacts.get('con_1').safe();
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'API_KEY_UNAVAILABLE' });
    expect(error).toMatchObject({ outcome: 'not-sent', cause: { message: 'the vault is closed' } });
    expect(requests).toEqual([]);
    await expect(messaging.contacts.get('con_1')).resolves.toEqual({ id: 'con_1' });
  });

  it('that hangs makes the call fail after its `timeout`, and is called again by the next call', async () => {
    vi.useFakeTimers();
    const apiKey = vi.fn<() => Promise<string>>().mockResolvedValue('sk_test_1');
    apiKey.mockReturnValueOnce(new Promise(() => undefined));
    const { client, requests } = scripted([], { apiKey, timeout: 2_000 });
    const { error, tookMs } = await settledInTime(() => client.contacts.get('con_1'));
    expect(error).toMatchObject({ code: 'API_KEY_UNAVAILABLE', outcome: 'not-sent' });
    expect([tookMs, requests]).toEqual([2_000, []]);
    const second = await settledInTime(() => client.contacts.get('con_1'));
    expect(second).toMatchObject({ value: { id: 'con_1' } });
  });
});

describe('a key that the service rejects', () => {
  /** The end of a call whose key comes from a function, and the keys that were sent. */
  async function called(
    steps: Parameters<typeof scripted>[0],
    apiKey: (count: number) => string | Promise<string> = (count) => `sk_test_${count}`,
    options: MessagingOptions = {},
  ) {
    vi.useFakeTimers();
    let count = 0;
    const { client, requests } = scripted(steps, { apiKey: () => apiKey(++count), ...options });
    const { error } = await settledInTime(() => client.send(mail));
    return { error, sent: bearers(requests), asked: count };
  }

  it('is fetched once more, and the call is sent again, even a harmful one and with `retries: 0`', async () => {
    const end = await called([step.status(401)], undefined, { retries: 0 });
    expect(end).toEqual({
      error: undefined,
      sent: ['Bearer sk_test_1', 'Bearer sk_test_2'],
      asked: 2,
    });
  });

  it.each<[string, Parameters<typeof called>[0], number]>([
    ['twice in a row', [step.status(401), step.status(401)], 2],
    ['again after a retry', [step.status(401), step.refused, step.status(401)], 3],
  ])('%s stays rejected: a call renews the key once', async (_, steps, requests) => {
    const { error, sent, asked } = await called(steps);
    expect(error).toMatchObject({ name: 'AuthenticationError', outcome: 'rejected' });
    expect([sent.length, asked]).toEqual([requests, 2]);
  });

  it('is not sent again if it is the same one, or a string', async () => {
    for (const apiKey of ['sk_test_1', () => 'sk_test_1']) {
      const { client, requests } = scripted([step.status(401)], { apiKey });
      await expect(client.send(mail)).rejects.toMatchObject({ status: 401, outcome: 'rejected' });
      expect(requests).toHaveLength(1);
    }
  });

  it('is not renewed after a 403', async () => {
    const { error, asked } = await called([step.status(403)]);
    expect(error).toMatchObject({ status: 403 });
    expect(asked).toBe(1);
  });

  it.each<[string, (count: number) => string | Promise<string>, string]>([
    [
      'one that may do less',
      (count) => (count === 1 ? 'sk_test_1' : 'pk_test_1'),
      'SECRET_KEY_NEEDED',
    ],
    [
      'none, since the function fails',
      (count) => (count === 1 ? 'sk_test_1' : Promise.reject(new Error('closed'))),
      'API_KEY_UNAVAILABLE',
    ],
    [
      'none in time',
      (count) => (count === 1 ? 'sk_test_1' : new Promise(() => undefined)),
      'API_KEY_UNAVAILABLE',
    ],
  ])(
    'and replaced by %s makes the outcome rejected, because the service received the call',
    async (...given) => {
      const [, apiKey, code] = given;
      const { error, sent } = await called([step.status(401)], apiKey);
      expect(error).toMatchObject({ code, outcome: 'rejected' });
      expect(sent).toEqual(['Bearer sk_test_1']);
    },
  );

  it('is fetched once for all calls that were rejected together', async () => {
    const { fake, messaging } = faked();
    let current = 'sk_old_key';
    const apiKey = vi.fn(() => Promise.resolve(current));
    const client = messaging({ apiKey });
    await client.contacts.list().then(undefined, () => undefined);
    current = fake.secretKey;
    apiKey.mockClear();
    await Promise.all(Array.from({ length: 20 }, () => client.contacts.list().then(() => true)));
    expect(apiKey).toHaveBeenCalledTimes(1);
  });

  it('keeps its rate limit, and so does its successor', async () => {
    const { fake, messaging } = faked();
    const keys = ['sk_first_key', fake.secretKey]; // of no other test
    const rateLimit = { limit: 5, windowMs: 3_600_000 };
    const client = messaging({ apiKey: () => keys.shift() ?? '', rateLimit });
    await client.config.get(); // needs no key, so it names none
    await client.contacts.list();
    expect(client.rateLimit.state()?.used).toBe(2);
  });
});

describe('`projects.regenerateKeys()` with `swapKey`', () => {
  const regenerate = 'POST /users/@me/projects/{id}/regenerate-keys';

  it('makes this client and its derived clients use the new key', async () => {
    const { fake, messaging } = faked();
    const client = messaging({ rateLimit: { limit: 50, windowMs: 3_600_000 } });
    const derived = client.with({ timeout: 10_000 });
    const before = fake.secretKey;
    const keys = await client.projects.regenerateKeys(fake.project.id, { swapKey: true });
    expect(fake.secretKey).not.toBe(before);
    expect(keys['secretKey']).toBe(fake.secretKey);
    await client.contacts.list();
    await derived.contacts.list();
    expect(fake.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(client.rateLimit.state()?.used).toBe(3);
  });

  it('repeats the calls that were in flight with the old key', async () => {
    const { client, requests } = scripted([
      async () => {
        await client.projects.regenerateKeys('prj_1', { swapKey: true });
        return new Response(null, { status: 401 });
      },
      () => Response.json({ keys: [{ value: 'pk_new' }, { value: 'sk_new' }] }),
    ]);
    await client.contacts.get('con_1');
    expect(bearers(requests)).toEqual([
      'Bearer sk_test_key',
      'Bearer sk_test_key',
      'Bearer sk_new',
    ]);
  });

  it('is off by default, and does not change the key if the call fails', async () => {
    const { fake, messaging } = faked();
    const client = messaging();
    fake.fail(regenerate, { status: 403 });
    const failed = client.projects.regenerateKeys(fake.project.id, { swapKey: true });
    await expect(failed).rejects.toMatchObject({ status: 403 });
    await client.contacts.list();
    await client.projects.regenerateKeys(fake.project.id);
    await expect(client.contacts.list()).rejects.toMatchObject({ status: 401 });
  });

  it.each([
    ['the answer shows none', {}, 'No new key was found in the response'],
    ['it is the public one', { publicKey: 'pk_live_new' }, 'No new key was found in the response'],
    ['it is the old one', { secretKey: 'sk_test_key' }, 'No new key was found in the response'],
  ])('warns and keeps the old key if %s', async (_, answer, words) => {
    const { client, requests } = scripted([() => Response.json(answer)]);
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    await client.projects.regenerateKeys('prj_1', { swapKey: true });
    await client.contacts.get('con_1');
    expect(warnings).toEqual([expect.stringContaining(words)]);
    expect(bearers(requests)[1]).toBe('Bearer sk_test_key');
  });

  it('has no effect on a session, which has no key', async () => {
    const { fake, messaging } = faked();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    const warnings: unknown[] = [];
    client.on('warning', (warning) => warnings.push(warning));
    await client.projects.regenerateKeys(fake.project.id, { swapKey: true });
    await expect(client.users.me()).resolves.toBeDefined();
    expect(warnings).toEqual([]);
  });
});

it('a key is sent in one header and nowhere else', async () => {
  const apiKey = 'sk_live_4f9a8b7c6d5e';
  const { fetch, requests } = answering(() => ({ id: 'con_1' }));
  for (const Client of [MessagingClient, MediaClient]) {
    const client = new Client({ apiKey, baseUrl, fetch });
    await client.request('POST', '/x', { query: { a: 1 }, body: { plan: 'pro' } });
  }
  expect(requests).toHaveLength(2);
  for (const request of requests) {
    expect(request.url + (await request.clone().text())).not.toContain('4f9a8b7c6d5e');
    const carriers = [...request.headers].filter(([, value]) => value.includes(apiKey));
    expect(carriers).toEqual([['authorization', `Bearer ${apiKey}`]]);
  }
});
