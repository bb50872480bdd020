import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { gzipSync } from 'node:zlib';
import nodeFetch from 'node-fetch';
import { MediaClient, MessagingClient } from 'postreel';
import { Agent, fetch as undiciFetch } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../support/fake-server.js';

// Its types belong to another version of the types of `fetch`.
const nodeFetch2: unknown = createRequire(import.meta.url)('node-fetch-2');
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const long = 'x'.repeat(1024 * 1024);
const open: Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    (server as { closeAllConnections?: () => void }).closeAllConnections?.(); // of HTTP only
  }
});

async function urlOf(server: Server): Promise<string> {
  open.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

const clientOf = (baseUrl: string, fetch?: unknown) =>
  new MessagingClient({
    apiKey: 'sk_test_1',
    baseUrl,
    retries: 0,
    fetch: fetch as typeof globalThis.fetch | undefined, // each is called as `fetch` is
  });

/** A service that responds in one of several ways, and counts the bytes that were read. */
async function service() {
  const taken = { requests: 0, bytes: 0, isGone: false };
  const ways: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    plain: (response) => response.end(text),
    compressed: (response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(text));
    },
    chunked: (response) => {
      response.write(text.slice(0, 16));
      setTimeout(() => response.end(text.slice(16)), 5);
    },
    stalled: (response) => response.write(text.slice(0, 16)),
    endless: (response) => {
      response.writeHead(500);
      const more = () => {
        let hasRoom = true;
        while (!response.destroyed && hasRoom) {
          hasRoom = response.write(long);
          taken.bytes += long.length;
        }
        response.once('drain', more);
      };
      more();
    },
  };
  const text = JSON.stringify({ success: true, data: { emails: [], long } });
  const server = createServer((request: IncomingMessage, response) => {
    taken.requests++;
    request.resume();
    response.once('close', () => {
      taken.isGone = true;
    });
    ways[String(request.headers['x-way'])]?.(response);
  });
  return { url: await urlOf(server), taken };
}

describe.each([
  ['the `fetch` of Node', undefined],
  ['undici', undiciFetch],
  ['node-fetch 2', nodeFetch2],
  ['node-fetch 3', nodeFetch],
])('over %s', (_name, fetch) => {
  it.each(['plain', 'compressed', 'chunked'])('a %s response is read', async (way) => {
    const { url, taken } = await service();
    const sent = await clientOf(url, fetch).send(mail, { headers: { 'x-way': way } });
    expect(sent).toMatchObject({ emails: [], long });
    expect(taken.requests).toBe(1);
  });

  it('an endless error response is read up to a limit', async () => {
    const { url, taken } = await service();
    const options = { headers: { 'x-way': 'endless' }, timeout: 10_000 };
    const { error } = await clientOf(url, fetch).send(mail, options).safe();
    expect(error).toMatchObject({ status: 500, outcome: 'unknown' });
    // The buffers of the sockets hold more than the client reads.
    expect(taken.bytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('a response that stalls is closed when the timeout is over', async () => {
    const { url, taken } = await service();
    const options = { headers: { 'x-way': 'stalled' }, timeout: 200 };
    const { error } = await clientOf(url, fetch).send(mail, options).safe();
    expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
    await expect.poll(() => taken.isGone).toBe(true);
  });
});

describe('a response that is not HTTP', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  it.each([
    ['nothing', ''],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a length that is too long', `${head}Content-Length: 100\r\n\r\n{}`],
    ['broken chunks', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`],
    ['a compression that is none', `${head}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`],
  ])(
    'is a PostreelError, with an unknown outcome if the call changes something: %s',
    async (_, text) => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => undefined); // the client hangs up
        socket.once('data', () => socket.end(text));
      });
      const client = clientOf(await urlOf(server));
      const sent = await client.send(mail).safe();
      expect(sent.error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
      const read = await client.contacts.get('con_1').safe();
      expect(read.error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'rejected' });
    },
  );
});

describe.each([301, 302, 303, 307, 308])('a redirect with %i', (status) => {
  it('is not followed, so no other origin or path receives the key', async () => {
    const seen: string[] = [];
    const elsewhere = await urlOf(
      createServer((request, response) => {
        seen.push(`${request.url ?? ''} ${request.headers.authorization ?? ''}`);
        response.end('{}');
      }),
    );
    const paths: (string | undefined)[] = [];
    const own = await urlOf(
      createServer((request, response) => {
        paths.push(request.url);
        const isSend = request.url === '/v1/send';
        response.writeHead(status, { location: isSend ? '/other' : `${elsewhere}/other` });
        response.end();
      }),
    );
    await expect(clientOf(own).send(mail)).rejects.toMatchObject({ status });
    await expect(clientOf(own).contacts.get('con_1')).rejects.toMatchObject({ status });
    const media = new MediaClient({ apiKey: 'media_1', baseUrl: own });
    const audio = media.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
    await expect(audio).rejects.toMatchObject({ status });
    expect([paths, seen]).toEqual([['/v1/send', '/contacts/con_1', '/v1/generate/audio'], []]);
  });
});

it('a client sends and uploads through the `fetch` of the undici package, with a custom dispatcher', async () => {
  const { fake, server } = await serve();
  let dispatched = 0;
  const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
    dispatched++;
    return dispatch(options, handler);
  });
  const counted = (url: string, init: object) => undiciFetch(url, { ...init, dispatcher });
  const messaging = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: server.messagingUrl,
    fetch: counted as unknown as typeof globalThis.fetch, // called as `fetch` is
  });
  fake.fail('POST /contacts', { status: 429, retryAfter: 0 });
  const ann = await messaging.contacts.create({ email: 'ann@example.com' });
  await messaging.contacts.import({ data: 'email\nbob@example.com\n' });
  expect([dispatched, ann.email]).toEqual([3, 'ann@example.com']);
  await dispatcher.close();
});
