import { describe, expect, it } from 'vitest';
import { findNewKey } from '../../../src/messaging/projects/swap-key.js';
import { answering, messagingOver } from '../../support/clients.js';
import { serve } from '../../support/fake-server.js';

describe('regenerateKeys() with swapKey', () => {
  it('goes on with the new key, and so do the clients made of this one', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ rateLimit: { limit: 50, windowMs: 3_600_000 } });
    const derived = client.with({ timeout: 10_000 });
    const before = fake.secretKey;
    const keys = await client.projects.regenerateKeys(fake.project.id, { swapKey: true });
    expect(fake.secretKey).not.toBe(before);
    expect(keys['secretKey']).toBe(fake.secretKey);
    await client.contacts.list();
    await derived.contacts.list();
    expect(fake.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(client.rateLimit.state()?.used).toBe(3);
  });

  it('replays the calls that were under way with the old key', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts/fields', { slow: 150 });
    const client = messaging();
    const slow = client.contacts.fields.list();
    await expect.poll(() => fake.requests.length).toBe(1);
    const swapped = client.projects.regenerateKeys(fake.project.id, { swapKey: true });
    await Promise.all([slow, swapped]);
    const tries = fake.requests.filter(({ path }) => path === '/contacts/fields');
    expect(tries.at(-1)?.status).toBe(200);
  });

  it('is off unless it is asked for', async () => {
    const { messaging, fake } = await serve();
    const client = messaging();
    await client.projects.regenerateKeys(fake.project.id);
    await expect(client.contacts.get('con_1')).rejects.toMatchObject({ status: 401 });
  });

  it('warns and keeps the old key when the answer shows no new one', async () => {
    const { fetch, requests } = answering(() => ({ success: true }));
    const messaging = messagingOver(fetch);
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    await messaging.projects.regenerateKeys('prj_1', { swapKey: true });
    await messaging.contacts.get('con_1');
    expect(warnings).toEqual(['no new key found: the old one stays']);
    expect(requests[1]?.headers.get('authorization')).toBe('Bearer sk_test_key');
  });

  it('is nothing to a session, which has no key', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ apiKey: null });
    await client.auth.login(fake.owner);
    const warnings: unknown[] = [];
    client.on('warning', (warning) => warnings.push(warning));
    await client.projects.regenerateKeys(fake.project.id, { swapKey: true });
    await expect(client.users.me()).resolves.toBeDefined();
    expect(warnings).toEqual([]);
  });

  it('leaves the key alone when the call fails', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /users/@me/projects/{id}/regenerate-keys', { status: 403 });
    const client = messaging();
    const call = client.projects.regenerateKeys(fake.project.id, { swapKey: true });
    await expect(call).rejects.toMatchObject({ status: 403 });
    await expect(client.contacts.list().then(({ items }) => items)).resolves.toEqual([]);
  });
});

describe('the new key is', () => {
  const old = 'sk_live_old';

  it.each([
    ['under any name', { secret: 'sk_live_new' }, 'sk_live_new'],
    ['inside another object', { keys: { secretKey: 'sk_live_new' } }, 'sk_live_new'],
    ['in a list', { keys: [{ value: 'pk_live_new' }, { value: 'sk_live_new' }] }, 'sk_live_new'],
    ['not the old one', { previous: old, secretKey: 'sk_live_new' }, 'sk_live_new'],
    ['not the public one', { publicKey: 'pk_live_new' }, undefined],
    ['not what only looks like one', { hint: 'sk_ keys are secret' }, undefined],
    ['not deeper than an answer goes', { a: { b: { c: { d: { e: 'sk_x' } } } } }, undefined],
    ['not in an answer of nothing', undefined, undefined],
  ])('%s', (_, answer, expected) => {
    expect(findNewKey(answer, old)).toBe(expected);
  });

  it('unknown where keys have no prefix', () => {
    expect(findNewKey({ secret: 'sk_live_new' }, 'KEY')).toBeUndefined();
  });
});
