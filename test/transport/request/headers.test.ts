import { describe, expect, it } from 'vitest';
import type { HeadersInput } from '../../../src/core/types.js';
import { answering, messagingOver } from '../../support/clients.js';

/** The headers that leave with a call of a client. */
async function sent(client: Record<string, string>, call: Record<string, string>) {
  const { fetch, requests } = answering(() => ({ id: 'con_1' }));
  const validation = { requests: 'off', responses: 'off' } as const;
  const messaging = messagingOver(fetch, { headers: client, validation });
  await messaging.contacts.update('con_1', { subscribed: true }, { headers: call });
  return requests[0]!.headers;
}

describe('the headers of a call', () => {
  it('go before those of its client, however they are spelt', async () => {
    const headers = await sent(
      { 'X-Team': 'cats', 'x-region': 'north' },
      { 'x-team': 'dogs', 'X-Trace': '1' },
    );
    expect(headers.get('x-team')).toBe('dogs');
    expect(headers.get('x-region')).toBe('north');
    expect(headers.get('x-trace')).toBe('1');
  });

  it.each(['authorization', 'Cookie', 'Content-Type'])(
    'never replace `%s`, nor do those of its client',
    async (name) => {
      const usual = await sent({}, {});
      const headers = await sent({ [name]: 'mine' }, { [name]: 'mine' });
      expect(headers.get(name)).toBe(usual.get(name));
    },
  );

  it('carry no key of their own where none is needed', async () => {
    const { fetch, requests } = answering(() => ({}));
    const headers = { Authorization: 'Bearer sk_other' };
    await messagingOver(fetch, { headers }).config.get({ headers });
    expect(requests[0]!.headers.get('authorization')).toBeNull();
  });
});

describe('headers as they may be given', () => {
  const send = async (headers: unknown) => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const call = messagingOver(fetch).contacts.get('con_1', { headers: headers as HeadersInput }); // any
    const failure: unknown = await call.then(
      () => undefined,
      (error: unknown) => error,
    );
    return { failure, sent: requests[0]?.headers };
  };

  it.each<[string, unknown]>([
    ['an object', { 'X-Trace': '1' }],
    ['a Headers', new Headers({ 'x-trace': '1' })],
    ['a Map', new Map([['X-Trace', '1']])],
    ['a list of pairs', [['x-trace', '1']]],
  ])('are sent from %s', async (_, headers) => {
    expect((await send(headers)).sent?.get('x-trace')).toBe('1');
  });

  it.each([undefined, null])('are left out where the value is %s', async (value) => {
    const { sent } = await send({ 'x-trace': value, 'x-team': 'cats' });
    expect(sent?.has('x-trace')).toBe(false);
    expect(sent?.get('x-team')).toBe('cats');
  });

  it.each<[string, unknown]>([
    ['connection', 'close'],
    ['Transfer-Encoding', 'chunked'],
    ['content-length', '3'],
    ['upgrade', 'h2c'],
    ['expect', '100-continue'],
    ['x-break', 'a\r\nb'],
    ['x y', 'z'],
    ['x-object', {}],
  ])('are refused by name before the network: %s', async (name, value) => {
    const { failure, sent } = await send({ [name]: value });
    expect(failure).toMatchObject({ code: 'INVALID_OPTION', outcome: 'not-sent' });
    expect(String(failure)).toContain(`\`headers.${name.toLowerCase()}\``);
    expect(sent).toBeUndefined();
  });
});

describe('the cookie of a session', () => {
  it('goes with the calls of the account, and with no others', async () => {
    const { fetch, requests } = answering(() =>
      Response.json({}, { headers: { 'set-cookie': 'session=abc; Path=/' } }),
    );
    const messaging = messagingOver(fetch);
    await messaging.auth.login({ email: 'ann@example.com', password: 'secret' });
    await messaging.users.me();
    await messaging.contacts.get('con_1');
    expect(requests.map(({ headers }) => headers.get('cookie'))).toEqual([
      null,
      'session=abc',
      null,
    ]);
  });
});

describe('a password', () => {
  const user = { email: 'ann@example.com', password: 'secret' };

  it('does not travel over plain http', async () => {
    const { fetch, requests } = answering(() => ({}));
    const open = messagingOver(fetch, { apiKey: null, baseUrl: 'http://messaging.test' });
    await expect(open.auth.login(user)).rejects.toMatchObject({
      code: 'PLAIN_HTTP',
      outcome: 'not-sent',
    });
    expect(requests).toEqual([]);
  });
});
