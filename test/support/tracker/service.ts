import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One `POST /v1/track` as the service read it. */
export interface Arrival {
  readonly event: string;
  readonly email?: string;
  readonly data?: Record<string, unknown>;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  /** Its place among all arrivals, from 0. */
  readonly index: number;
}

/** The service's response to one arrival. */
export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** The response never reaches the page: the connection ends, or the CORS header is missing. */
  readonly isLost?: 'reset' | 'unreadable';
}

export interface Service {
  readonly url: string;
  /** All events that arrived, including rejected ones. */
  readonly arrivals: Arrival[];
  /** The events that were answered with 200. */
  readonly accepted: Arrival[];
  reply: (arrival: Arrival) => Reply | Promise<Reply>;
  reset(): void;
  close(): Promise<void>;
}

/** A real server that accepts events from any origin and records every one. */
export async function startService(): Promise<Service> {
  const ok = () => ({ status: 200 });
  const service = {
    url: '',
    arrivals: [] as Arrival[],
    accepted: [] as Arrival[],
    reply: ok as Service['reply'],
    reset: () => {
      service.arrivals = [];
      service.accepted = [];
      service.reply = ok;
    },
    close: () => close(server),
  };
  const server = createServer((request, response) => void answer(service, request, response));
  service.url = await listen(server);
  return service;
}

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'authorization, content-type',
  'Access-Control-Max-Age': '600',
};

async function answer(service: Service, request: IncomingMessage, response: ServerResponse) {
  if (request.method !== 'POST') {
    return response.writeHead(204, CORS).end();
  }
  const chunks: Buffer[] = [];
  // If a page dies while it sends, its request never completes.
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const event = JSON.parse(Buffer.concat(chunks).toString()) as Omit<
    Arrival,
    'path' | 'headers' | 'index'
  >;
  const { arrivals, accepted } = service;
  const arrival = { ...event, path: request.url, headers: request.headers, index: arrivals.length };
  arrivals.push(arrival);
  const reply = await service.reply(arrival);
  const { status, headers, isLost, body = JSON.stringify({ success: status === 200 }) } = reply;
  if (status === 200 && !reply.body) {
    accepted.push(arrival);
  }
  if (isLost === 'reset') {
    // The connection ends in the middle of the response: before it, Chromium sends the request
    // again by itself.
    response.writeHead(status, { ...CORS, 'Content-Length': '99' }).write('{');
    return setTimeout(() => request.socket.destroy(), 20);
  }
  const consent = isLost ? {} : CORS;
  return response
    .writeHead(status, { ...consent, 'Content-Type': 'application/json', ...headers })
    .end(body);
}

/** The ports used by this process: a reused origin would bring its storage along. */
const used = new Set<number>();

/** Listens on a free port of the loopback address and returns the address. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  if (used.has(port)) {
    await close(server);
    return listen(server);
  }
  used.add(port);
  return `http://127.0.0.1:${port}`;
}

export function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
