import { describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { serve } from '../../support/fake-server.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

describe('a function for the key', () => {
  it('is not asked before the first call, and then once for all of them', async () => {
    const apiKey = vi.fn(() => Promise.resolve('sk_test_1'));
    const { fetch, requests } = answering(() => ({ items: [] }));
    const messaging = messagingOver(fetch, { apiKey });
    expect(apiKey).not.toHaveBeenCalled();
    await Promise.all(Array.from({ length: 20 }, () => messaging.contacts.get('con_1')));
    await messaging.contacts.get('con_1');
    expect(apiKey).toHaveBeenCalledTimes(1);
    expect(new Set(requests.map(({ headers }) => headers.get('authorization')))).toEqual(
      new Set(['Bearer sk_test_1']),
    );
  });

  it('is not asked for a call that needs no key', async () => {
    const apiKey = vi.fn(() => 'sk_test_1');
    const { fetch } = answering(() => ({}));
    await messagingOver(fetch, { apiKey }).config.get();
    expect(apiKey).not.toHaveBeenCalled();
  });

  it('may hand out the key at once', async () => {
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch, { apiKey: () => 'sk_test_1' }).contacts.get('con_1');
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk_test_1');
  });

  it('that fails makes the call fail with an error of ours, unsent', async () => {
    const cause = new Error('the vault is closed');
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch, { apiKey: () => Promise.reject(cause) });
    const call = messaging.send(mail);
    await expect(call).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'API_KEY_UNAVAILABLE',
      outcome: 'not-sent',
      cause,
    });
    await expect(call.safe()).resolves.toMatchObject({ error: { code: 'API_KEY_UNAVAILABLE' } });
    expect(requests).toEqual([]);
  });

  it('that failed is asked again by the next call', async () => {
    const apiKey = vi
      .fn<() => Promise<string>>()
      .mockRejectedValueOnce(new Error('closed'))
      .mockResolvedValue('sk_test_1');
    const { fetch } = answering(() => ({ id: 'con_1' }));
    const messaging = messagingOver(fetch, { apiKey });
    await expect(messaging.contacts.get('con_1')).rejects.toThrow();
    await expect(messaging.contacts.get('con_1')).resolves.toEqual({ id: 'con_1' });
  });
});

describe('a key that the service refuses', () => {
  it('is asked for once more, and the call is replayed', async () => {
    const { messaging, fake } = await serve();
    const keys = ['sk_old_key', fake.secretKey];
    const apiKey = vi.fn(() => Promise.resolve(keys.shift() ?? 'sk_too_many'));
    const { emails } = await messaging({ apiKey }).send(mail);
    expect(emails).toHaveLength(1);
    expect(fake.outbox).toHaveLength(1);
    expect(apiKey).toHaveBeenCalledTimes(2);
    expect(fake.requests.map(({ status }) => status)).toEqual([401, 200]);
  });

  it('twice in a row stays refused', async () => {
    const { messaging, fake } = await serve();
    const apiKey = vi.fn(() => 'sk_wrong_key');
    await expect(messaging({ apiKey }).send(mail)).rejects.toMatchObject({
      name: 'AuthenticationError',
      outcome: 'rejected',
    });
    expect(apiKey).toHaveBeenCalledTimes(2);
    expect(fake.requests).toHaveLength(1); // the same key again would be refused again
  });

  it('is renewed once in a call, however many retries follow', async () => {
    const apiKey = vi.fn(() => Promise.resolve(`sk_key_${apiKey.mock.calls.length}`));
    const statuses = [401, 503, 401];
    const { fetch, requests } = answering(() =>
      Response.json({}, { status: statuses.shift() ?? 200, headers: { 'retry-after': '0' } }),
    );
    const call = messagingOver(fetch, { apiKey }).contacts.get('con_1');
    await expect(call).rejects.toMatchObject({ name: 'AuthenticationError' });
    expect(requests).toHaveLength(3);
    expect(apiKey).toHaveBeenCalledTimes(2);
  });

  it('is asked for once by all the calls that were refused together', async () => {
    const { messaging, fake } = await serve();
    let current = 'sk_old_key';
    const apiKey = vi.fn(() => Promise.resolve(current));
    const client = messaging({ apiKey });
    await client.contacts.list().then(undefined, () => undefined);
    current = fake.secretKey;
    apiKey.mockClear();
    await Promise.all(Array.from({ length: 20 }, () => client.contacts.list().then(() => true)));
    expect(apiKey).toHaveBeenCalledTimes(1);
  });

  it('is not replayed when it is a plain text', async () => {
    const { messaging, fake } = await serve();
    await expect(messaging({ apiKey: 'sk_wrong_key' }).send(mail)).rejects.toMatchObject({
      status: 401,
    });
    expect(fake.requests).toHaveLength(1);
  });

  it('is replayed without retries, since a refused call did not happen', async () => {
    const { messaging, fake } = await serve();
    const keys = ['sk_old_key', fake.secretKey];
    await messaging({ apiKey: () => keys.shift() ?? '', retries: 0 }).send(mail);
    expect(fake.outbox).toHaveLength(1);
  });

  it('whose replacement cannot be fetched leaves the call rejected', async () => {
    const { messaging } = await serve();
    const apiKey = vi
      .fn<() => Promise<string>>()
      .mockResolvedValueOnce('sk_old_key')
      .mockRejectedValue(new Error('the vault is closed'));
    const call = messaging({ apiKey }).send(mail);
    await expect(call).rejects.toMatchObject({
      code: 'API_KEY_UNAVAILABLE',
      outcome: 'rejected',
    });
    expect(call.outcome).toBe('rejected');
  });

  it('whose replacement is a public key does not travel where it may not', async () => {
    const { messaging, fake } = await serve();
    const keys = ['sk_old_key', fake.publicKey];
    const call = messaging({ apiKey: () => keys.shift() ?? '' }).send(mail);
    await expect(call).rejects.toMatchObject({ code: 'SECRET_KEY_NEEDED' });
    expect(fake.requests).toHaveLength(1);
  });
});

describe('the rate budget of a key', () => {
  it('is not named by a call that needs no key', async () => {
    const { messaging } = await serve();
    const rateLimit = { limit: 5, windowMs: 3_600_000 };
    const [one, two] = [
      messaging({ rateLimit }),
      messaging({ apiKey: () => 'sk_other', rateLimit }),
    ];
    await one.config.get();
    await two.config.get();
    await one.contacts.list();
    await two.contacts.list().then(undefined, () => undefined);
    expect(one.rateLimit.state()?.used).toBe(2);
    expect(two.rateLimit.state()?.used).toBeLessThanOrEqual(2);
  });

  it('survives that the key is replaced', async () => {
    const { messaging, fake } = await serve();
    const keys = ['sk_old_key', fake.secretKey];
    const client = messaging({
      apiKey: () => keys.shift() ?? '',
      rateLimit: { limit: 5, windowMs: 3_600_000 },
    });
    await client.contacts.list();
    expect(client.rateLimit.state()?.used).toBe(2);
  });
});
