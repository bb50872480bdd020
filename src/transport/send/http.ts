import ky from 'ky';

/** A request that is ready to leave. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string | FormData | Blob;
  readonly cache?: 'no-store';
  readonly credentials?: 'include';
}

/** Sends one request with a key and resolves with the head of its answer. */
export type Http = (
  request: OutgoingRequest,
  key: string | null,
  signal: AbortSignal | undefined,
) => Promise<Response>;

/**
 * The HTTP of one client: one ky, which carries every attempt of every call. Its retries, timeout and
 * errors are off, since they are decided for the whole call. Redirects are not followed: a POST would
 * become a GET, and the key must not reach another origin.
 */
export function createHttp(ownFetch: typeof globalThis.fetch | undefined): Http {
  const send = ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' });
  return ({ url, headers, ...rest }, key, signal) => {
    const init: RequestInit = { ...rest, headers: withKey(headers, key), redirect: 'manual' };
    if (signal) {
      init.signal = signal;
    }
    const fetch = ownFetch ?? globalThis.fetch;
    // `fetch` gets the address and the init instead of ky's `Request`: another copy of undici does not
    // know that class, its body is a stream without a length, and Next.js drops its options.
    return send(url, { ...init, fetch: async () => fetch(url, sentOnce(init)) });
  };
}

function withKey(headers: Record<string, string>, key: string | null): Record<string, string> {
  return key === null ? headers : { ...headers, authorization: `Bearer ${key}` };
}

/**
 * Keeps Deno from sending a POST a second time on its own. It does so when a connection that was
 * used before ends without an answer (denoland/deno#32566), and the service may have acted by then:
 * a second email, a second paid video. It cannot repeat a body that streams.
 */
export function sentOnce(init: RequestInit): RequestInit & { readonly duplex?: 'half' } {
  if (init.method !== 'POST' || !('Deno' in globalThis)) {
    return init;
  }
  const { body, headers } = new Response(init.body ?? '');
  // A form's content type names its boundary.
  const type = init.body instanceof FormData ? headers.get('content-type') : null;
  return {
    ...init,
    headers: { ...(init.headers as object), ...(type !== null && { 'content-type': type }) }, // ours are plain
    // Passed on, or Deno sees the text behind the stream.
    ...(body && { body: body.pipeThrough(new TransformStream()), duplex: 'half' }),
  };
}
