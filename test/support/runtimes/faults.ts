import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** A fault of the service, or of the network in front of it. */
export interface Fault {
  /** An address without a server. */
  readonly url?: string;
  /** Runs on each new connection, before any request. */
  readonly onConnection?: (socket: Socket) => void;
  /** The certificate that the service presents. */
  readonly certificate?: string;
  /** Answers a whole request; `again` is true if its connection had a request before. */
  readonly answer?: (socket: Socket, response: ServerResponse, again: boolean) => void;
}

const json = '{"success":true,"data":{"id":"con_1","email":"ann@example.com","emails":[]}}';
const half = json.slice(0, 40);
const zipped = gzipSync(json.repeat(20));
const halfZipped = zipped.subarray(0, zipped.length - 20);
const head = (...more: string[]) =>
  ['HTTP/1.1 200 OK', 'Content-Type: application/json', ...more, '', ''].join('\r\n');
const length = `Content-Length: ${json.length}`;
const chunked = 'Transfer-Encoding: chunked';
const gzip = 'Content-Encoding: gzip';
const chunk = (bytes: string | Buffer) =>
  Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ]);

/** Writes the pieces, and closes the connection once they have been sent. */
function cutAfter(socket: Socket, ...pieces: (string | Buffer)[]): void {
  for (const piece of pieces) {
    socket.write(piece);
  }
  socket.end();
}

/**
 * Faults in which no connection opens or a connection is lost, ordered by the phase of the call.
 */
export const faults = {
  // No connection opens.
  'the name is not found': { url: 'http://nobody.invalid' },
  'nothing listens': { url: 'http://127.0.0.1:2' },
  'no way there': { url: 'http://255.255.255.255' },
  'a port that fetch blocks': { url: 'http://127.0.0.1:1' },
  'an unknown certificate': { certificate: 'untrusted' },
  'an expired certificate': { certificate: 'expired' },
  'a certificate of another name': { certificate: 'other-name' },
  'the handshake is closed': {
    certificate: 'valid',
    onConnection: (socket) => socket.once('data', () => socket.destroy()),
  },
  'the handshake is reset': {
    certificate: 'valid',
    onConnection: (socket) => socket.once('data', () => socket.resetAndDestroy()),
  },
  // Part of the request has been sent.
  'reset in the request': {
    onConnection: (socket) => socket.once('data', () => socket.resetAndDestroy()),
  },
  'closed before the answer': { answer: (socket) => socket.destroy() },
  'reset before the answer': { answer: (socket) => socket.resetAndDestroy() },
  'cut in the head': { answer: (socket) => cutAfter(socket, head(length).slice(0, 30)) },
  'cut in the body, which has a length': {
    answer: (socket) => cutAfter(socket, head(length), half),
  },
  'cut in the body, in chunks': {
    answer: (socket) => cutAfter(socket, head(chunked), chunk(half)),
  },
  'cut in the body, until the end': {
    answer: (socket) => cutAfter(socket, head('Connection: close'), half),
  },
  'cut in the body, gzip in chunks': {
    answer: (socket) => cutAfter(socket, head(chunked, gzip), chunk(halfZipped)),
  },
  'cut in the body, gzip until the end': {
    answer: (socket) => cutAfter(socket, head('Connection: close', gzip), halfZipped),
  },
  'no body, gzip until the end': {
    answer: (socket) => cutAfter(socket, head('Connection: close', gzip)),
  },
  'reset in the body': {
    answer: (socket) => {
      socket.write(head(length) + half, () => setTimeout(() => socket.resetAndDestroy(), 20));
    },
  },
  'no answer in time': { answer: () => undefined },
  'no end of the answer in time': { answer: (socket) => socket.write(head(length) + half) },
  'aborted before the answer': { answer: () => undefined },
  'closed when it is used again': {
    answer: (socket, response, again) => (again ? socket.destroy() : whole(response)),
  },
  'reset when it is used again': {
    answer: (socket, response, again) => (again ? socket.resetAndDestroy() : whole(response)),
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;

function whole(response: ServerResponse): void {
  response.setHeader('Content-Type', 'application/json');
  response.end(json);
}

const answerWhole: NonNullable<Fault['answer']> = (_, response) => whole(response);

const certificateFile = (name: string) =>
  fileURLToPath(new URL(`certificates/${name}`, import.meta.url));

/** The certificate authority that a runtime has to trust. */
export const authorityFile = certificateFile('authority.pem');

/** A service with one fault, at a separate address. */
export interface FaultyService {
  readonly url: string;
  /** How often each request arrived whole, by method and path. */
  readonly arrivals: Map<string, number>;
  close(): Promise<void>;
}

export async function openFault(fault: Fault): Promise<FaultyService> {
  const arrivals = new Map<string, number>();
  if (fault.url !== undefined) {
    return { url: fault.url, arrivals, close: () => Promise.resolve() };
  }
  const sockets = new Set<Socket>();
  const server = serverOf(fault, arrivals).on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    sockets.add(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  const scheme = fault.certificate === undefined ? 'http' : 'https';
  const close = async () => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
    await once(server, 'close');
  };
  return { url: `${scheme}://127.0.0.1:${port}`, arrivals, close };
}

function serverOf(fault: Fault, arrivals: Map<string, number>): Server {
  const { onConnection, certificate, answer = answerWhole } = fault;
  if (onConnection) {
    return createServer(onConnection);
  }
  const used = new WeakSet<Socket>();
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', socket } = request;
    request.resume().once('end', () => {
      const key = `${method} ${path}`;
      arrivals.set(key, (arrivals.get(key) ?? 0) + 1);
      answer(socket, response, used.has(socket));
      used.add(socket);
    });
  };
  const options = { keepAliveTimeout: 60_000 };
  if (certificate === undefined) {
    return createHttpServer(options, handle);
  }
  const key = readFileSync(certificateFile('server.key'));
  const cert = readFileSync(certificateFile(`${certificate}.pem`));
  return createHttpsServer({ ...options, key, cert }, handle);
}
