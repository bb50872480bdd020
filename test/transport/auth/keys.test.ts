import { ConfigurationError, MediaClient, MessagingClient, type MessagingOptions } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, mediaOver, messagingOver } from '../../support/clients.js';

const baseUrl = 'https://messaging.test';
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const event = { email: 'ann@example.com', event: 'signed_up' };

afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

describe('the form of a key', () => {
  it.each([
    ['of another service', 'key_live_12345'],
    ['that is empty', ''],
    ['with a space before it', ' sk_live_12345'],
    ['with a line break after it', 'sk_live_12345\n'],
    ['with a tab inside', 'sk_live\t12345'],
    ['with a letter that no header can carry', 'sk_live_ключ'],
    ['with an invisible character', 'sk_live_12345\u200b'],
    ['that is no text', 42 as unknown as string],
  ])('of the messaging service is refused: one %s', (_, apiKey) => {
    const failure = thrownBy(() => new MessagingClient({ apiKey, baseUrl }));
    expect(failure).toBeInstanceOf(ConfigurationError);
    expect(failure).toMatchObject({ code: 'INVALID_API_KEY', outcome: 'not-sent' });
    if (apiKey !== '') {
      expect(String(failure)).not.toContain(apiKey);
    }
  });

  it('of the media service is any text without white space', () => {
    expect(() => new MediaClient({ apiKey: 'anything-goes', baseUrl })).not.toThrow();
    expect(() => new MediaClient({ apiKey: 'any thing', baseUrl })).toThrow(ConfigurationError);
  });

  it('of the media service may begin like a public key of the other one', async () => {
    const { fetch } = answering(() => ({ fileId: 'file_1', status: 'queued' }));
    const media = mediaOver(fetch, { apiKey: 'pk_media_1' });
    await expect(media.generate.status({ fileId: 'file_1' })).resolves.toBeDefined();
  });

  it('is checked when a function hands it out, too', async () => {
    const { fetch, requests } = answering(() => ({}));
    const call = messagingOver(fetch, { apiKey: () => 'sk_live\n' }).send(mail);
    await expect(call).rejects.toMatchObject({ code: 'INVALID_API_KEY', outcome: 'not-sent' });
    expect(requests).toEqual([]);
  });

  it('is taken from the environment when none is given', async () => {
    vi.stubEnv('MESSAGING_API_KEY', 'sk_from_env');
    vi.stubEnv('MESSAGING_BASE_URL', 'https://env.test');
    const { fetch, requests } = answering(() => ({ items: [] }));
    await new MessagingClient({ fetch }).contacts.list();
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk_from_env');
    expect(requests[0]?.url).toContain('https://env.test/');
  });

  it('is asked for when there is none at all', () => {
    vi.stubEnv('MESSAGING_API_KEY', '');
    expect(thrownBy(() => new MessagingClient({ baseUrl }))).toMatchObject({
      code: 'API_KEY_MISSING',
    });
  });
});

describe('a public key', () => {
  it('tracks events', async () => {
    const { fetch, requests } = answering(() => ({ success: true, data: {} }));
    await messagingOver(fetch, { apiKey: 'pk_test_1' }).track(event);
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer pk_test_1');
  });

  it('does nothing else, and no request leaves', async () => {
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch, { apiKey: 'pk_test_1' });
    const refused = { name: 'ConfigurationError', code: 'SECRET_KEY_NEEDED', outcome: 'not-sent' };
    await expect(messaging.send(mail)).rejects.toMatchObject(refused);
    await expect(messaging.contacts.list()).rejects.toMatchObject(refused);
    await expect(messaging.events.track(event)).rejects.toMatchObject(refused);
    await expect(messaging.users.me()).rejects.toMatchObject(refused);
    await expect(messaging.request('GET', '/contacts')).rejects.toMatchObject(refused);
    expect(requests).toEqual([]);
  });
});

