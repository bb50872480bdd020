import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  callback,
  plainObject,
  readOptions,
  text,
  wholeNumber,
  type OptionKinds,
} from '../core/options.js';
import { createClock } from './core/clock.js';
import { toResponse, recordOf } from './core/http.js';
import type { RecordedRequest } from './core/types.js';
import { createFakeMedia, type FakeMedia } from './media/create.js';
import type { FakeMediaOptions } from './media/settings.js';
import {
  createFakeMessaging,
  type FakeMessaging,
  type FakeMessagingOptions,
} from './messaging/create.js';

/** Options of {@link startFakeServer}. */
export interface FakeServerOptions {
  /** @default a free port */
  port?: number;
  /** @default '127.0.0.1' */
  host?: string;
  /** Options of the fake at `/messaging`. @default a clock that follows the wall */
  messaging?: Omit<FakeMessagingOptions, 'baseUrl'>;
  /** Options of the fake at `/media`. @default a clock that follows the wall */
  media?: Omit<FakeMediaOptions, 'baseUrl' | 'cdnUrl'>;
  /**
   * For the command: handles requests outside the addresses of the services; `undefined` for a 404. @internal
   */
  page?: (request: Request) => Promise<Response | undefined>;
  /** For the command: called when an exchange has ended, with or without a response. @internal */
  onEnd?: (exchange: ServedRequest) => void;
  /** For the command: called with the text of each response of a service, as it is sent. @internal */
  onAnswer?: (request: RecordedRequest, text: string) => void;
}

const serverKinds: OptionKinds<FakeServerOptions> = {
  port: wholeNumber(0, 65_535),
  host: text,
  messaging: plainObject('the options of `createFakeMessaging()`'),
  media: plainObject('the options of `createFakeMedia()`'),
  page: callback(),
  onEnd: callback(),
  onAnswer: callback(),
};

/** Both fakes on a real socket. */
export interface FakeServer {
  readonly url: string;
  readonly messagingUrl: string;
  readonly mediaUrl: string;
  readonly messaging: FakeMessaging;
  readonly media: FakeMedia;
  /** Stops listening and closes every connection, hanging ones included. */
  close(): Promise<void>;
}

/** Handles a request; rejects if the connection must break. */
type Handle = (request: Request) => Promise<Response>;

/** A request and how it ended. */
export interface ServedRequest {
  readonly method: string;
  /** The path below the server's address, without the query. */
  readonly path: string;
  /** `undefined` if the connection broke before a response. */
  readonly status: number | undefined;
  readonly durationMs: number;
}

/** Starts both fakes behind node:http. */
export async function startFakeServer(given?: FakeServerOptions): Promise<FakeServer> {
  const options = readOptions(given, serverKinds, {
    name: '`startFakeServer()`',
    example: '{ port: 4000 }',
  });
  const { port = 0, host = '127.0.0.1', page, onEnd, onAnswer } = options;
  let handle: Handle = () => Promise.reject(new Error('The fakes are not ready yet.'));
  // Do not import `node:http`, so that bundlers for browsers find no node: module here.
  const server = process.getBuiltinModule('node:http').createServer((incoming, response) => {
    if (onEnd) {
      tellEnd(incoming, response, onEnd);
    }
    void serve({ incoming, response, url: `${url}${incoming.url ?? ''}` }, (r) => handle(r));
  });
  const url = await listen(server, port, host);
  const { messaging, media } = await createFakes(options, url).catch(async (error: unknown) => {
    await close(server);
    throw error;
  });
  handle = async (request) => {
    const [folder = ''] = request.url.slice(url.length + 1).split(/[/?]/);
    if (folder === 'messaging') {
      return reply(messaging, request, onAnswer);
    }
    if (folder === 'media' || folder === 'cdn') {
      return reply(media, request, onAnswer);
    }
    const unknown = () => toResponse({ status: 404, body: 'Use /messaging, /media or /cdn.' });
    return (await page?.(request)) ?? unknown();
  };
  const bases = { messagingUrl: messaging.baseUrl, mediaUrl: media.baseUrl };
  return { url, ...bases, messaging, media, close: () => close(server) };
}

