import { expect, it } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';

it('a first attempt is sent by ky, as an address and an init', async () => {
  const { fetch, requests } = answering(() => ({ id: 'con_1' }));
  const seen: { stack: string; init: RequestInit | undefined }[] = [];
  const client = messagingOver((input, init) => {
    expect(input).toBe('https://messaging.test/contacts');
    seen.push({ stack: new Error().stack ?? '', init });
    return fetch(input, init);
  });
  await client.contacts.create({ email: 'ann@example.com' });
  expect(requests).toHaveLength(1);
  expect(seen[0]?.stack).toMatch(/node_modules\/ky\//);
  expect(seen[0]?.init).toMatchObject({
    method: 'POST',
    body: '{"email":"ann@example.com"}',
    headers: { authorization: 'Bearer sk_test_key', 'content-type': 'application/json' },
    redirect: 'manual',
  });
});
