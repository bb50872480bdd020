import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import nodeFetch from 'node-fetch';
import { MessagingClient } from 'postreel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// Its types are written for another version of TypeScript's own.
const nodeFetch2: unknown = createRequire(import.meta.url)('node-fetch-2');
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const long = 'x'.repeat(1024 * 1024);

let requests = 0;
let sentBytes = 0;
const server = createServer((request, response) => {
  requests++;
  const kind = request.headers['x-kind'];
  const text = JSON.stringify({ success: true, data: { emails: [], kind, long } });
  request.resume();
  if (kind === 'compressed') {
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync(text));
  } else if (kind === 'chunked') {
    response.write('{"success":true,');
    setTimeout(() => response.end(text.slice('{"success":true,'.length)), 5);
  } else if (kind === 'stalled') {
    response.write('{"success":true,');
  } else if (kind === 'endless') {
    sendWithoutEnd(response);
  } else {
    response.setHeader('content-length', text.length);
    response.end(text);
  }
});

function sendWithoutEnd(response: ServerResponse): void {
  response.writeHead(500);
  const more = () => {
    let hasRoom = true;
    while (!response.destroyed && hasRoom) {
      hasRoom = response.write(long);
      sentBytes += long.length;
    }
    response.once('drain', more);
  };
  more();
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.each([
  ['node-fetch 2', nodeFetch2],
  ['node-fetch 3', nodeFetch],
])('a client over %s', (_name, fetch) => {
  const client = () =>
    new MessagingClient({
      apiKey: 'sk_test_key',
      baseUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
      fetch: fetch as typeof globalThis.fetch, // called as `fetch` is
    });

  it.each(['compressed', 'chunked', 'long'])('reads a %s answer', async (kind) => {
    requests = 0;
    const sent = await client().send(mail, { headers: { 'x-kind': kind } });
    expect(sent).toMatchObject({ kind, long });
    expect(requests).toBe(1);
  });

  it('reads a refusal without an end for 64 KB', async () => {
    sentBytes = 0;
    const options = { headers: { 'x-kind': 'endless' }, timeout: 2_000 };
    const { error } = await client().send(mail, options).safe();
    expect(error).toMatchObject({ status: 500, outcome: 'unknown' });
    // What the sockets hold is more than what is read.
    expect(sentBytes).toBeLessThan(32 * 1024 * 1024);
  });

  it('lets go of an answer that stalls when its time is up', async () => {
    requests = 0;
    const options = { headers: { 'x-kind': 'stalled' }, timeout: 200 };
    const { error } = await client().send(mail, options).safe();
    expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
    expect(requests).toBe(1);
  });
});
