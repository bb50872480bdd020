import { ConfigurationError, MediaClient, MessagingClient, type HeadersInput } from 'postreel';
import { describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

describe('a base address', () => {
  it.each([
    ['https://api.test', 'https://api.test'],
    ['https://api.test/', 'https://api.test'],
    ['https://api.test/base//', 'https://api.test/base'],
    ['HTTPS://API.test:8080/Base', 'https://api.test:8080/Base'],
  ])('%s is %s', async (baseUrl, expected) => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    await messagingOver(fetch, { baseUrl }).contacts.get('con_1');
    expect(requests[0]?.url).toBe(`${expected}/contacts/con_1`);
  });

  it.each([
    ['api.test', 'is not an absolute address'],
    ['', 'is not an absolute address'],
    ['ftp://api.test', 'must start with https:// or http://'],
    ['https://ann@api.test', 'must not hold credentials'],
    ['https://:pass@api.test', 'must not hold credentials'],
    ['https://api.test?a=1', 'must not hold credentials'],
    ['https://api.test#a', 'must not hold credentials'],
  ])('%j is rejected', (baseUrl, words) => {
    const make = () => new MessagingClient({ apiKey: 'sk_1', baseUrl });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(words);
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_BASE_URL' }) as Error);
  });

  it('that is invalid is named by the option or variable that set it', async () => {
    const said = 'is not an absolute address';
    const apiKey = 'sk_1';
    expect(() => new MessagingClient({ apiKey, baseUrl: 'x' })).toThrow(`\`baseUrl\` ${said}`);
    vi.stubEnv('MESSAGING_BASE_URL', 'x');
    expect(() => new MessagingClient({ apiKey })).toThrow(`MESSAGING_BASE_URL ${said}`);
    const media = { apiKey, baseUrl: 'https://media.test' };
    expect(() => new MediaClient({ ...media, appUrl: 'x' })).toThrow(`\`appUrl\` ${said}`);
    vi.stubEnv('MESSAGING_BASE_URL', 'https://api.test/v1');
    const fetch = () => Promise.resolve(Response.json({ error: 'x' }, { status: 404 }));
    const messaging = new MessagingClient({ apiKey, fetch, rateLimit: false });
    await expect(messaging.verify({ email: 'ann@example.com' })).rejects.toThrow(
      'MESSAGING_BASE_URL ends in `/v1`',
    );
    vi.unstubAllEnvs();
  });
});

describe('an id in a path', () => {
  const get = async (id: unknown) => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const { error } = await messagingOver(fetch)
      .contacts.get(id as string)
      .safe();
    return { error, url: requests[0]?.url };
  };

  it.each([
    ['data.plan', '/contacts/data.plan'],
    ['order/paid 50%', '/contacts/order%2Fpaid%2050%25'],
    ['a?b#c', '/contacts/a%3Fb%23c'],
    ['...', '/contacts/...'],
  ])('%s is one segment', async (id, path) => {
    expect((await get(id)).url).toBe(`https://messaging.test${path}`);
  });

  it.each([
    ['', 'must not be empty'],
    ['.', 'must not be "."'],
    ['..', 'must not be ".."'],
    ['\ud800', 'contains an unpaired surrogate'],
    [undefined, 'must be a string; got undefined'],
    [null, 'must be a string; got null'],
    [{}, 'must be a string; got an object'],
    [{ id: 'con_1' }, 'must be a string; got an object: pass its `id`'],
    [Promise.resolve('con_1'), 'must be a string; got a promise: `await` it first'],
    [7, 'must be a string; got a number'],
  ])('%j is rejected before the network', async (id, message) => {
    const { error, url } = await get(id);
    expect(error).toMatchObject({ outcome: 'not-sent', fieldErrors: [{ field: 'id', message }] });
    expect(url).toBeUndefined();
  });
});

