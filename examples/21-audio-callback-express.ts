// Waits for a callback when a speech is finished, on Express.
// First: echo "WEBHOOK_SECRET=$(openssl rand -hex 32)" >> .env
// Run: npm install express && npx tsx --env-file=.env 21-audio-callback-express.ts
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { MediaClient } from 'postreel';
import { createInbox } from 'postreel/webhooks';

const secret = process.env['WEBHOOK_SECRET'];
if (!secret) {
  throw new Error('WEBHOOK_SECRET is not set.');
}
const media = new MediaClient();

const inbox = createInbox({
  secret,
  status: (fileId) => media.generate.status({ fileId }), // confirms each callback with a status check
  onError: (error) => console.error('refused', error),
});

const app = express();
app.use(express.json());
app.post('/media-done', inbox.node);
const server = app.listen(0);
await once(server, 'listening');

try {
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  const base = process.env['PUBLIC_URL'] ?? `http://localhost:${port}`; // the public address of this server
  const job = await media.generate.audio({
    content: 'Good morning from Postreel!',
    voiceId: 'voice_1',
    webhook: await inbox.url(`${base}/media-done`),
  });
  // Checks the status when the callback comes, and once a minute in case it never comes.
  const file = await job.waitForFile({ inbox });
  console.log(file.fileId, file.url);
} finally {
  server.close();
}
