import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { serve } from '../../support/fake-server.js';

const credentials = { email: 'ann@example.com', password: 'secret' };

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('a session on Node', () => {
  it('opens the account of who signed in, on real HTTP', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    await expect(client.users.me()).resolves.toMatchObject({ email: fake.owner.email });
    const projects = await client.projects.list();
    expect(projects.items).toHaveLength(1);
  });

  it('is over after logout, for the service and for the client', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    await client.auth.logout();
    await expect(client.users.me()).rejects.toMatchObject({
      code: 'KEY_NEEDED',
      outcome: 'not-sent',
    });
    expect(fake.world.sessions.size).toBe(0);
  });

  it('is kept by clients that were made of this one, and by no other', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    await expect(client.with({ timeout: 5_000 }).users.me()).resolves.toBeDefined();
    await expect(messaging({ apiKey: null }).users.me()).rejects.toMatchObject({
      code: 'KEY_NEEDED',
    });
  });

  it('does not open what needs a key', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    const before = fake.requests.length;
    await expect(client.contacts.list()).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'KEY_NEEDED',
    });
    expect(fake.requests).toHaveLength(before);
  });
});

describe('the cookie', () => {
  it('travels with account routes only', async () => {
    const { fetch, requests } = answering(signedIn('session=abc; Path=/; HttpOnly'));
    const messaging = messagingOver(fetch);
    await messaging.auth.login(credentials);
    await messaging.users.me();
    await messaging.projects.members.list('prj_1');
    await messaging.contacts.list();
    await messaging.config.get();
    await messaging.events.names();
    await messaging.request('GET', '/users/@me');
    expect(requests.map(({ headers }) => headers.get('cookie'))).toEqual([
      null,
      'session=abc',
      'session=abc',
      null,
      null,
      null,
      null,
    ]);
  });

  it('does not travel to another address', async () => {
    const { fetch, requests } = answering(signedIn('session=abc'));
    const messaging = messagingOver(fetch, { apiKey: null });
    await messaging.auth.login(credentials);
    const elsewhere = messaging.with({ baseUrl: 'https://elsewhere.test' });
    await expect(elsewhere.users.me()).rejects.toMatchObject({ code: 'KEY_NEEDED' });
    await elsewhere.auth.oauthConfig();
    expect(requests.at(-1)?.headers.get('cookie')).toBeNull();
  });

  it.each([
    ['a new value', 'session=new', 'session=new'],
    ['an age of nothing', 'session=abc; Max-Age=0', null],
    ['a date that is over', 'session=abc; Expires=Thu, 01 Jan 1970 00:00:00 GMT', null],
    ['no value', 'session=', null],
    ['a date to come', 'session=abc; Expires=Fri, 01 Jan 2999 00:00:00 GMT', 'session=abc'],
    ['nothing that is a cookie', '=abc; Path=/', 'session=abc'],
  ])('follows %s', async (_, line, expected) => {
    let answer = signedIn('session=abc');
    const { fetch, requests } = answering((request) => answer(request));
    const messaging = messagingOver(fetch);
    await messaging.auth.login(credentials);
    answer = signedIn(line);
    await messaging.users.me();
    await messaging.users.me();
    expect(requests.at(-1)?.headers.get('cookie')).toBe(expected);
  });

  it('may be several', async () => {
    const headers = new Headers();
    headers.append('set-cookie', 'a=1; Path=/');
    headers.append('set-cookie', 'b=2');
    const { fetch, requests } = answering(() => Response.json({}, { headers }));
    const messaging = messagingOver(fetch);
    await messaging.auth.login(credentials);
    await messaging.users.me();
    expect(requests[1]?.headers.get('cookie')).toBe('a=1; b=2');
  });

  it('is not taken from answers of other routes', async () => {
    const { fetch, requests } = answering(signedIn('tracking=1'));
    const messaging = messagingOver(fetch);
    await messaging.contacts.list();
    await messaging.users.me();
    expect(requests[1]?.headers.get('cookie')).toBeNull();
  });
});

it('in a browser the cookie is left to the browser, on account routes only', async () => {
  const modes: unknown[] = [];
  const messaging = messagingOver(
    (input, init) => {
      modes.push(new Request(input, init).credentials);
      return Promise.resolve(Response.json({}));
    },
    { apiKey: null },
  );
  vi.stubGlobal('window', { document: {} });
  await messaging.auth.login(credentials);
  await messaging.users.me();
  await messaging.config.get();
  expect(modes).toEqual(['include', 'include', 'same-origin']);
});

function signedIn(cookie: string): (request: Request) => Response {
  return () => Response.json({ success: true }, { headers: { 'set-cookie': cookie } });
}

describe('a session that others could read', () => {
  it('is refused over plain http, and so is a password', async () => {
    const { fetch, requests } = answering(() => ({}));
    const client = messagingOver(fetch, { apiKey: null, baseUrl: 'http://api.example.com' });
    await expect(client.auth.login(credentials)).rejects.toMatchObject({
      code: 'PLAIN_HTTP',
      outcome: 'not-sent',
    });
    await expect(client.request('POST', '/auth/login', { body: {} })).rejects.toMatchObject({
      code: 'PLAIN_HTTP',
    });
    expect(requests).toEqual([]);
    const trusting = client.with({ apiKey: null, dangerouslyAllowPlainHttp: true });
    await trusting.auth.login(credentials).catch(() => undefined);
  });

  it('is not in the cause of an error', async () => {
    let count = 0;
    const client = messagingOver(
      (_input, init) => {
        if (count++ === 0) {
          return Promise.resolve(
            Response.json({ success: true }, { headers: { 'set-cookie': 'id=cookie_secret_1' } }),
          );
        }
        const fault = Object.assign(new TypeError('fetch failed'), {
          headers: JSON.stringify(init?.headers),
        });
        return Promise.reject(fault);
      },
      { apiKey: null, retries: 0 },
    );
    await client.auth.login(credentials);
    const { error } = await client.users.me().safe();
    expect(error?.code).toBe('CONNECTION_LOST');
    expect(inspect(error, { depth: 9 })).not.toContain('cookie_secret_1');
  });

  it('needs no `getSetCookie` of the runtime', async () => {
    const { fetch } = answering(() => {
      const response = Response.json({ id: 'prj_1' });
      Object.defineProperty(response.headers, 'getSetCookie', { value: undefined });
      return response;
    });
    const client = messagingOver(fetch, { apiKey: null });
    await expect(client.auth.login(credentials)).resolves.toBeDefined();
  });
});
