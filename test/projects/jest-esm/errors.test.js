import { once } from 'node:events';
import { createServer } from 'node:net';
import { MessagingClient } from 'postreel';

// Jest runs this in another realm than the one whose errors `fetch` throws.
test('says why there is no connection', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  const messaging = new MessagingClient({ baseUrl: `http://127.0.0.1:${port}`, retries: 0 });
  const error = await messaging.users.me().catch((reason) => reason);
  expect(error.message).toContain('(ECONNREFUSED)');
  expect(error.cause.cause).toMatchObject({ code: 'ECONNREFUSED', syscall: 'connect' });
});

test('says why there is no key', async () => {
  const apiKey = () => import('node:fs/promises').then(({ readFile }) => readFile('no-such-file'));
  const error = await new MessagingClient({ apiKey }).users.me().catch((reason) => reason);
  expect(error.cause.message).toContain('ENOENT');
});
