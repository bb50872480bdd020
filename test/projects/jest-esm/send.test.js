import { createServer } from 'node:net';
import { once } from 'node:events';
import { MediaClient, MessagingClient } from 'postreel';
import { createFakeMedia } from 'postreel/testing';

test('sends an email', async () => {
  const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
  const { emails } = await new MessagingClient().send(mail);
  expect(emails).toHaveLength(1);
});

test('makes speech with the fake', async () => {
  const { apiKey, baseUrl, fetch } = createFakeMedia();
  const media = new MediaClient({ apiKey, baseUrl, fetch });
  const job = await media.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
  expect(typeof job.fileId).toBe('string');
});

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
