import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { startFakeServer } from '../../src/testing/index.js';

/** The service that a project talks to. */
export interface Service {
  /** What a project finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What has arrived since the last count. */
  count(): { readonly emails: number; readonly events: number };
  close(): Promise<void>;
}

/** Starts the fake services, and an address that pages of other origins may call. */
export async function startService(): Promise<Service> {
  const fake = await startFakeServer();
  const { messaging, media } = fake;
  const door = createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-headers', 'authorization,content-type');
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    void pass(request, fake.messagingUrl).then(({ status, body }) =>
      response.writeHead(status).end(body),
    );
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  const address = door.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;

  const arrived = (endpoint: string) =>
    messaging.requests.filter((request) => request.endpoint === endpoint).length;
  let seen = { emails: 0, events: 0 };
  return {
    env: {
      MESSAGING_API_KEY: messaging.secretKey,
      MESSAGING_BASE_URL: fake.messagingUrl,
      MEDIA_API_KEY: media.apiKey,
      MEDIA_BASE_URL: fake.mediaUrl,
      PUBLIC_KEY: messaging.publicKey,
      BROWSER_BASE_URL: `http://127.0.0.1:${port}`,
    },
    count() {
      const now = { emails: arrived('POST /v1/send'), events: arrived('POST /v1/track') };
      const since = { emails: now.emails - seen.emails, events: now.events - seen.events };
      seen = now;
      return since;
    },
    async close() {
      door.closeAllConnections();
      door.close();
      await fake.close();
    },
  };
}

/** Sends what a page sent on to the fake, which knows nothing of other origins. */
async function pass(request: IncomingMessage, messagingUrl: string) {
  const { authorization = '' } = request.headers;
  const answer = await fetch(`${messagingUrl}${request.url ?? ''}`, {
    method: 'POST', // events are all that a page may send
    headers: { authorization, 'content-type': 'application/json' },
    body: await text(request),
  });
  return { status: answer.status, body: await answer.text() };
}
