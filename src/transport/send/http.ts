import { direct } from '../../contract/client-options.js';
import type { Bytes } from '../../contract/records.js';

/** A request that is ready to leave. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string | FormData | Bytes;
  readonly cache?: 'no-store';
  readonly credentials?: 'include';
}

/** Carries a request that is ready: calls `send` once and resolves with its response. */
export type RequestCarrier = (url: string, send: () => Promise<Response>) => Promise<Response>;

/** How a request leaves. */
export interface Way {
  readonly signal: AbortSignal | undefined;
  readonly fetch: typeof globalThis.fetch | undefined;
  /** `undefined` hands the request to `fetch` itself, as fast as it can be. */
  readonly carrier: RequestCarrier | undefined;
}

/**
 * Sends one request and resolves with the response's head. Redirects are not followed here: a POST
 * would become a GET, and the key must not reach another origin.
 */
export function exchange(
  request: OutgoingRequest,
  key: string | null,
  { signal, fetch, carrier }: Way,
): Promise<Response> {
  const { url, headers, ...rest } = sentOnce(request);
  const init: RequestInit = { ...rest, headers: withKey(headers, key), redirect: 'manual' };
  if (signal) {
    init.signal = signal;
  }
  const own = fetch ?? globalThis.fetch;
  // An address and an init, and no `Request`: Next.js drops what that carries, and each one costs an
  // abort controller and its collection. Somebody's own `fetch` may answer without a promise.
  const send = () => Promise.resolve(own(url, init));
  return carrier && !(direct in own) ? carrier(url, send) : send();
}

function withKey(headers: Record<string, string>, key: string | null): Record<string, string> {
  return key === null ? headers : { ...headers, authorization: `Bearer ${key}` };
}

/** A request whose body may be a stream. */
export interface StreamedRequest extends Omit<OutgoingRequest, 'body'> {
  readonly body?: string | FormData | Bytes | ReadableStream<Uint8Array>;
  readonly duplex?: 'half';
}

/**
 * Keeps Deno from sending a POST a second time on its own. It does so when a connection that was
 * used before ends without an answer (denoland/deno#32566), and the service may have acted by then:
 * a second email, a second paid video. It cannot repeat a body that streams.
 */
export function sentOnce(request: OutgoingRequest): StreamedRequest {
  if (request.method !== 'POST' || !('Deno' in globalThis)) {
    return request;
  }
  const { body, headers } = new Response(request.body ?? '');
  // A form's content type names its boundary.
  const type = request.body instanceof FormData ? headers.get('content-type') : null;
  return {
    ...request,
    headers: { ...request.headers, ...(type !== null && { 'content-type': type }) },
    // Passed on, or Deno sees the text behind the stream.
    ...(body && { body: body.pipeThrough(new TransformStream()), duplex: 'half' }),
  };
}
