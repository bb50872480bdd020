import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok } from '../../../support/testing/messaging-call.js';

async function signIn(fake: FakeMessaging, body: object = fake.owner): Promise<string> {
  const { headers } = await call(fake, 'POST /auth/login', { body, key: null });
  return headers.getSetCookie()[0]!.split(';')[0]!;
}

const newcomer = { email: 'new@example.com', password: 'secret' };

describe('messaging, /config', () => {
  it('tells feature flags', async () => {
    const fake = createFakeMessaging({ disableSignups: true });
    expect(await ok(fake, 'GET /config', { key: null })).toMatchObject({ signups: false });
  });
});

describe('messaging, /auth', () => {
  it('login sets an http-only session cookie', async () => {
    const fake = createFakeMessaging();
    const answer = await call(fake, 'POST /auth/login', { body: fake.owner, key: null });
    expect(answer.headers.get('set-cookie')).toMatch(/^token=.+; Path=\/; .*HttpOnly/);
    expect(answer.body.user).toMatchObject({ email: fake.owner.email });
    expect(JSON.stringify(answer.body)).not.toContain(fake.owner.password);
  });

  it('login answers 401 for a wrong password', async () => {
    const fake = createFakeMessaging();
    const body = { ...fake.owner, password: 'wrong' };
    expect((await call(fake, 'POST /auth/login', { body, key: null })).status).toBe(401);
  });

  it('login wants email and password', async () => {
    const answer = await call(createFakeMessaging(), 'POST /auth/login', { body: {}, key: null });
    expect(badFields(answer)).toEqual(['email', 'password']);
  });

  it('signup makes a user who can sign in', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /auth/signup', { body: newcomer, key: null });
    const cookie = await signIn(fake, newcomer);
    const user = await ok(fake, 'GET /users/@me', { key: null, cookie });
    expect(user).toMatchObject({ email: newcomer.email, isVerified: false });
  });

  it('signup is refused under DISABLE_SIGNUPS', async () => {
    const fake = createFakeMessaging({ disableSignups: true });
    const { status } = await call(fake, 'POST /auth/signup', { body: newcomer, key: null });
    expect(status).toBe(403);
  });

  it('signup refuses an email that is signed up', async () => {
    const fake = createFakeMessaging();
    const { status } = await call(fake, 'POST /auth/signup', { body: fake.owner, key: null });
    expect(status).toBe(400);
  });

  it('logout clears the cookie and ends the session', async () => {
    const fake = createFakeMessaging();
    const cookie = await signIn(fake);
    const { headers } = await call(fake, 'GET /auth/logout', { key: null, cookie });
    expect(headers.get('set-cookie')).toMatch(/^token=; .*Max-Age=0/);
    expect((await call(fake, 'GET /users/@me', { key: null, cookie })).status).toBe(401);
  });

  it('oauth-config lists the configured providers', async () => {
    const answer = await ok(createFakeMessaging(), 'GET /auth/oauth-config', { key: null });
    expect(answer).toEqual({ providers: [] });
  });

  it('verify-email takes the emailed token, once', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /auth/signup', { body: newcomer, key: null });
    const body = { token: fake.world.mailedTokens[0]?.token };
    await ok(fake, 'POST /auth/verify-email', { body, key: null });
    const user = [...fake.world.users.values()].find(({ email }) => email === newcomer.email);
    expect(user?.isVerified).toBe(true);
    const again = await call(fake, 'POST /auth/verify-email', { body, key: null });
    expect(badFields(again)).toEqual(['token']);
  });

  it('request-verification sends another token', async () => {
    const fake = createFakeMessaging();
    const body = { email: fake.owner.email };
    await ok(fake, 'POST /auth/request-verification', { body, key: null });
    expect(fake.world.mailedTokens).toMatchObject([{ purpose: 'verify-email', ...body }]);
  });

  it('reset-password takes the token of request-password-reset', async () => {
    const fake = createFakeMessaging();
    const { email } = fake.owner;
    await ok(fake, 'POST /auth/request-password-reset', { body: { email }, key: null });
    const body = { token: fake.world.mailedTokens[0]?.token, password: 'changed' };
    await ok(fake, 'POST /auth/reset-password', { body, key: null });
    expect(await signIn(fake, { email, password: 'changed' })).toMatch(/^token=/);
  });

  it('request-password-reset does not tell who is signed up', async () => {
    const fake = createFakeMessaging();
    const body = { email: 'nobody@example.com' };
    expect(await ok(fake, 'POST /auth/request-password-reset', { body, key: null })).toEqual({
      success: true,
    });
    expect(fake.world.mailedTokens).toEqual([]);
  });
});

describe('messaging, /users/@me', () => {
  it('with a secret key it is the owner of the project', async () => {
    const fake = createFakeMessaging();
    expect((await ok(fake, 'GET /users/@me')).email).toBe(fake.owner.email);
  });
});
