import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { MessagingClient, type MessagingOptions } from 'postreel';
import nodeFetch from 'node-fetch';
import * as undici from 'undici';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { faults, openFault, type FaultName } from '../../support/runtimes/faults.js';

// Its types are written for another version of TypeScript.
const nodeFetch2: unknown = createRequire(import.meta.url)('node-fetch-2');
const agent = new undici.Agent();

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

/**
 * Other implementations of `fetch` that a user may pass; test/runtimes covers the runtimes'
 * built-in ones.
 */
const senders = {
  undici: undici.fetch,
  'undici with a dispatcher': (url: string, init: undici.RequestInit) =>
    undici.fetch(url, { ...init, dispatcher: agent }),
  'node-fetch 2': nodeFetch2,
  'node-fetch 3': nodeFetch,
} as const;

function clientOf(baseUrl: string, fetch: unknown, options: MessagingOptions = {}) {
  return new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl,
    dangerouslyAllowPlainHttp: true,
    retries: 0,
    fetch: fetch as typeof globalThis.fetch | undefined, // as: each is called like `fetch`
    ...options,
  });
}

const proven: readonly FaultName[] = [
  'the name is not found',
  'nothing listens',
  'no way there',
  'an unknown certificate',
  'an expired certificate',
  'a certificate of another name',
];
// Only some implementations block these ports; for the others, no server listens there.
const blocked: FaultName = 'a port that fetch blocks';
const beforeItArrives: readonly FaultName[] = [
  'the handshake is closed',
  'the handshake is reset',
  'reset in the request',
];
const afterItArrived = (Object.keys(faults) as FaultName[]).filter(
  (fault) => ![...proven, blocked, ...beforeItArrives].includes(fault) && !/again/.test(fault),
);

afterEach(() => {
  vi.unstubAllGlobals();
});

describe.each(Object.entries(senders))('a mail sent by %s', (sender, fetch) => {
  it.each([...proven, blocked])('is not sent: %s', async (fault) => {
    const { error, arrivals } = await sendInto(fault, fetch);
    expect(error).toMatchObject({ code: 'NOT_CONNECTED', outcome: 'not-sent' });
    expect(arrivals).toBe(0);
  });

  it.each(beforeItArrives)('may have been sent: %s', async (fault) => {
    const { error, arrivals } = await sendInto(fault, fetch);
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
    expect(arrivals).toBe(0);
  });

  it.each(afterItArrived)('arrives once, and may have been sent: %s', async (fault) => {
    // node-fetch 2 waits for the rest of a body that has a length.
    const isUnnoticed =
      sender === 'node-fetch 2' && fault === 'cut in the body, which has a length';
    const isTimeout = isUnnoticed || /in time|aborted/.test(fault);
    const { error, arrivals } = await sendInto(fault, fetch, isTimeout ? 150 : 10_000);
    const code = isTimeout ? 'TIMEOUT' : 'CONNECTION_LOST';
    expect(error).toMatchObject({ code, outcome: 'unknown' });
    expect(arrivals).toBe(1);
  });
});

async function sendInto(fault: FaultName, fetch: unknown, timeout = 10_000) {
  const service = await openFault(faults[fault]);
  onTestFinished(() => service.close());
  const { url, arrivals } = service;
  const { error } = await clientOf(url, fetch, { timeout }).send(mail).safe();
  return { error, arrivals: arrivals.get('POST /v1/send') ?? 0 };
}

describe('a patched `fetch`', () => {
  it("that replaces the client's signal with a time limit of five seconds sends one mail, which may have been sent", async () => {
    const { url, mails } = await openService();
    // A name server that needs longer than the time limit of the call.
    const slow = new undici.Agent({
      connect: {
        lookup: (_name, _options, found) =>
          setTimeout(() => found(null, [{ address: '127.0.0.1', family: 4 }]), 400),
      },
    });
    const fetchWithTimeLimit = (to: string, init: undici.RequestInit) =>
      undici.fetch(to, { ...init, dispatcher: slow, signal: AbortSignal.timeout(5_000) });
    vi.stubGlobal('fetch', fetchWithTimeLimit);
    const client = clientOf(url.replace('127.0.0.1', 'mail.localhost'), undefined, {
      timeout: 150,
      retries: 2,
    });
    const call = client.send(mail);
    const { error } = await call.safe();
    expect([error?.code, error?.outcome, call.outcome]).toEqual(['TIMEOUT', 'unknown', 'unknown']);
    await vi.waitFor(() => expect(mails()).toBe(1), { timeout: 5_000 });
    await new Promise((resolve) => setTimeout(resolve, 600)); // time for a second mail
    expect(mails()).toBe(1);
    await slow.close();
  });

  it('that gives up before the `fetch` inside it may have sent the mail', async () => {
    const silent = await openFault(faults['no answer in time']);
    onTestFinished(() => silent.close());
    const giveUpEarly = (to: string, init: RequestInit) =>
      Promise.race([
        fetch(to, { ...init, signal: null }).catch(() => new Promise<never>(() => undefined)),
        new Promise<never>((_, reject) => setTimeout(() => reject(new Error('too slow')), 50)),
      ]);
    const { error } = await clientOf(silent.url, giveUpEarly).send(mail).safe();
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
    expect(error?.message).toContain('(too slow)');
  });

  it.each([
    ['undici', undici.fetch],
    ['the global one', fetch],
  ])('that is %s and follows a redirect to a dead end has sent the mail', async (_, send) => {
    const dead = await openFault(faults['nothing listens']);
    const { url, mails } = await openService(303, { location: `${dead.url}/v1/send` });
    const follow = (to: string, init: object) =>
      (send as typeof fetch)(to, { ...init, redirect: 'follow' }); // as: both are called like `fetch`
    const { error } = await clientOf(url, follow).send(mail).safe();
    expect(error?.outcome).toBe('unknown');
    expect(mails()).toBe(1);
  });
});

it.each([407, 403, 502])(
  'an error of a proxy that refuses the tunnel with %i names the proxy',
  async (status) => {
    const proxy = createServer().on('connect', (_, socket) =>
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`),
    );
    const { url } = await listen(proxy);
    const dispatcher = new undici.ProxyAgent(url);
    const through = (to: string, init: undici.RequestInit) =>
      undici.fetch(to, { ...init, dispatcher });
    const { error } = await clientOf('https://messaging.test', through).send(mail).safe();
    // No code of undici proves that the request was not sent.
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
    expect(error?.message).toContain(`(Proxy response (${status}) !== 200 when HTTP Tunneling)`);
    await dispatcher.close();
  },
);

/** A service that counts its mails. */
async function openService(status = 200, headers: Record<string, string> = {}) {
  let mails = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      mails++;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end('{"success":true,"data":{"emails":[]}}');
    });
  });
  return { ...(await listen(server)), mails: () => mails };
}

async function listen(server: ReturnType<typeof createServer>): Promise<{ url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  return { url: `http://127.0.0.1:${port}` };
}
