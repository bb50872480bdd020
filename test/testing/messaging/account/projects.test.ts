import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { call, ok, textLike } from '../../../support/testing/messaging-call.js';

const mine = ({ project }: FakeMessaging) => `/users/@me/projects/${project.id}`;

const members = ({ project }: FakeMessaging) => `/projects/${project.id}/members`;

describe('messaging, Account: projects', () => {
  it('lists the projects of the user', async () => {
    const fake = createFakeMessaging();
    fake.addProject('Foreign');
    expect(await ok(fake, 'GET /users/@me/projects')).toMatchObject([{ id: fake.project.id }]);
  });

  it('creates a project with keys of its own', async () => {
    const fake = createFakeMessaging();
    const made = await ok(fake, 'POST /users/@me/projects', { body: { name: 'Second' } });
    expect(made).toMatchObject({ name: 'Second', secretKey: textLike(/^sk_/) });
    expect((await call(fake, 'GET /contacts', { key: made.secretKey })).status).toBe(200);
  });

  it('updates settings', async () => {
    const fake = createFakeMessaging();
    const body = { name: 'Renamed', settings: { tracking: true } };
    expect(await ok(fake, `PATCH ${mine(fake)}`, { body })).toMatchObject(body);
  });

  it('deletes a project and its keys', async () => {
    const fake = createFakeMessaging();
    expect((await call(fake, `DELETE ${mine(fake)}`)).status).toBe(204);
    expect((await call(fake, 'GET /contacts')).status).toBe(401);
  });

  it('reset wipes the data and keeps the keys', async () => {
    const fake = createFakeMessaging();
    const { secretKey } = fake;
    const body = {
      to: 'a@b.co',
      from: 'shop@example.com',
      subject: 'S',
      body: 'B',
      data: { a: 1 },
    };
    await ok(fake, 'POST /v1/send', { body });
    await ok(fake, 'POST /v1/track', { body: { email: 'a@b.co', event: 'visit' } });
    await ok(fake, `POST ${mine(fake)}/reset`);
    const { contacts, events, outbox, activity, fieldTypes } = fake.project;
    expect([contacts.size, fieldTypes.size]).toEqual([0, 0]);
    expect([events, outbox, activity]).toEqual([[], [], []]);
    expect(fake.secretKey).toBe(secretKey);
  });

  it('an unknown project is a 404', async () => {
    const { status } = await call(createFakeMessaging(), 'GET /projects/prj_999999/security');
    expect(status).toBe(404);
  });

  it('setup-state tells how far onboarding is', async () => {
    const fake = createFakeMessaging();
    const path = `GET /projects/${fake.project.id}/setup-state`;
    expect(await ok(fake, path)).toMatchObject({ hasVerifiedDomain: true, isComplete: false });
    const body = { to: 'ann@example.com', from: 'shop@example.com', subject: 'S', body: 'B' };
    await ok(fake, 'POST /v1/send', { body });
    expect(await ok(fake, path)).toMatchObject({ hasSentEmail: true, isComplete: true });
  });

  it('security tells bounce and complaint rates', async () => {
    const fake = createFakeMessaging();
    const body = { to: ['a@b.co', 'c@d.co'], from: 'shop@example.com', subject: 'S', body: 'B' };
    await ok(fake, 'POST /v1/send', { body });
    fake.project.outbox[0]!.bouncedAt = fake.clock.date().toISOString();
    const rates = { bounceRate: 0.5, complaintRate: 0, suspensions: [] };
    expect(await ok(fake, `GET ${mine(fake)}/security`)).toEqual(rates);
    expect(await ok(fake, `GET /projects/${fake.project.id}/security`)).toMatchObject(rates);
  });
});

describe('messaging, Account: billing', () => {
  it.each(['checkout', 'billing-portal'])('%s answers an address to go to', async (path) => {
    const fake = createFakeMessaging();
    expect(await ok(fake, `POST ${mine(fake)}/${path}`)).toEqual({
      url: textLike(/^https:/),
    });
  });

  it('billing-limits are replaced by PUT and read by GET', async () => {
    const fake = createFakeMessaging();
    await ok(fake, `PUT ${mine(fake)}/billing-limits`, { body: { campaign: 5 } });
    await ok(fake, `PUT ${mine(fake)}/billing-limits`, { body: { send: 100, workflow: null } });
    const limits = await ok(fake, `GET ${mine(fake)}/billing-limits`);
    expect(limits).toEqual({ send: 100, workflow: null });
  });

  it('billing-consumption counts the emails of the current period', async () => {
    const fake = createFakeMessaging({ clock: { start: new Date('2026-01-31T12:00:00Z') } });
    const body = { to: 'ann@example.com', from: 'shop@example.com', subject: 'S', body: 'B' };
    await ok(fake, 'POST /v1/send', { body });
    const consumption = await ok(fake, `GET ${mine(fake)}/billing-consumption`);
    expect(consumption).toEqual({ period: '2026-01', send: 1, campaign: 0, workflow: 0 });
    await fake.advance('1d');
    expect((await ok(fake, `GET ${mine(fake)}/billing-consumption`)).send).toBe(0);
  });

  it('billing-invoices is a list', async () => {
    const fake = createFakeMessaging();
    expect(await ok(fake, `GET ${mine(fake)}/billing-invoices`)).toEqual([]);
  });
});

describe('messaging, Account: members', () => {
  it('lists the owner at first', async () => {
    const fake = createFakeMessaging();
    const list = await ok(fake, `GET ${members(fake)}`);
    expect(list).toMatchObject([{ email: fake.owner.email, role: 'OWNER' }]);
  });

  it('invites, changes the role of and removes a member', async () => {
    const fake = createFakeMessaging();
    const body = { email: 'ann@example.com', role: 'ADMIN' };
    const { userId } = await ok(fake, `POST ${members(fake)}`, { body });
    const path = `${members(fake)}/${userId}`;
    const changed = await ok(fake, `PATCH ${path}`, { body: { role: 'VIEWER' } });
    expect(changed).toMatchObject({ userId, email: 'ann@example.com', role: 'VIEWER' });
    expect((await call(fake, `DELETE ${path}`)).status).toBe(204);
    expect(await ok(fake, `GET ${members(fake)}`)).toHaveLength(1);
    expect((await call(fake, `DELETE ${path}`)).status).toBe(404);
  });

  it('a member is not invited twice', async () => {
    const fake = createFakeMessaging();
    const body = { email: fake.owner.email };
    expect((await call(fake, `POST ${members(fake)}`, { body })).status).toBe(400);
  });
});
