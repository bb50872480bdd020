import { createServer, type Server, type Socket } from 'node:net';
import nodeFetch from 'node-fetch';
import { createRequire } from 'node:module';
import { MessagingClient, type MessagingOptions, type Outcome } from 'postreel';
import * as undici from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { holdLaw, type Subject } from './exceptions.js';

// Its types are written for another version of TypeScript's own.
const nodeFetch2: unknown = createRequire(import.meta.url)('node-fetch-2');

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

/** Every way to send that a user may have. */
const senders = {
  global: undefined,
  undici: undici.fetch,
  'undici with a dispatcher': (url: string, init: undici.RequestInit) =>
    undici.fetch(url, { ...init, dispatcher: agent }),
  'node-fetch 2': nodeFetch2,
  'node-fetch 3': nodeFetch,
} as const;
const agent = new undici.Agent();
type Sender = keyof typeof senders;
const ofNode: readonly Sender[] = ['node-fetch 2', 'node-fetch 3'];

interface Phase {
  readonly scheme: 'http' | 'https';
  /** What the other end does with a connection; without it nobody listens there. */
  readonly serve?: (socket: Socket) => void;
  readonly outcome: Outcome;
  /** Senders that do not tell enough to prove it. */
  readonly unknownTo?: readonly Sender[];
  readonly options?: MessagingOptions;
}

const onData = (answer: (socket: Socket) => void) => (socket: Socket) => {
  socket.once('data', () => answer(socket));
};
const handshakeAlert = Buffer.from([21, 3, 3, 0, 2, 2, 40]);
const half = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{"suc';

/** Where a call can break. */
const phases: Readonly<Record<string, Phase>> = {
  'nothing listens': { scheme: 'http', outcome: 'not-sent' },
  'nothing listens, with TLS': { scheme: 'https', outcome: 'not-sent' },
  'the handshake is answered in plain text': {
    scheme: 'https',
    serve: onData((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    outcome: 'not-sent',
    unknownTo: ofNode,
  },
  'the handshake ends with an alert': {
    scheme: 'https',
    serve: onData((socket) => socket.end(handshakeAlert)),
    outcome: 'not-sent',
    unknownTo: ofNode,
  },
  'the handshake is reset': {
    scheme: 'https',
    serve: onData((socket) => socket.resetAndDestroy()),
    outcome: 'not-sent',
    unknownTo: ofNode,
  },
  'the handshake is closed': {
    scheme: 'https',
    serve: onData((socket) => socket.end()),
    outcome: 'not-sent',
    unknownTo: ofNode,
  },
  'the handshake is not answered': {
    scheme: 'https',
    serve: () => undefined,
    outcome: 'not-sent',
    // Theirs may still be on its way when the call has given up.
    unknownTo: ['undici', 'undici with a dispatcher', ...ofNode],
    options: { timeout: 100 },
  },
  'the request is read and reset': {
    scheme: 'http',
    serve: onData((socket) => socket.resetAndDestroy()),
    outcome: 'unknown',
  },
  'the request is read and not answered': {
    scheme: 'http',
    serve: onData((socket) => socket.end()),
    outcome: 'unknown',
  },
  'the request is read, in silence': {
    scheme: 'http',
    serve: () => undefined,
    outcome: 'unknown',
    options: { timeout: 100 },
  },
  'half of a head': {
    scheme: 'http',
    serve: onData((socket) => socket.end('HTTP/1.1 200 OK\r\nconte')),
    outcome: 'unknown',
  },
  'half of a body': {
    scheme: 'http',
    serve: onData((socket) => socket.end(half)),
    outcome: 'unknown',
  },
  'an answer in another language': {
    scheme: 'http',
    serve: onData((socket) => socket.end('220 mail.test ESMTP\r\n')),
    outcome: 'unknown',
  },
};

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => closed(server)));
});

it('3: an outcome is proven by the phase in which a call broke, whatever sent it', async () => {
  const subjects = Object.entries(phases).flatMap(([name, phase]) =>
    (Object.keys(senders) as Sender[]).map((sender): Subject => ({
      name: `${name}: ${sender}`,
      check: () => tryOut(phase, sender),
    })),
  );
  await holdLaw('an outcome is proven, by phases', subjects);
});

async function tryOut(phase: Phase, sender: Sender): Promise<void> {
  const isUnknown = phase.unknownTo?.includes(sender) ?? false;
  const { baseUrl, connections } = await listen(phase);
  const { error } = await clientOf(baseUrl, senders[sender], phase.options).send(mail).safe();
  expect(error?.outcome).toBe(isUnknown ? 'unknown' : phase.outcome);
  // A mail that may have left is not sent again.
  expect(connections()).toBe(phase.serve ? 1 : 0);
}

