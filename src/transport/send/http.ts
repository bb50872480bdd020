import ky from 'ky';
import { sentOnce } from './sent-once.js';

/** A request that is ready to leave. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string | FormData;
  readonly cache?: RequestCache;
  readonly credentials?: RequestCredentials;
}

/**
 * Sends one request and resolves with the response's head. ky's own retry, timeout and errors are
 * off: which of them apply is decided for the whole call. Redirects are not followed here: a POST
 * would become a GET, and the key must not reach another origin.
 */
export function exchange(
  request: OutgoingRequest,
  signal: AbortSignal,
  fetch: typeof globalThis.fetch | undefined,
): Promise<Response> {
  const { url, ...init } = sentOnce(request);
  const exchanged = ky(url, {
    ...init,
    signal,
    retry: 0,
    timeout: false,
    throwHttpErrors: false,
    redirect: 'manual',
    ...(fetch && { fetch }),
  });
  return exchanged.catch((fault: unknown) => {
    throw rawFault(fault);
  });
}

// ky 2 wraps a network fault in an error that carries the request, and with it the key.
function rawFault(fault: unknown): unknown {
  const isWrapped = fault instanceof Error && 'request' in fault && fault.cause !== undefined;
  return isWrapped ? fault.cause : fault;
}
