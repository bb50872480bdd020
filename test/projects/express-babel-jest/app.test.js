import { once } from 'node:events';
import { app } from './app';

test('the app sends an email', async () => {
  const server = app.listen(0);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/signup`;
  const response = await fetch(url, { method: 'POST' });
  server.close();
  expect([response.status, await response.json()]).toEqual([202, { sent: 1 }]);
});