// The keys of the server; constant, so that they can stay in `.env` files.
const servedKeys = {
  messaging: { secretKey: 'sk_000003', publicKey: 'pk_000004' },
  media: { apiKey: 'media_key_000001' },
};

// Async, so that what the fakes refuse in their options is a rejection.
// eslint-disable-next-line @typescript-eslint/require-await -- see above
async function createFakes({ messaging, media }: FakeServerOptions, url: string) {
  const clock = createClock({ mode: 'real' });
  return {
    messaging: createFakeMessaging({
      ...servedKeys.messaging,
      ...messaging,
      clock: messaging?.clock ?? clock,
      baseUrl: `${url}/messaging`,
    }),
    media: createFakeMedia({
      ...servedKeys.media,
      ...media,
      clock: media?.clock ?? clock,
      baseUrl: `${url}/media`,
      cdnUrl: `${url}/cdn`,
    }),
  };
}

async function reply(
  fake: FakeMessaging | FakeMedia,
  request: Request,
  onAnswer: FakeServerOptions['onAnswer'],
): Promise<Response> {
  const answer = await fake.handle(request);
  const record = recordOf.get(answer);
  if (onAnswer && record && /json|text/.test(answer.headers.get('content-type') ?? '')) {
    // Ignore a response that breaks off: it has no complete text.
    answer
      .clone()
      .text()
      .then((text) => onAnswer(record, text), noop);
  }
  return answer;
}

function tellEnd(
  { method = 'GET', url = '' }: IncomingMessage,
  response: ServerResponse,
  onEnd: (exchange: ServedRequest) => void,
): void {
  const startedAt = performance.now();
  response.once('close', () => {
    const status = response.headersSent ? response.statusCode : undefined;
    const [path = ''] = url.split('?');
    onEnd({ method, path, status, durationMs: performance.now() - startedAt });
  });
}

// A server can listen on "every address of this machine", but a client cannot connect to that address.
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' ? address?.port : undefined;
      const name = reachable[host] ?? host;
      resolve(`http://${name.includes(':') ? `[${name}]` : name}:${bound ?? port}`);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

interface Connection {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: string;
}

/** Handles one connection; after any error the caller sees a broken connection. */
async function serve({ incoming, response, url }: Connection, handle: Handle): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    allowOrigin(incoming, response);
    if (incoming.method === 'OPTIONS') {
      answerPreflight(response);
      return;
    }
    const request = await toRequest(incoming, url, gone.signal);
    await send(await handle(request), response);
  } catch {
    response.destroy();
  }
}

/**
 * Allows requests of browsers from another origin, with cookies for sessions; exposes the headers of
 * downloads only.
 */
function allowOrigin({ headers, url = '' }: IncomingMessage, response: ServerResponse): void {
  const { origin } = headers;
  if (origin === undefined) {
    return;
  }
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
  response.setHeader('Vary', 'Origin');
  if (!url.startsWith('/cdn/')) {
    return;
  }
  const shown = 'Accept-Ranges, Content-Length, Content-Range, ETag';
  response.setHeader('Access-Control-Expose-Headers', shown);
}

/** Allows the two headers that the documents name, and Range for downloads. */
function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, Range',
  });
  response.end();
}

async function toRequest(
  incoming: IncomingMessage,
  url: string,
  signal: AbortSignal,
): Promise<Request> {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) {
      headers.append(name, value);
    }
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) {
    chunks.push(chunk as Uint8Array);
  } // as: no encoding is set, so chunks are bytes
  const body = chunks.length === 0 ? null : Buffer.concat(chunks);
  return new Request(url, { method: incoming.method ?? 'GET', headers, body, signal });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.setHeader('Server', 'postreel-fake'); // `postreel doctor` checks this header
  for (const [name, value] of answer.headers) {
    if (name !== 'set-cookie') {
      response.setHeader(name, value);
    }
  }
  response.setHeader('Set-Cookie', answer.headers.getSetCookie());
  response.writeHead(answer.status);
  const reader = answer.body?.getReader();
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (value === undefined) {
      break;
    }
    // Wait for each chunk, so that half of the response has been sent before the connection breaks.
    await new Promise((resolve) => response.write(value, resolve));
  }
  response.end();
}

function noop(): void {
  // Ignores the rejection of a promise.
}
