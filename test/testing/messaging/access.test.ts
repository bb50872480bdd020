import { describe, expect, it } from 'vitest';
import { createFakeMessaging } from 'postreel/testing';
import { call, ok } from '../../support/testing/messaging-call.js';

describe('messaging, Authentication', () => {
  it('1: a call with `Authorization: Bearer <API_KEY>` is let in', async () => {
    const { status } = await call(createFakeMessaging(), 'GET /contacts');
    expect(status).toBe(200);
  });

  it('2: a secret key starts with sk_ and opens every endpoint', async () => {
    const fake = createFakeMessaging();
    expect(fake.secretKey).toMatch(/^sk_/);
    for (const endpoint of fake.endpoints) {
      const { status } = await call(fake, endpoint.replaceAll(/\{\w+\}/g, 'nothing'), {
        ...(!endpoint.startsWith('GET') && { body: {} }),
      });
      // POST /auth/login with an empty body is a 422, so that no 401 is left.
      expect([endpoint, status]).not.toEqual([endpoint, 401]);
      expect([endpoint, status]).not.toEqual([endpoint, 500]);
    }
  });

  it('3: a public key starts with pk_ and is accepted by /v1/track', async () => {
    const fake = createFakeMessaging();
    expect(fake.publicKey).toMatch(/^pk_/);
    const body = { email: 'ann@example.com', event: 'visit' };
    const { status } = await call(fake, 'POST /v1/track', { body, key: fake.publicKey });
    expect(status).toBe(200);
  });

  it('3: a public key is refused everywhere else that needs a key', async () => {
    const fake = createFakeMessaging();
    const isOpen = (endpoint: string) => / \/(config|auth\/.*)$/.test(endpoint);
    for (const endpoint of fake.endpoints.filter((name) => !isOpen(name))) {
      if (endpoint === 'POST /v1/track') {
        continue;
      }
      const path = endpoint.replaceAll(/\{\w+\}/g, fake.project.id);
      const { status } = await call(fake, path, { key: fake.publicKey });
      expect([endpoint, status]).toEqual([endpoint, 401]);
    }
  });

  it('3: /v1/track also accepts a secret key', async () => {
    const body = { email: 'ann@example.com', event: 'visit' };
    const { status } = await call(createFakeMessaging(), 'POST /v1/track', { body });
    expect(status).toBe(200);
  });

  it('4: the project is derived from the key', async () => {
    const fake = createFakeMessaging();
    const other = fake.addProject();
    await ok(fake, 'POST /contacts', { body: { email: 'ann@example.com' }, key: other.secretKey });
    expect((await ok(fake, 'GET /contacts')).total).toBe(0);
    expect(other.contacts.size).toBe(1);
  });

  it('5: regenerate-keys rotates both keys at once, and the old ones are refused', async () => {
    const fake = createFakeMessaging();
    const { secretKey, publicKey } = fake;
    const path = `POST /users/@me/projects/${fake.project.id}/regenerate-keys`;
    const rotated = await ok(fake, path);
    expect(rotated).toMatchObject({ secretKey: fake.secretKey, publicKey: fake.publicKey });
    expect([fake.secretKey, fake.publicKey]).not.toContain(secretKey);
    expect([fake.secretKey, fake.publicKey]).not.toContain(publicKey);
    expect((await call(fake, 'GET /contacts', { key: secretKey })).status).toBe(401);
    const track = { body: { email: 'a@example.com', event: 'e' }, key: publicKey };
    expect((await call(fake, 'POST /v1/track', track)).status).toBe(401);
    expect((await call(fake, 'GET /contacts')).status).toBe(200);
  });

  it('6: the session cookie of /auth/login is accepted on account endpoints', async () => {
    const fake = createFakeMessaging();
    const { headers } = await call(fake, 'POST /auth/login', { body: fake.owner, key: null });
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
    expect(cookie).toMatch(/^token=[\w-]+\.[\w-]+\.[\w-]+$/);
    const user = await ok(fake, 'GET /users/@me', { key: null, cookie });
    expect(user.email).toBe(fake.owner.email);
    const path = `GET /projects/${fake.project.id}/members`;
    expect((await call(fake, path, { key: null, cookie })).status).toBe(200);
  });

  it('6: a session opens no project that its user is not a member of', async () => {
    const fake = createFakeMessaging();
    const { headers } = await call(fake, 'POST /auth/login', { body: fake.owner, key: null });
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
    const path = `GET /projects/${fake.addProject().id}/members`;
    expect((await call(fake, path, { key: null, cookie })).status).toBe(403);
  });

  it('2: a session is no key: other endpoints answer 401', async () => {
    const fake = createFakeMessaging();
    const { headers } = await call(fake, 'POST /auth/login', { body: fake.owner, key: null });
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
    expect((await call(fake, 'GET /contacts', { key: null, cookie })).status).toBe(401);
  });

  it('6: /config needs no authentication', async () => {
    expect((await call(createFakeMessaging(), 'GET /config', { key: null })).status).toBe(200);
  });

  it('7: a missing key yields 401', async () => {
    const { status, body } = await call(createFakeMessaging(), 'GET /contacts', { key: null });
    expect([status, body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  it('7: an invalid key yields 401', async () => {
    const { status } = await call(createFakeMessaging(), 'GET /contacts', { key: 'sk_wrong' });
    expect(status).toBe(401);
  });

  it('7: a resource of another project yields 403', async () => {
    const fake = createFakeMessaging();
    const key = fake.addProject().secretKey;
    const foreign = await ok(fake, 'POST /contacts', { body: { email: 'a@example.com' }, key });
    expect((await call(fake, `GET /contacts/${foreign.id}`)).status).toBe(403);
  });

  it('7: a key on the settings of another project yields 403', async () => {
    const fake = createFakeMessaging();
    const path = `PATCH /users/@me/projects/${fake.addProject().id}`;
    expect((await call(fake, path, { body: { name: 'Mine' } })).status).toBe(403);
  });

  it('7: a disabled project yields 403', async () => {
    const fake = createFakeMessaging();
    fake.project.isDisabled = true;
    const { status, body } = await call(fake, 'GET /contacts');
    expect([status, body.error.code]).toEqual([403, 'PROJECT_DISABLED']);
  });
});

describe('messaging, Limits: API requests', () => {
  it('1000 per minute per project; excess gives 429', async () => {
    const fake = createFakeMessaging();
    for (let count = 0; count < 1000; count += 1) {
      await ok(fake, 'GET /events/names');
    }
    expect((await call(fake, 'GET /events/names')).status).toBe(429);
    await fake.advance('1m');
    expect((await call(fake, 'GET /events/names')).status).toBe(200);
  });

  it('both keys of a project count together', async () => {
    const fake = createFakeMessaging({ rateLimit: { limit: 1 } });
    await ok(fake, 'GET /contacts');
    const body = { email: 'ann@example.com', event: 'visit' };
    const { status } = await call(fake, 'POST /v1/track', { body, key: fake.publicKey });
    expect(status).toBe(429);
  });

  it('every project has its own count', async () => {
    const fake = createFakeMessaging({ rateLimit: { limit: 1 } });
    await ok(fake, 'GET /contacts');
    const { status } = await call(fake, 'GET /contacts', { key: fake.addProject().secretKey });
    expect(status).toBe(200);
  });
});
