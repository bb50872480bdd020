import { afterEach, describe, expect, it, vi } from 'vitest';
import { messagingOver } from '../../support/clients.js';
import { serve } from '../../support/fake-server.js';

const ann = { email: 'ann@example.com', password: 'secret' };
const bob = { email: 'bob@example.com', password: 'secret' };

afterEach(() => {
  vi.unstubAllGlobals();
});

function clientOf(answer: (path: string, calls: number) => Response) {
  const requests: string[] = [];
  const client = messagingOver(
    (input, init) => {
      const path = new URL(new Request(input, init).url).pathname;
      requests.push(path);
      return Promise.resolve(answer(path, requests.length));
    },
    { apiKey: null, retries: 0 },
  );
  return { client, requests };
}

const signedIn = () =>
  Response.json({ id: 'usr_1' }, { headers: { 'Set-Cookie': 'session=abc; Path=/' } });

describe('a second sign-in on one client', () => {
  it('is refused, and the first session goes on', async () => {
    const { client, requests } = clientOf(signedIn);
    await client.auth.login(ann);
    const { error } = await client.auth.login(bob).safe();
    expect(error).toMatchObject({ code: 'SESSION_IN_USE', outcome: 'not-sent' });
    await client.users.me();
    expect(requests).toEqual(['/auth/login', '/users/@me']);
  });

  it('is refused while the first is under way, and on clients made of it', async () => {
    const { client, requests } = clientOf(signedIn);
    const [first, second, third] = await Promise.all([
      client.auth.login(ann).safe(),
      client.auth.login(bob).safe(),
      client.with({ timeout: 5_000 }).auth.signup(bob).safe(),
    ]);
    expect([first.error, second.error?.code, third.error?.code]).toEqual([
      undefined,
      'SESSION_IN_USE',
      'SESSION_IN_USE',
    ]);
    expect(requests).toEqual(['/auth/login']);
  });

  it('is taken after logout(), also where the session had expired', async () => {
    const { client } = clientOf((path, calls) =>
      path === '/auth/logout' && calls === 2 ? new Response(null, { status: 401 }) : signedIn(),
    );
    await client.auth.login(ann);
    await client.auth.logout().safe();
    await client.auth.login(bob);
    await client.auth.logout();
    await expect(client.auth.login(ann)).resolves.toBeDefined();
  });

  it('is taken when the first failed, or opened no session', async () => {
    const { client } = clientOf((_path, calls) =>
      calls === 1 ? new Response(null, { status: 401 }) : Response.json({ id: 'usr_1' }),
    );
    await client.auth.login(ann).safe();
    await client.auth.signup(ann);
    await expect(client.auth.login(ann)).resolves.toBeDefined();
  });

  it('is taken in a browser, which has one person and keeps the session itself', async () => {
    vi.stubGlobal('window', { document: {} });
    const { client } = clientOf(signedIn);
    await client.auth.login(ann);
    await expect(client.auth.login(bob)).resolves.toBeDefined();
  });
});

it('a client for each person keeps their sessions apart, on real HTTP', async () => {
  const { messaging, fake } = await serve();
  const first = messaging({ apiKey: null });
  await first.auth.login(fake.owner);
  await messaging({ apiKey: null }).auth.login(fake.owner);
  await expect(first.users.me()).resolves.toMatchObject({ email: fake.owner.email });
});
