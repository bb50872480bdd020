import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const credentials = { email: 'ann@example.com', password: 'correct horse' };
const offline = messagingOver(() => {
  throw new Error('must not reach the network');
});

describe('auth rejects before a request', () => {
  it.each([
    ['login', { email: 'ann', password: 'x' }, 'email', 'must be an email address'],
    ['verifyEmail', { token: 7 }, 'token', 'must be a string; got 7'],
    ['requestVerification', { email: 'ann' }, 'email', 'must be an email address'],
    ['requestPasswordReset', { email: 'ann' }, 'email', 'must be an email address'],
    ['resetPassword', { token: 't', password: null }, 'password', 'must be a string; got null'],
  ] as const)('%s with %o', async (method, body, field, message) => {
    const call = offline.auth[method](body as never); // wrong on purpose
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field, message }],
    });
  });

  it.each([
    ['login', { username: 'ann', password: 'x' }],
    ['verifyEmail', { code: '123' }],
    ['resetPassword', { code: '123', newPassword: 'x' }],
  ] as const)('does not reject %s with other field names: %o', async (method, body) => {
    const { fetch, requests } = answering(() => ({ success: true }));
    await messagingOver(fetch, { apiKey: null }).auth[method](body);
    await expect(requests[0]?.json()).resolves.toEqual(body);
  });

  it('never shows the password in an error', async () => {
    const body = { email: 'ann@example.com', password: ['correct horse'] };
    const failure: unknown = await offline.auth
      .login(body as never)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ fieldErrors: [{ message: 'must be a string; got 1 items' }] });
    expect(JSON.stringify(failure) + String(failure)).not.toContain('correct horse');
  });
});

describe('a session', () => {
  it('needs no key, is used for account calls, and ends with logout', async () => {
    const { fetch, requests } = answering(({ url }) =>
      url.endsWith('/auth/login') ? signedIn() : { id: 'usr_1' },
    );
    const messaging = messagingOver(fetch, { apiKey: null });
    await messaging.auth.login(credentials);
    await messaging.users.me();
    await messaging.auth.logout();
    expect(requests.map((request) => request.headers.get('authorization'))).toEqual([
      null,
      null,
      null,
    ]);
    expect(requests.map((request) => request.headers.get('cookie'))).toEqual([
      null,
      'token=abc',
      'token=abc',
    ]);
    await expect(messaging.users.me()).rejects.toMatchObject({ code: 'KEY_NEEDED' });
  });

  it('sends no key with a sign-in, even if the client has one', async () => {
    const { fetch, requests } = answering(signedIn);
    await messagingOver(fetch).auth.login(credentials);
    expect(requests[0]?.headers.get('authorization')).toBeNull();
    await expect(requests[0]?.json()).resolves.toEqual(credentials);
  });
});

describe('repeats', () => {
  it.each([
    ['login', credentials],
    ['signup', credentials],
    ['verifyEmail', { token: 't' }],
    ['requestVerification', { email: 'ann@example.com' }],
    ['requestPasswordReset', { email: 'ann@example.com' }],
    ['resetPassword', { token: 't', password: 'x' }],
  ] as const)('never sends %s twice', async (method, body) => {
    const { fetch, requests } = answering(() => new Response(null, { status: 503 }));
    const call = messagingOver(fetch).auth[method](body); // each has its own body
    await expect(call).rejects.toMatchObject({ status: 503, outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });
});

function signedIn(): Response {
  return Response.json({ success: true }, { headers: { 'set-cookie': 'token=abc; HttpOnly' } });
}
