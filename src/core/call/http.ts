import ky from 'ky';
import type { OutgoingRequest } from './request.js';
import { sendOnce } from './send-once.js';

/** Sends one request with a key. Calls `onSent` when `fetch` receives the request. */
export type Http = (
  request: OutgoingRequest,
  key: string | null,
  signal: AbortSignal | undefined,
  onSent: () => void,
) => Promise<Response>;

/**
 * The HTTP of one client. A single ky instance sends every attempt. Its retries, timeout and errors are off,
 * because they are decided for the whole call. Redirects are not followed: a POST would become a GET, and
 * the key must not reach another origin. `fetch` receives the address and the init instead of ky's
 * `Request`, because another copy of undici does not recognize that class, its body is a stream without a
 * length, and Next.js drops its options.
 */
export function createHttp(own: typeof globalThis.fetch | undefined): Http {
  const send = ky.create({ retry: 0, timeout: false, throwHttpErrors: false });
  return async ({ url, ...request }, key, signal, onSent) => {
    const { headers } = request;
    const init: RequestInit = {
      ...request,
      headers: key === null ? headers : { ...headers, authorization: `Bearer ${key}` },
      redirect: 'manual',
      ...(signal && { signal }),
    };
    const fetchOnce = async () => {
      onSent();
      return checkResponse(await sendOnce(own, url, init));
    };
    return send(url, { ...init, fetch: fetchOnce });
  };
}

/** The user's `fetch` returned something that is not a usable response. */
export class UnusableResponse extends Error {}

// Mocks may return anything, and the request may have been sent nevertheless.
function checkResponse(response: unknown): Response {
  const { status, headers, text, bodyUsed } = Object(response) as Partial<Response>; // as: or anything else
  const isResponse =
    Number.isInteger(status) && typeof headers?.get === 'function' && typeof text === 'function';
  if (!isResponse) {
    const what = response === null ? 'null' : typeof response;
    const kind = what === 'object' ? 'an object that is not a `Response`' : what;
    throw new UnusableResponse(`\`fetch\` returned ${kind}: it must return a \`Response\``);
  }
  if (bodyUsed) {
    throw new UnusableResponse(
      '`fetch` returned a `Response` whose body has been read: it must return a new one for each call',
    );
  }
  return response as Response; // as: it has the members that are used here
}

/**
 * Reads a body as text, up to a number of bytes; the rest is not read. The result is valid text, whatever
 * the bytes are. An abort cancels the body even if `fetch` does not.
 */
export async function readText(
  response: Response,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const chunks = isKnownSmall(response, maxBytes) ? undefined : chunksOf(response.body);
  if (!chunks) {
    return response.text();
  }
  signal?.addEventListener('abort', chunks.stop, { once: true });
  const decoder = new TextDecoder();
  let text = '';
  let left = maxBytes;
  try {
    while (left > 0) {
      const { done, value } = await chunks.next();
      if (done) {
        return text + decoder.decode();
      }
      const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
      text += decoder.decode(bytes.subarray(0, left), { stream: true });
      left -= bytes.length;
    }
    return text;
  } finally {
    chunks.stop();
  }
}

/** Cancels the body of a response that is not needed. */
export function discardBody({ body }: Response): void {
  chunksOf(body)?.stop();
}

/** A body that is read in chunks. */
interface Chunks {
  next(): Promise<IteratorResult<Uint8Array | string, unknown>>;
  /** Cancels the part that has not been read. */
  readonly stop: () => void;
}

/** The members of a body. The body of node-fetch is a Node stream, not a web stream. */
type AnyBody = Partial<ReadableStream<Uint8Array>> &
  Partial<AsyncIterable<Uint8Array | string>> & { readonly destroy?: () => void };

function chunksOf(given: Response['body']): Chunks | undefined {
  const body = given as AnyBody | null | undefined; // as: the body of any `fetch`
  const reader = body?.getReader?.();
  if (reader) {
    const stop = () => void reader.cancel().catch(() => undefined); // it may be broken already
    return { next: () => reader.read(), stop };
  }
  const iterator = body?.[Symbol.asyncIterator]?.();
  return iterator && { next: () => iterator.next(), stop: () => body?.destroy?.() };
}

// A compressed body may expand to a thousand times its `Content-Length`.
const smallBytes = 256 * 1024;

function isKnownSmall({ headers }: Response, maxBytes: number): boolean {
  const length = headers.get('content-length');
  const isSmall = length !== null && Number(length) <= Math.min(smallBytes, maxBytes);
  return isSmall && headers.get('content-encoding') === null;
}
