import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One `POST /v1/track` as the service read it. */
export interface Arrival {
  readonly event: string;
  readonly email?: string;
  readonly data?: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
  /** Its place among all arrivals, from 0. */
  readonly index: number;
}

/** What the service answers to one arrival; `hang` never answers. */
export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

export interface Service {
  readonly url: string;
  /** Everything that arrived, refusals included. */
  readonly arrivals: Arrival[];
  /** What was answered with 200. */
  readonly accepted: Arrival[];
  reply: (arrival: Arrival) => Reply | Promise<Reply>;
  reset(): void;
  close(): Promise<void>;
}

/** A real server that accepts events from any origin and logs every one. */
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
  // A page that dies while it sends is an arrival that never completes.
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Omit<Arrival, 'headers' | 'index'>;
  const { arrivals, accepted } = service;
  const arrival = { ...body, headers: request.headers, index: arrivals.length };
  arrivals.push(arrival);
  const { status, headers } = await service.reply(arrival);
  if (status === 200) {
    accepted.push(arrival);
  }
  return response
    .writeHead(status, { ...CORS, 'Content-Type': 'application/json', ...headers })
    .end(JSON.stringify({ success: status === 200 }));
}

/** Listens on a free port of the loopback address and returns the address. */
export function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

export function close(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
