import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClock, startFakeServer, type FakeServer } from 'postreel/testing';
import { newContact } from '../support/testing/faces.js';

let server: FakeServer;
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(() => server.close());

/** A raw request, to see what happens on the socket itself. */
function send(path: string, method = 'GET', agent?: Agent) {
  const headers = { authorization: `Bearer ${server.messaging.secretKey}` };
  return request(server.url + path, { method, headers, ...(agent && { agent }) });
}

async function answerOf(path: string): Promise<IncomingMessage> {
  const outgoing = send(path);
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]; // as: node's event
  return answer;
}

describe('faults on real sockets', () => {
  it('drop destroys the socket before an answer', async () => {
    server.messaging.fail('GET /contacts', { drop: true });
    const outgoing = send('/messaging/contacts');
    outgoing.end();
    const [error] = (await once(outgoing, 'error')) as [NodeJS.ErrnoException]; // as: node's event
    expect(error.code).toBe('ECONNRESET');
  });

  it('hang keeps the socket open without a byte, and close() ends it', async () => {
    server.messaging.fail('GET /contacts', { hang: true });
    const outgoing = send('/messaging/contacts');
    outgoing.end();
    await expect.poll(() => server.messaging.requests.length).toBe(1);
    const socket = outgoing.socket!;
    expect([socket.bytesRead, socket.destroyed]).toEqual([0, false]);
    const broken = once(outgoing, 'error');
    await server.close();
    await broken;
  });

  it('truncate announces all bytes, sends half and destroys the socket', async () => {
    server.messaging.fail('GET /contacts', { truncate: true });
    const answer = await answerOf('/messaging/contacts');
    let read = 0;
    answer.on('data', (chunk: Uint8Array) => {
      read += chunk.length;
    });
    const [error] = (await once(answer, 'error')) as [NodeJS.ErrnoException]; // as: node's event
    expect(error.code).toBe('ECONNRESET');
    expect(read).toBe(Math.floor(Number(answer.headers['content-length']) / 2));
  });

  it('a broken download has sent half of the file', async () => {
    const { media } = server;
    media.outcome({ after: 0 });
    await fetch(`${media.baseUrl}/v1/generate/audio`, {
      method: 'POST',
      headers: { authorization: `Bearer ${media.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'Bees fly.', voiceId: 'voice_1' }),
    });
    await media.advance(0);
    media.fail('GET /cdn/{file}', { truncate: true });
    const response = await fetch(media.files[0]!.download!);
    let read = 0;
    const readAll = async () => {
      for await (const chunk of response.body!) {
        read += chunk.length;
      }
    };
    await expect(readAll()).rejects.toThrow();
    expect([response.headers.get('content-length'), read]).toEqual(['1008', 504]);
  });

  it('a connection goes on after an answer, broken JSON included', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    server.messaging.fail('GET /contacts', { malformed: true });
    const sockets = new Set<unknown>();
    for (let call = 0; call < 2; call += 1) {
      const outgoing = send('/messaging/contacts', 'GET', agent);
      outgoing.end();
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]; // as: node's event
      sockets.add(answer.socket);
      answer.resume();
      await once(answer, 'end');
    }
    agent.destroy();
    expect(sockets.size).toBe(1);
  });
});

describe('a caller that goes away', () => {
  it('is noticed, and the server goes on', async () => {
    server.messaging.fail('POST /contacts', { hang: true });
    const url = `${server.messagingUrl}/contacts`;
    const signal = AbortSignal.timeout(50);
    await expect(fetch(url, { ...newContact(server.messaging), signal })).rejects.toThrow();
    expect((await fetch(url, newContact(server.messaging))).status).toBeLessThan(300);
  });
});

describe('browsers', () => {
  const origin = 'https://shop.example';

  it('get their preflight answered, for the headers of the documents', async () => {
    const response = await fetch(`${server.messagingUrl}/v1/track`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'Authorization, Content-Type, Range',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    });
    expect(server.messaging.requests).toEqual([]);
  });

  it('may read every answer, errors included, but not its headers', async () => {
    const response = await fetch(`${server.messagingUrl}/contacts`, { headers: { origin } });
    expect(response.status).toBe(401);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-allow-credentials')).toBe('true');
    expect(response.headers.has('access-control-expose-headers')).toBe(false);
  });

  it('may read what a download needs to be resumed', async () => {
    const response = await fetch(`${server.url}/cdn/nothing.mp4`, { headers: { origin } });
    expect(response.headers.get('access-control-expose-headers')).toContain('Content-Range');
  });

  it('only they get such headers', async () => {
    const response = await fetch(`${server.messagingUrl}/config`);
    expect(response.headers.has('access-control-allow-origin')).toBe(false);
    expect(response.headers.has('set-cookie')).toBe(false);
  });
});

describe('startFakeServer', () => {
  it('serves both services and the downloads under one address', () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(server).toMatchObject({
      messagingUrl: `${server.url}/messaging`,
      mediaUrl: `${server.url}/media`,
      messaging: { baseUrl: `${server.url}/messaging` },
      media: { baseUrl: `${server.url}/media`, cdnUrl: `${server.url}/cdn` },
    });
  });

  it.each(['/', '/elsewhere', '/messagings/contacts'])('is 404 for %s', async (path) => {
    expect((await fetch(server.url + path)).status).toBe(404);
  });

  it('runs on a clock that follows the wall, unless given another', async () => {
    expect(Math.abs(server.media.clock.now() - Date.now())).toBeLessThan(1_000);
    expect(server.media.clock).toBe(server.messaging.clock);
    const clock = createClock({ start: 0 });
    const other = await startFakeServer({ media: { clock } });
    expect(other.media.clock.now()).toBe(0);
    await other.close();
  });

  it('passes session cookies on', async () => {
    const { email, password } = server.messaging.owner;
    const response = await fetch(`${server.messagingUrl}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    expect(response.headers.getSetCookie()).toHaveLength(1);
  });

  it('refuses a port that is taken', async () => {
    const port = Number(new URL(server.url).port);
    await expect(startFakeServer({ port })).rejects.toThrow('EADDRINUSE');
  });

  it('refuses connections after close()', async () => {
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow(TypeError);
  });
});
