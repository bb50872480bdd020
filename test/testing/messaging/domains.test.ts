import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText } from '../../support/testing/messaging-call.js';

const add = async (fake: FakeMessaging, domain = 'shop.test') =>
  (await ok(fake, 'POST /domains', { body: { domain } })).id;

const statusOf = (fake: FakeMessaging, id: string) => fake.project.domains.get(id)?.status;

describe('messaging, Domains', () => {
  it('POST adds a pending domain and answers the DNS records to add', async () => {
    const fake = createFakeMessaging();
    const body = { domain: 'shop.test', projectId: fake.project.id };
    const answer = await ok(fake, 'POST /domains', { body });
    expect(answer).toMatchObject({ id: someText, domain: 'shop.test', status: 'pending' });
    expect(answer).toHaveProperty('records.0', { type: 'TXT', name: someText, value: someText });
  });

  it.each([undefined, '', 'shop', 'http://shop.test'])(
    'POST refuses the domain %s',
    async (domain) => {
      const answer = await call(createFakeMessaging(), 'POST /domains', { body: { domain } });
      expect(badFields(answer)).toEqual(['domain']);
    },
  );

  it('GET lists verified and pending domains of the project', async () => {
    const fake = createFakeMessaging();
    await add(fake);
    const list = await ok(fake, `GET /domains/project/${fake.project.id}`);
    expect(list).toMatchObject([
      { domain: 'example.com', status: 'verified' },
      { domain: 'shop.test', status: 'pending' },
    ]);
  });

  it('GET refuses the domains of another project with 403', async () => {
    const fake = createFakeMessaging();
    const other = fake.addProject();
    expect((await call(fake, `GET /domains/project/${other.id}`)).status).toBe(403);
    expect((await call(fake, 'GET /domains/project/prj_000099')).status).toBe(404);
  });

  it('verify forces a check, which succeeds once the DNS records are set', async () => {
    const fake = createFakeMessaging();
    const id = await add(fake);
    expect((await ok(fake, `GET /domains/${id}/verify`)).status).toBe('pending');
    fake.project.dns.add('shop.test');
    expect((await ok(fake, `GET /domains/${id}/verify`)).status).toBe('verified');
  });

  it('Limits: a background check runs every 5 minutes', async () => {
    const fake = createFakeMessaging();
    const id = await add(fake);
    await fake.advance('6m');
    fake.project.dns.add('shop.test');
    await fake.advance('3m');
    expect(statusOf(fake, id)).toBe('pending');
    await fake.advance('1m');
    expect(statusOf(fake, id)).toBe('verified');
  });

  it('a verified domain can be sent from, a pending one cannot', async () => {
    const fake = createFakeMessaging();
    const id = await add(fake);
    const mail = { to: 'ann@example.com', from: 'me@shop.test', subject: 'Hi', body: 'Hi' };
    expect((await call(fake, 'POST /v1/send', { body: mail })).status).toBe(422);
    fake.project.dns.add('shop.test');
    await ok(fake, `GET /domains/${id}/verify`);
    await ok(fake, 'POST /v1/send', { body: mail });
  });

  it('DELETE removes it', async () => {
    const fake = createFakeMessaging();
    const id = await add(fake);
    await ok(fake, `DELETE /domains/${id}`);
    expect((await call(fake, `GET /domains/${id}/verify`)).status).toBe(404);
  });
});
