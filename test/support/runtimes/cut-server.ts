import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n';

/** Ways in which a reused connection may end without a whole response. */
const cuts: Readonly<Record<string, (socket: Socket) => void>> = {
  silent: (socket) => socket.destroy(),
  reset: (socket) => socket.resetAndDestroy(),
  'in-status-line': (socket) => socket.end('HTTP/1.1 20'),
  'in-headers': (socket) => socket.end(head),
  'in-body': (socket) => socket.end(`${head}\r\n{"id":`),
};

export const endings = Object.keys(cuts);

/** A service whose first path segment names how its response ends: `/silent/v1/send`. */
export interface CutServer {
  readonly origin: string;
  /** How often each request arrived, by method and path. */
  readonly arrivals: Map<string, number>;
  close(): Promise<void>;
}

export async function openCutServer(): Promise<CutServer> {
  const arrivals = new Map<string, number>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { method = '', url = '' } = request;
    const key = `${method} ${url}`;
    arrivals.set(key, (arrivals.get(key) ?? 0) + 1);
    request.resume();
    request.once('end', () => answer(url, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  return {
    origin: `http://127.0.0.1:${port}`,
    arrivals,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(url: string, response: ServerResponse): void {
  const [, ending = ''] = url.split('/');
  const cut = cuts[ending];
  if (cut && response.socket) {
    cut(response.socket);
    return;
  }
  response.setHeader('Content-Type', 'application/json');
  response.end('{"success":true,"id":"con_1","data":{"fileId":"file_1"},"fileId":"file_1"}');
}
