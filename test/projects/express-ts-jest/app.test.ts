import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { app } from './app';

test('the app sends an email', async () => {
  const server = app.listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const body = new URLSearchParams({ email: 'ann@example.com' });
  const response = await fetch(`http://127.0.0.1:${port}/signup`, { method: 'POST', body });
  server.close();
  expect([response.status, await response.json()]).toEqual([202, { sent: 1 }]);
});

test('the fake takes the place of the service', async () => {
  const fake = createFakeMessaging();
  await new MessagingClient(fake.options).verify({ email: 'ann@example.com' });
  expect(fake.requests).toHaveLength(1);
});
