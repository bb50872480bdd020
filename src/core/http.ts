import ky from 'ky';
import type { OutgoingRequest } from './request.js';
import { sendOnce } from './send-once.js';

/** Sends one request with a key. `handedOver` is called when `fetch` gets it. */
export type Http = (
  request: OutgoingRequest,
  key: string | null,
  signal: AbortSignal | undefined,
  handedOver: () => void,
) => Promise<Response>;

/**
 * The HTTP of one client. One ky carries every attempt; its own retries, timeout and errors are off,
 * since they are decided for the whole call. Redirects are not followed: a POST would become a GET, and
 * the key must not reach another origin. `fetch` gets the address and the init instead of ky's `Request`:
 * another copy of undici does not recognise that class, its body is a stream without a length, and
 * Next.js drops its options.
 */
export function createHttp(own: typeof globalThis.fetch | undefined): Http {
  const send = ky.create({ retry: 0, timeout: false, throwHttpErrors: false });
  return async ({ url, ...request }, key, signal, handedOver) => {
    const { headers } = request;
    const init: RequestInit = {
      ...request,
      headers: key === null ? headers : { ...headers, authorization: `Bearer ${key}` },
      redirect: 'manual',
      ...(signal && { signal }),
    };
    const carry = async () => {
      handedOver();
      return checkResponse(await sendOnce(own, url, init));
    };
    return send(url, { ...init, fetch: carry });
  };
}

/** The user's `fetch` returned something that is no answer. */
export class UnusableResponse extends Error {}

// Mocks return all kinds of things, and the request may have been sent all the same.
function checkResponse(response: unknown): Response {
  const { status, headers, text, bodyUsed } = Object(response) as Partial<Response>; // or anything
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
  return response as Response; // as far as it is used here
}

/**
 * Reads a body as text, up to a number of bytes; what comes after is not read. Whatever the bytes
 * are, the result is valid text. An abort lets go of the body even where `fetch` does not.
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

/** Lets go of an answer that is not wanted. */
export function letGo({ body }: Response): void {
  chunksOf(body)?.stop();
}

/** A body that is read piece by piece. */
interface Chunks {
  next(): Promise<IteratorResult<Uint8Array | string, unknown>>;
  /** Lets go of what has not been read. */
  readonly stop: () => void;
}

/** What a body offers. That of node-fetch is a stream of Node, not one of the web. */
type AnyBody = Partial<ReadableStream<Uint8Array>> &
  Partial<AsyncIterable<Uint8Array | string>> & { readonly destroy?: () => void };

function chunksOf(given: Response['body']): Chunks | undefined {
  const body = given as AnyBody | null | undefined; // of any `fetch`
  const reader = body?.getReader?.();
  if (reader) {
    const stop = () => void reader.cancel().catch(() => undefined); // it may be broken already
    return { next: () => reader.read(), stop };
  }
  const iterator = body?.[Symbol.asyncIterator]?.();
  return iterator && { next: () => iterator.next(), stop: () => body?.destroy?.() };
}

// A compressed body may become a thousand times as long as its `Content-Length`.
const smallBytes = 256 * 1024;

function isKnownSmall({ headers }: Response, maxBytes: number): boolean {
  const length = headers.get('content-length');
  const isSmall = length !== null && Number(length) <= Math.min(smallBytes, maxBytes);
  return isSmall && headers.get('content-encoding') === null;
}
