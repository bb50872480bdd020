import { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher, request } from 'undici';
import { direct } from '../contract/client-options.js';
import { ConfigurationError } from '../errors/index.js';
import { multipartOf } from './multipart.js';

/** How {@link nodeFetch} connects. */
export interface NodeFetchOptions {
  /**
   * What holds the connections: an `Agent`, `Pool` or `ProxyAgent` of undici, for a proxy, your own
   * certificates or other limits.
   * @default an `Agent` of its own
   */
  dispatcher?: UndiciDispatcher | undefined;
}

/** Any dispatcher of undici 7 or 8. */
export interface UndiciDispatcher {
  /** Sends one request. */
  dispatch(options: never, handler: never): boolean;
  /** Closes the connections once their requests have ended. */
  close(): Promise<void>;
}

/**
 * A `fetch` for clients on Node that talks to undici directly and costs about half of the global
 * one. It needs the package `undici` (7 or 8), and serves the clients of this package only: it
 * takes an address and an init, and follows no redirects.
 * @example
 * const messaging = new MessagingClient({ fetch: nodeFetch() });
 */
export function nodeFetch({ dispatcher }: NodeFetchOptions = {}): typeof globalThis.fetch {
  let loading: Promise<Connected> | undefined;
  const fetch = async (input: string | URL | Request, init: RequestInit = {}) => {
    loading ??= connect(dispatcher);
    const { request, agent } = await loading;
    const address = input instanceof Request ? input.url : input;
    const answer = await request(address, {
      dispatcher: agent,
      method: init.method ?? 'GET',
      signal: init.signal ?? null,
      ...contentOf(init),
    });
    return new NodeResponse(answer, String(address));
  };
  return Object.assign(fetch, { [direct]: true });
}

interface Connected {
  readonly request: typeof request;
  readonly agent: Dispatcher;
}

async function connect(dispatcher: UndiciDispatcher | undefined): Promise<Connected> {
  const { request, Agent } = await import('undici').catch((cause: unknown) => {
    const message = '`nodeFetch()` needs the package undici: run `npm install undici`.';
    throw new ConfigurationError(message, { code: 'PEER_MISSING', outcome: 'not-sent', cause });
  });
  return { request, agent: (dispatcher as Dispatcher | undefined) ?? new Agent() }; // so it says
}

/** The headers and body of a request as undici takes them. */
function contentOf({ headers, body, cache }: RequestInit) {
  const all: Record<string, string> = {
    accept: '*/*',
    'accept-encoding': 'gzip, deflate, br',
    'user-agent': 'node',
    ...(cache === 'no-store' && { 'cache-control': 'no-cache', pragma: 'no-cache' }),
    ...(headers as Record<string, string> | undefined), // ours are a record
  };
  if (body === undefined || body === null || typeof body === 'string') {
    return { headers: all, body: body ?? null };
  }
  if (body instanceof Uint8Array) {
    return { headers: all, body };
  }
  const form = multipartOf(body as FormData); // the only other body of ours
  all['content-type'] ??= form.contentType;
  all['content-length'] = String(form.length);
  return { headers: all, body: Readable.from(form.body, { objectMode: false }) };
}

/** An answer whose body comes straight from undici. */
class NodeResponse extends Response {
  readonly #answer: Dispatcher.ResponseData;
  readonly #url: string;
  #stream: ReadableStream<Uint8Array> | undefined;

  constructor(answer: Dispatcher.ResponseData, url: string) {
    super(null, { status: answer.statusCode, headers: pairsOf(answer.headers) });
    this.#answer = answer;
    this.#url = url;
  }

  /** Where the answer came from: no redirect was followed. */
  override get url(): string {
    return this.#url;
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    const { body } = this.#answer;
    this.#stream ??= Readable.toWeb(decoded(body, this.headers)) as ReadableStream<Uint8Array>;
    return this.#stream as ReadableStream<Uint8Array<ArrayBuffer>>; // what undici reads into
  }

  override get bodyUsed(): boolean {
    return this.#answer.body.bodyUsed;
  }

  override text(): Promise<string> {
    const isPlain = this.#stream === undefined && this.headers.get('content-encoding') === null;
    return isPlain ? this.#answer.body.text() : new Response(this.body).text();
  }
}

function pairsOf(headers: Dispatcher.ResponseData['headers']): [string, string][] {
  const pairs: [string, string][] = [];
  for (const name in headers) {
    const value = headers[name];
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) {
        pairs.push([name, one]);
      }
    }
  }
  return pairs;
}

function decoded(body: Readable, headers: Headers): Readable {
  const decoder = decoderFor(headers.get('content-encoding')?.trim().toLowerCase());
  if (!decoder) {
    return body;
  }
  body.on('error', (fault) => decoder.destroy(fault));
  decoder.on('close', () => body.destroy());
  return body.pipe(decoder);
}

function decoderFor(encoding: string | undefined) {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