describe('in a browser', () => {
  const browsers: [string, Record<string, unknown>][] = [
    ['page', { window: { document: {} } }],
    ['worker', { WorkerGlobalScope: vi.fn(), importScripts: vi.fn(), process: undefined }],
  ];

  it.each(browsers)('a secret key is refused on a %s', (_, globals) => {
    for (const [name, value] of Object.entries(globals)) {
      vi.stubGlobal(name, value);
    }
    expect(thrownBy(() => messagingOver(fetch))).toMatchObject({ code: 'SECRET_KEY_IN_BROWSER' });
    expect(thrownBy(() => mediaOver(fetch))).toMatchObject({ code: 'SECRET_KEY_IN_BROWSER' });
    expect(() => messagingOver(fetch, { apiKey: 'pk_test_1' })).not.toThrow();
    expect(() => messagingOver(fetch, { dangerouslyAllowSecretKeyInBrowser: true })).not.toThrow();
  });

  it('a secret key of a function is refused before the network', async () => {
    const { fetch: spy, requests } = answering(() => ({}));
    const messaging = messagingOver(spy, { apiKey: () => 'sk_test_1' });
    vi.stubGlobal('window', { document: {} });
    await expect(messaging.send(mail)).rejects.toMatchObject({ code: 'SECRET_KEY_IN_BROWSER' });
    expect(requests).toEqual([]);
  });

  it.each([
    ['an edge worker', { WebSocketPair: vi.fn(), process: undefined }],
    ['Deno', { Deno: {}, process: undefined }],
  ])('%s is none', (_, globals) => {
    vi.stubGlobal('WorkerGlobalScope', vi.fn());
    vi.stubGlobal('importScripts', vi.fn());
    for (const [name, value] of Object.entries(globals)) {
      vi.stubGlobal(name, value);
    }
    expect(() => messagingOver(fetch)).not.toThrow();
  });
});

describe('over plain http', () => {
  const client = (url: string, more: MessagingOptions = {}) =>
    new MessagingClient({ apiKey: 'sk_test_1', baseUrl: url, ...more });

  it.each([
    'http://api.example.com',
    'http://10.0.0.5:8080',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://[::2]',
  ])('a secret key does not travel to %s', (url) => {
    expect(thrownBy(() => client(url))).toMatchObject({ code: 'PLAIN_HTTP' });
  });

  it.each([
    'http://localhost:3000',
    'http://127.0.0.1',
    'http://127.8.9.1:1',
    'http://[::1]:80',
    'http://mail.localhost',
    'https://api.example.com',
  ])('it does to %s', (url) => {
    expect(() => client(url)).not.toThrow();
  });

  it('it travels where that is allowed by name, and a public key everywhere', () => {
    const url = 'http://gateway.internal';
    expect(() => client(url, { dangerouslyAllowPlainHttp: true })).not.toThrow();
    expect(() => client(url, { apiKey: 'pk_test_1' })).not.toThrow();
  });

  it('a derived client cannot take the key there either', () => {
    const messaging = client('https://api.example.com');
    const failure = thrownBy(() => messaging.with({ baseUrl: 'http://api.example.com' }));
    expect(failure).toMatchObject({ code: 'PLAIN_HTTP' });
  });
});

describe('headers of the caller', () => {
  it('cannot replace the key, the content type or the session', async () => {
    const { fetch, requests } = answering(() => ({ items: [] }));
    const headers = { Authorization: 'Bearer other', 'Content-Type': 'text/plain', COOKIE: 'a=b' };
    await messagingOver(fetch, { headers }).contacts.list(undefined, {
      headers: { ...headers, 'X-Trace': '1' },
    });
    expect(Object.fromEntries(requests[0]?.headers ?? [])).toMatchObject({
      authorization: 'Bearer sk_test_key',
      'x-trace': '1',
    });
    expect(requests[0]?.headers.get('cookie')).toBeNull();
    expect(requests[0]?.headers.get('content-type')).toBeNull();
  });

  it.each([
    ['x-name', 'Zoë ❤'],
    ['x-two', 'a\r\nb'],
    ['not a name', 'a fine value'],
  ])('that cannot be sent are refused by name: %s', async (name, value) => {
    const { fetch, requests } = answering(() => ({ items: [] }));
    const call = messagingOver(fetch).contacts.list(undefined, { headers: { [name]: value } });
    await expect(call).rejects.toMatchObject({
      name: 'ConfigurationError',
      outcome: 'not-sent',
      message: expect.stringContaining(`\`headers.${name}\``) as string,
    });
    await expect(call).rejects.not.toThrow(value);
    expect(requests).toEqual([]);
  });
});

function thrownBy(task: () => unknown): unknown {
  try {
    task();
  } catch (error) {
    return error;
  }
  return undefined;
}
