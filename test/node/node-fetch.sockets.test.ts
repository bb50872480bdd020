import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { MessagingClient } from 'postreel';
import { nodeFetch } from 'postreel/node';
import { Agent } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';

const ends: (() => void)[] = [];
afterEach(() => ends.splice(0).forEach((end) => end()));

describe('nodeFetch()', () => {
  it('carries the key, and reads an answer that is compressed', async () => {
    const { client, seen } = await serviceThat((_request, response) => {
      response.setHeader('content-encoding', 'gzip').end(gzipSync('{"id":"con_1"}'));
    });
    await expect(client.contacts.get('con_1')).resolves.toMatchObject({ id: 'con_1' });
    expect(seen[0]?.headers.authorization).toBe('Bearer sk_test_key');
  });

  it('reads an answer whose length nobody told', async () => {
    const { client } = await serviceThat((_request, response) => {
      response.write('{"id":');
      response.end('"con_1"}');
    });
    await expect(client.contacts.get('con_1')).resolves.toMatchObject({ id: 'con_1' });
  });

  it.each([
    ['text', 'email\nann@example.com'],
    ['bytes', new TextEncoder().encode('email\nann@example.com')],
    ['a Blob', new Blob(['email\nann@example.com'])],
  ])('sends a form with its boundary and its length: %s', async (_kind, data) => {
    let sent = '';
    const { client, seen } = await serviceThat((request, response) => {
      request.on('data', (chunk: Buffer) => {
        sent += chunk.toString();
      });
      request.on('end', () => response.end('{"jobId":"job_1"}'));
    });
    await client.contacts.import({ data, filename: 'people.csv' });
    expect(seen[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(sent).toContain('\r\n\r\nemail\nann@example.com\r\n--');
    expect(Number(seen[0]?.headers['content-length'])).toBe(sent.length);
  });

  it.each([
    ['timeout', { timeout: 50 }],
    ['abort', { signal: AbortSignal.timeout(50) }],
  ] as const)('closes the connection after an %s', async (_what, options) => {
    const { client, closed } = await serviceThat((_request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('{');
    });
    await expect(client.contacts.get('con_1', { retries: 0, ...options })).rejects.toThrow();
    await closed();
  });

  it('says where an answer came from, as `fetch` does', async () => {
    const { client } = await serviceThat((_request, response) => {
      response.end('{"id":"con_1"}');
    });
    const { response } = await client.contacts.get('con_1').withResponse();
    expect(new URL(response.url).pathname).toBe('/contacts/con_1');
  });

  it('follows no redirect', async () => {
    const { client, seen } = await serviceThat((_request, response) => {
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    await expect(client.contacts.get('con_1')).rejects.toThrow('redirect');
    expect(seen).toHaveLength(1);
  });

  it('says that nothing was sent when nobody listens', async () => {
    const { client, close } = await serviceThat(() => undefined);
    await close();
    await expect(client.contacts.get('con_1', { retries: 0 })).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      outcome: 'not-sent',
    });
  });

  it('connects with the dispatcher it is given', async () => {
    const agent = new Agent();
    let dispatched = 0;
    const counting = agent.compose((dispatch) => (options, handler) => {
      dispatched++;
      return dispatch(options, handler);
    });
    const { client } = await serviceThat((_request, response) => response.end('{}'), counting);
    await client.contacts.get('con_1');
    expect(dispatched).toBe(1);
    await agent.close();
  });
});

async function serviceThat(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
  dispatcher?: Agent | ReturnType<Agent['compose']>,
) {
  const seen: IncomingMessage[] = [];
  const closing: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    closing.push(once(request.socket, 'close'));
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  ends.push(() => void close());
  const { port } = server.address() as AddressInfo; // a TCP server
  const client = new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl: `http://127.0.0.1:${port}`,
    rateLimit: false,
    fetch: nodeFetch({ dispatcher }),
  });
  return { client, seen, close, closed: () => Promise.all(closing) };
}
