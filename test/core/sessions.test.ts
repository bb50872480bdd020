import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { faked } from '../support/faked.js';

const ann = { email: 'ann@example.com', password: 'secret' };
const bob = { email: 'bob@example.com', password: 'secret' };
const keyNeeded = { code: 'KEY_NEEDED', outcome: 'not-sent' };

afterEach(() => {
  vi.unstubAllGlobals();
});

/** A service that opens a session with each answer. */
function signingIn(cookie = 'session=abc; Path=/; HttpOnly') {
  const answer = {
    current: () => Response.json({ id: 'usr_1' }, { headers: { 'set-cookie': cookie } }),
  };
  const { fetch, requests } = answering(() => answer.current());
  const client = messagingOver(fetch, { apiKey: null, retries: 0 });
  const paths = () => requests.map(({ url }) => new URL(url).pathname);
  const cookies = () => requests.map(({ headers }) => headers.get('cookie'));
  return { client, fetch, answer, paths, cookies };
}

describe('a session on a server', () => {
  it('opens the account of the signed-in user, and nothing that needs a key', async () => {
    const { fake, messaging } = faked();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    await expect(client.users.me()).resolves.toMatchObject({ email: fake.owner.email });
    expect((await client.projects.list()).items).toHaveLength(1);
    const before = fake.requests.length;
    await expect(client.contacts.list()).rejects.toMatchObject(keyNeeded);
    expect(fake.requests).toHaveLength(before);
  });

  it('is over after logout, for the service and for the client', async () => {
    const { fake, messaging } = faked();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    await client.auth.logout();
    await expect(client.users.me()).rejects.toMatchObject(keyNeeded);
    expect(fake.world.sessions.size).toBe(0);
  });

  it('is shared with derived clients, and with no other', async () => {
    const { fake, messaging } = faked();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    await expect(client.with({ timeout: 5_000 }).users.me()).resolves.toBeDefined();
    const other = messaging({ apiKey: null });
    await expect(other.users.me()).rejects.toMatchObject(keyNeeded);
    await other.auth.login(fake.owner);
    await expect(client.users.me()).resolves.toMatchObject({ email: fake.owner.email });
  });
});

describe('the cookie', () => {
  it('is sent with the calls of the account only', async () => {
    const { fetch, requests } = answering(() =>
      Response.json({}, { headers: { 'set-cookie': 'session=abc; Path=/' } }),
    );
    const messaging = messagingOver(fetch);
    await messaging.auth.login(ann);
    await messaging.users.me();
    await messaging.projects.members.list('prj_1');
    await messaging.contacts.list();
    await messaging.config.get();
    await messaging.request('GET', '/users/@me');
    expect(requests.map(({ headers }) => headers.get('cookie'))).toEqual([
      ...[null, 'session=abc', 'session=abc'],
      ...[null, null, null],
    ]);
  });

  it('is not sent to another address', async () => {
    const { client, cookies } = signingIn();
    await client.auth.login(ann);
    const elsewhere = client.with({ baseUrl: 'https://elsewhere.test' });
    await expect(elsewhere.users.me()).rejects.toMatchObject(keyNeeded);
    await elsewhere.auth.oauthConfig();
    expect(cookies()).toEqual([null, null]);
  });

  it('is not read from responses to other calls', async () => {
    const { fetch, requests } = answering(() =>
      Response.json({ data: [] }, { headers: { 'set-cookie': 'tracking=1' } }),
    );
    const messaging = messagingOver(fetch);
    await messaging.contacts.list();
    await messaging.users.me();
    expect(requests[1]?.headers.get('cookie')).toBeNull();
  });

  it.each([
    ['a new value', 'session=new', 'session=new'],
    ['an age of nothing', 'session=abc; Max-Age=0', null],
    ['a date that is over', 'session=abc; Expires=Thu, 01 Jan 1970 00:00:00 GMT', null],
    ['a date to come', 'session=abc; Expires=Fri, 01 Jan 2999 00:00:00 GMT', 'session=abc'],
    [
      'its age before its date',
      'session=abc; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
      'session=abc',
    ],
    ['no value', 'session=', null],
    ['another one beside it', 'other = b=c ; HttpOnly', 'session=abc; other=b=c'],
    ['nothing that is a cookie', '=abc; Path=/', 'session=abc'],
  ])('follows %s', async (_, line, expected) => {
    const { fetch, answer, cookies } = signingIn('session=abc');
    const client = messagingOver(fetch);
    await client.auth.login(ann);
    answer.current = () => Response.json({}, { headers: { 'set-cookie': line } });
    await client.users.me();
    await client.users.me();
    expect(cookies().at(-1)).toBe(expected);
  });

  it('is not in the cause of an error', async () => {
    const { client, answer } = signingIn('id=cookie_secret_1');
    await client.auth.login(ann);
    answer.current = () => {
      throw new TypeError('cannot send id=cookie_secret_1');
    };
    const { error } = await client.users.me().safe();
    expect(error?.code).toBe('CONNECTION_LOST');
    expect(inspect(error, { depth: 9 })).not.toContain('cookie_secret_1');
  });
});

