import { expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

it.each([null, 'pk_test', 'sk_test'])(
  'gets the flags of the service without a key, whatever the client has: %s',
  async (apiKey) => {
    const { fetch, requests } = answering(() => ({ billing: true }));
    await expect(messagingOver(fetch, { apiKey }).config.get()).resolves.toEqual({ billing: true });
    expect(requests[0]?.headers.get('authorization')).toBeNull();
  },
);