describe('an outcome, among calls like it', () => {
  it('is `not-sent` for each of many calls whose handshakes fail', async () => {
    const { baseUrl } = await listen(phases['the handshake is reset']!);
    const client = clientOf(baseUrl, undefined);
    const results = await Promise.all(Array.from({ length: 8 }, () => client.send(mail).safe()));
    expect(results.map(({ error }) => error?.outcome)).toEqual(Array(8).fill('not-sent'));
  });

  it('is `unknown` for a call that left while another one could not connect', async () => {
    let count = 0;
    const { baseUrl } = await listen({
      ...phases['nothing listens']!,
      serve: (socket) => {
        count++;
        socket.once('data', () => socket.resetAndDestroy());
      },
    });
    const client = clientOf(baseUrl, undefined);
    const results = await Promise.all(Array.from({ length: 4 }, () => client.send(mail).safe()));
    expect(results.map(({ error }) => error?.outcome)).toEqual(Array(4).fill('unknown'));
    expect(count).toBe(4);
  });

  it('is `unknown` when a `fetch` gives up before the request in it has', async () => {
    const { baseUrl } = await listen(phases['the handshake is not answered']!);
    const impatient = (url: string, init: RequestInit) =>
      Promise.race([
        fetch(url, { ...init, signal: null }),
        new Promise<never>((_, reject) => setTimeout(() => reject(new Error('too slow')), 50)),
      ]);
    const { error } = await clientOf(baseUrl, impatient).send(mail).safe();
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', outcome: 'unknown' });
  });

  it.each(['undici', 'global'] as const)(
    'is `unknown` when a call had an effect and %s followed its redirect to a dead end',
    async (sender) => {
      const dead = await listen({ scheme: 'http', outcome: 'not-sent' });
      const answer = `HTTP/1.1 303 See Other\r\nlocation: ${dead.baseUrl}/v1/send\r\ncontent-length: 0\r\n\r\n`;
      const { baseUrl } = await listen({
        scheme: 'http',
        serve: onData((socket) => socket.end(answer)),
        outcome: 'unknown',
      });
      const send = senders[sender] ?? fetch;
      const follow = (url: string, init: object) =>
        (send as typeof fetch)(url, { ...init, redirect: 'follow' });
      const { error } = await clientOf(baseUrl, follow).send(mail).safe();
      expect(error?.outcome).toBe('unknown');
    },
  );

  it('is `not-sent` for a call that was aborted while it connected', async () => {
    const { baseUrl } = await listen(phases['the handshake is not answered']!);
    const controller = new AbortController();
    const call = clientOf(baseUrl, undefined).send(mail, { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 50);
    const { error } = await call.safe();
    expect(error).toMatchObject({ code: 'ABORTED', cause: 'enough', outcome: 'not-sent' });
  });

  it('is repeated after a timeout only where the request never left', async () => {
    const { baseUrl, connections } = await listen(phases['the handshake is not answered']!);
    const options = { timeout: 50, retries: 1 };
    const { error } = await clientOf(baseUrl, undefined, options).send(mail).safe();
    expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'not-sent' });
    expect(error?.message).toMatch(/could not reach 127\.0\.0\.1:\d+ within 50 ms\.$/);
    expect(connections()).toBeGreaterThanOrEqual(1);
  });
});

describe('a proxy that refuses the tunnel', () => {
  it.each([407, 403, 502])('with %i has sent nothing', async (status) => {
    const proxy = await listen({
      scheme: 'http',
      serve: onData((socket) => socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)),
      outcome: 'not-sent',
    });
    const dispatcher = new undici.ProxyAgent(proxy.baseUrl);
    for (const send of [undici.fetch as unknown as typeof fetch, fetch]) {
      const through = (url: string, init: object) =>
        send(url, { ...init, dispatcher } as RequestInit);
      const { error } = await clientOf('https://messaging.test', through).send(mail).safe();
      expect(error).toMatchObject({ code: 'NOT_CONNECTED', outcome: 'not-sent' });
      expect(error?.message).toBe(
        `POST /v1/send could not reach messaging.test (the proxy refused: ${status}).`,
      );
    }
    await dispatcher.close();
  });
});

async function listen({ scheme, serve }: Phase) {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined);
    sockets.add(socket);
    serve?.(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  if (serve) {
    servers.push(server);
  } else {
    await closed(server);
  }
  return { baseUrl: `${scheme}://127.0.0.1:${port}`, connections: () => connections };
}

const sockets = new Set<Socket>();

async function closed(server: Server): Promise<void> {
  for (const socket of sockets) {
    socket.destroy();
  }
  sockets.clear();
  await new Promise((resolve) => server.close(resolve));
}

function clientOf(baseUrl: string, fetch: unknown, options: MessagingOptions = {}) {
  return new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl,
    retries: 0,
    timeout: 5_000,
    fetch: fetch as typeof globalThis.fetch | undefined, // each is called as `fetch` is
    ...options,
  });
}
