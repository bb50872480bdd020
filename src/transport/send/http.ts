import ky from 'ky';
import { sendOnce } from '../../http/send-once.js';
import { Departure } from './departure.js';

/** A request that is ready to leave. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string | FormData | Blob;
  readonly cache?: 'no-store';
  readonly credentials?: 'include';
}

/** A request on its way. */
export interface Sending {
  /** The head of the answer. */
  readonly answer: Promise<Response>;
  /** Whether the request has left; `undefined` until `fetch` has it. */
  readonly departure: Departure | undefined;
}

/** What may end one attempt. */
export interface AttemptEnd {
  /** Aborts when the attempt's time is up, or with the caller's own signal. */
  readonly signal: AbortSignal | undefined;
  /** Did the caller give a signal? */
  readonly hasCallerSignal: boolean;
}

/** Sends one request with a key. */
export type Http = (request: OutgoingRequest, key: string | null, end: AttemptEnd) => Sending;

/**
 * The HTTP of one client: one ky, which carries every attempt of every call. Its retries, timeout and
 * errors are off, since they are decided for the whole call. Redirects are not followed: a POST would
 * become a GET, and the key must not reach another origin.
 */
export function createHttp(ownFetch: typeof globalThis.fetch | undefined): Http {
  const send = ky.create({ retry: 0, timeout: false, throwHttpErrors: false });
  return (request, key, { signal, hasCallerSignal }) => {
    const { url, method } = request;
    const init = initOf(request, key);
    let departure: Departure | undefined;
    // `fetch` gets the address and the init instead of ky's `Request`: another copy of undici does not
    // recognise that class, its body is a stream without a length, and Next.js drops its options.
    const carry = async () => {
      departure = new Departure(method, url, ownFetch);
      return checkResponse(await sendOnce(ownFetch, url, signal ? { ...init, signal } : init));
    };
    // ky joins a signal to one of its own, which costs a tenth of a call. The time limit alone needs none
    // there: it ends the `fetch`.
    const kySignal = hasCallerSignal && signal ? { signal } : undefined;
    return {
      answer: send(url, { ...init, ...kySignal, fetch: carry }),
      get departure() {
        return departure;
      },
    };
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

function initOf(request: OutgoingRequest, key: string | null): RequestInit {
  const { method, headers, body, cache, credentials } = request;
  return {
    method,
    headers: key === null ? headers : { ...headers, authorization: `Bearer ${key}` },
    redirect: 'manual',
    ...(body !== undefined && { body }),
    ...(cache && { cache }),
    ...(credentials && { credentials }),
  };
}