describe('a query', () => {
  const asked = async (query: object | undefined) => {
    const { fetch, requests } = answering(() => ({}));
    const { error } = await messagingOver(fetch)
      .request('GET', '/x', { query: query as Record<string, unknown> })
      .safe();
    return { error, search: requests[0] && new URL(requests[0].url).search };
  };

  it.each([
    [undefined, ''],
    [{ a: undefined, b: null }, ''],
    [{ search: 'a b&c' }, '?search=a+b%26c'],
    [{ limit: 10, deep: true }, '?limit=10&deep=true'],
    [{ tag: ['a', undefined, 'b'] }, '?tag=a&tag=b'],
    [{ since: new Date(0) }, '?since=1970-01-01T00%3A00%3A00.000Z'],
  ])('%j becomes %s', async (query, search) => {
    expect((await asked(query)).search).toBe(search);
  });

  it.each([
    [new Date(Number.NaN), 'is not a date'],
    [{ signal: 1 }, 'must be a string, a number, a boolean or a date'],
    [Number.NaN, 'must be a number; got NaN'],
  ])('with %s is rejected', async (value, message) => {
    const { error, search } = await asked({ value });
    expect(error?.fieldErrors).toEqual([{ field: 'value', message }]);
    expect(search).toBeUndefined();
  });
});

describe('headers', () => {
  /** The headers that a call sends, or the error that it rejects with. */
  async function sent(ofClient: unknown, ofCall: unknown) {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const messaging = messagingOver(fetch, { headers: ofClient as HeadersInput });
    const { error } = await messaging.contacts
      .update('con_1', { subscribed: true }, { headers: ofCall as HeadersInput })
      .safe();
    return { error, headers: requests[0]?.headers };
  }

  it('of a call replace those of its client, in any case', async () => {
    const { headers } = await sent(
      { 'X-Team': 'cats', 'x-region': 'north' },
      { 'x-team': 'dogs', 'X-Trace': '1' },
    );
    const named = ['x-team', 'x-region', 'x-trace'].map((name) => headers?.get(name));
    expect(named).toEqual(['dogs', 'north', '1']);
  });

  it.each<[string, unknown]>([
    ['an object', { 'X-Trace': '1' }],
    ['a Headers', new Headers({ 'x-trace': '1' })],
    ['a Map', new Map([['X-Trace', '1']])],
    ['a list of pairs', [['x-trace', '1']]],
  ])('can be given as %s', async (_, given) => {
    expect((await sent({}, given)).headers?.get('x-trace')).toBe('1');
  });

  it.each([undefined, null])('are left out if the value is %s', async (value) => {
    const { headers } = await sent({}, { 'x-trace': value, 'x-team': 'cats' });
    expect([headers?.has('x-trace'), headers?.get('x-team')]).toEqual([false, 'cats']);
  });

  it.each(['authorization', 'Cookie', 'Content-Type'])('never replace `%s`', async (name) => {
    const usual = await sent({}, {});
    const { headers } = await sent({ [name]: 'mine' }, { [name]: 'mine' });
    expect(headers?.get(name)).toBe(usual.headers?.get(name));
  });

  it('contain no key if the call needs none', async () => {
    const { fetch, requests } = answering(() => ({}));
    const headers = { Authorization: 'Bearer sk_other' };
    await messagingOver(fetch, { headers }).config.get({ headers });
    expect(requests[0]?.headers.get('authorization')).toBeNull();
  });

  it.each<[string, unknown]>([
    ['connection', 'close'],
    ['Transfer-Encoding', 'chunked'],
    ['content-length', '3'],
    ['upgrade', 'h2c'],
    ['expect', '100-continue'],
    ['x-break', 'a\r\nb'],
    ['x-name', 'Zoë ❤'],
    ['x y', 'a fine value'],
    ['x-object', {}],
  ])('that cannot be sent are rejected by name, before the network: %s', async (name, value) => {
    const { error, headers } = await sent({}, { [name]: value });
    expect(error).toMatchObject({ code: 'INVALID_OPTION', outcome: 'not-sent' });
    expect(error?.message).toContain(`\`headers.${name.toLowerCase()}\``);
    expect(error?.message).not.toContain(String(value));
    expect(headers).toBeUndefined();
  });
});