it('in a browser the cookie is left to the browser, on the calls of the account only', async () => {
  const { fetch, requests } = answering(() => {
    const response = Response.json({});
    Object.defineProperty(response.headers, 'getSetCookie', { value: undefined }); // not in all of them
    return response;
  });
  const messaging = messagingOver(fetch, { apiKey: null });
  vi.stubGlobal('window', { document: {} });
  await messaging.auth.login(ann);
  await messaging.users.me();
  await messaging.config.get();
  const modes = requests.map(({ credentials }) => credentials);
  expect(modes).toEqual(['include', 'include', 'same-origin']);
});

it('a password and a session are not sent over plain http', async () => {
  const { fetch, requests } = answering(() => ({}));
  const open = messagingOver(fetch, { apiKey: null, baseUrl: 'http://messaging.test' });
  const refused = { code: 'PLAIN_HTTP', outcome: 'not-sent' };
  await expect(open.auth.login(ann)).rejects.toMatchObject(refused);
  await expect(open.request('POST', '/auth/login', { body: {} })).rejects.toMatchObject(refused);
  expect(requests).toEqual([]);
  await open.with({ dangerouslyAllowPlainHttp: true }).auth.login(ann);
  expect(requests).toHaveLength(1);
});

describe('a second sign-in on one client', () => {
  const inUse = { code: 'SESSION_IN_USE', outcome: 'not-sent' };

  it('is rejected, and the first session continues', async () => {
    const { client, paths } = signingIn();
    await client.auth.login(ann);
    await expect(client.auth.login(bob)).rejects.toMatchObject(inUse);
    await client.users.me();
    expect(paths()).toEqual(['/auth/login', '/users/@me']);
  });

  it('is rejected while the first is running, also on derived clients', async () => {
    const { client, paths } = signingIn();
    const [first, second, third] = await Promise.all([
      client.auth.login(ann).safe(),
      client.auth.login(bob).safe(),
      client.with({ timeout: 5_000 }).auth.signup(bob).safe(),
    ]);
    expect([first.error, second.error?.code, third.error?.code]).toEqual([
      undefined,
      ...[inUse.code, inUse.code],
    ]);
    expect(paths()).toEqual(['/auth/login']);
  });

  it('is accepted after logout(), also if the session had expired', async () => {
    const { client, answer } = signingIn();
    await client.auth.login(ann);
    const signedIn = answer.current;
    answer.current = () => new Response(null, { status: 401 });
    await client.auth.logout().safe();
    answer.current = signedIn;
    await client.auth.login(bob);
    await client.auth.logout();
    await expect(client.auth.login(ann)).resolves.toBeDefined();
  });

  it('is accepted if the first failed, or opened no session', async () => {
    const { client, answer } = signingIn();
    answer.current = () => new Response(null, { status: 401 });
    await client.auth.login(ann).safe();
    answer.current = () => Response.json({ id: 'usr_1' });
    await client.auth.signup(ann);
    await expect(client.auth.login(ann)).resolves.toBeDefined();
  });

  it('is accepted in a browser, which has one user and keeps the session itself', async () => {
    vi.stubGlobal('window', { document: {} });
    const { client } = signingIn();
    await client.auth.login(ann);
    await expect(client.auth.login(bob)).resolves.toBeDefined();
  });
});
