import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Limits, type ServerKind } from '../rate-limit/servers.js';

/** A service on a real socket that counts accepted and rejected requests. */
export interface CountingService {
  readonly url: string;
  readonly taken: number;
  readonly refused: number;
  /** Resets its limiter. */
  start(): void;
  close(): Promise<void>;
}

const maxJitterMs = 10;

/** Starts a service; each request and each response travels up to 10 ms. */
export async function startService(kind: ServerKind, limits: Limits): Promise<CountingService> {
  let limiter = createServer(kind, limits, 0);
  let startedAt = performance.now();
  let taken = 0;
  let refused = 0;
  const server = createHttpServer((_, response) => {
    void travel().then(async () => {
      const waitMs = limiter.arrive(performance.now() - startedAt);
      taken += waitMs > 0 ? 0 : 1;
      refused += waitMs > 0 ? 1 : 0;
      await travel();
      const headers = { 'content-type': 'application/json' };
      if (waitMs > 0) {
        const retryAfter = String(Math.ceil(waitMs / 1_000));
        response.writeHead(429, { ...headers, 'retry-after': retryAfter });
      } else {
        response.writeHead(200, headers);
      }
      response.end('{"success":true,"data":{"id":"con_1","email":"ann@example.com"}}');
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    get taken() {
      return taken;
    },
    get refused() {
      return refused;
    },
    start() {
      limiter = createServer(kind, limits, 0);
      startedAt = performance.now();
      taken = 0;
      refused = 0;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function travel(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * maxJitterMs));
}
