import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

describe('users.me', () => {
  it('gets the user of a secret key', async () => {
    const { fetch, requests } = answering(() => ({ id: 'usr_1', email: 'ann@example.com' }));
    const me = await messagingOver(fetch).users.me();
    expect(me).toEqual({ id: 'usr_1', email: 'ann@example.com' });
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk_test_key');
    expect(new URL(requests[0]?.url ?? '').pathname).toBe('/users/@me');
  });

  it.each([
    [null, 'KEY_NEEDED', 'Sign in with `auth.login()`'],
    ['pk_test', 'SECRET_KEY_NEEDED', 'Use a secret key (sk_)'],
  ])('rejects the key %s and names the remedy', async (apiKey, code, remedy) => {
    const messaging = messagingOver(
      () => {
        throw new Error('must not reach the network');
      },
      { apiKey },
    );
    await expect(messaging.users.me()).rejects.toMatchObject({ code, outcome: 'not-sent' });
    await expect(messaging.users.me()).rejects.toThrow(remedy);
  });
});
