import type { Route } from '../../contract/route.js';
import { parseExactly } from '../../contract/ids.js';
import { isRecord } from '../../contract/records.js';
import { UnexpectedResponseError, type Outcome, type PostreelError } from '../../errors/index.js';
import { secretsOf } from '../auth/call-secrets.js';
import { redact, type Secrets } from '../auth/redact.js';
import { methodAndPath, lineOf, type CallContext } from '../context.js';
import { apiError, effectHint } from './api-error.js';
import { readError } from './error-body.js';
import { isErrorEnvelope } from './read.js';
import { retryAfterMs } from './retry-after.js';

const maxIdLength = 200;
const maxNameLength = 60;

/** An answer as it came over the wire. */
export interface Received {
  readonly response: Response;
  readonly text: string;
  /** The key that the request carried: no text of the answer may repeat it. */
  readonly key: string | null;
  /** Where that key comes from: `MESSAGING_API_KEY`. */
  readonly keyOrigin: string;
  readonly requestId: string | undefined;
}

/** The JSON of a successful answer; throws the error of any other. */
export function classify(received: Received, call: CallContext): unknown {
  const { response, text, key, requestId } = received;
  if (isRedirect(response)) {
    throw redirected(received, call);
  }
  const clean = cleaner(call, key);
  if (!response.ok) {
    const body = acceptedBody(text, call.route);
    if (body !== undefined) {
      return body;
    }
    const askedMs = retryAfterMs(response.headers, response.status);
    const outcome = outcomeOf(response.status, call);
    throw apiError(methodAndPath(call), response.status, text, {
      outcome,
      requestId,
      retryAfterMs: askedMs,
      clean,
      hint: hintFor(response.status, received, call),
    });
  }
  const body = parse(received, call);
  if (isErrorEnvelope(body) && !call.route.isAccepted?.(body)) {
    const no = { outcome: noOutcome(body, call), requestId, retryAfterMs: undefined, clean };
    throw apiError(methodAndPath(call), response.status, text, no);
  }
  return body;
}

/** Takes the secrets of a call out of what the service wrote. */
function cleaner(call: CallContext, key: string | null): (text: string) => string {
  let secrets: Secrets | undefined; // most answers have nothing to clean
  return (text) => {
    secrets ??= secretsOf(call, key);
    return redact(text, secrets);
  };
}

function hintFor(
  status: number,
  { key, keyOrigin }: Received,
  call: CallContext,
): string | undefined {
  if (status === 401 && key !== null) {
    const [prefix = ''] = /^[a-z]+_/.exec(key) ?? [];
    return `The key${prefix && ` (${prefix}…)`} came from ${keyOrigin}.`;
  }
  return status === 404 ? addressHint(call) : undefined;
}

// Some paths of the messaging service begin with `/v1` themselves.
function addressHint({ request, path }: CallContext): string | undefined {
  const [address = ''] = request.url.split(/[?#]/, 1);
  const isDoubled = address.endsWith(`/v1${path}`);
  return isDoubled
    ? '`baseUrl` ends in `/v1`: leave that out, unless the service is below that path.'
    : undefined;
}

// An error response may hold ids of what the call created all the same.
function acceptedBody(text: string, { isAccepted }: Route): unknown {
  if (!isAccepted) {
    return undefined;
  }
  try {
    const body = parseExactly(text);
    return isAccepted(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** The service's id of a request, under the names that services use. */
export function requestIdOf(
  headers: Headers,
  call: CallContext,
  key: string | null,
): string | undefined {
  const id = headers.get('x-request-id') ?? headers.get('request-id');
  return id === null ? undefined : cleaner(call, key)(id).slice(0, maxIdLength);
}

// After 408, 5xx, or a 429 in the middle of several recipients, the effect is unknown.
function outcomeOf(status: number, { route, isHandledOneByOne }: CallContext): Outcome {
  if (!route.changes) {
    return 'rejected';
  }
  if (status === 408 || status >= 500) {
    return 'unknown';
  }
  return status === 429 && isHandledOneByOne ? 'unknown' : 'rejected';
}

// An error with HTTP 200 has its real status in the body, if at all.
function noOutcome(body: unknown, call: CallContext): Outcome {
  const error = isRecord(body) ? body['error'] : undefined;
  const status = isRecord(error) ? error['statusCode'] : undefined;
  if (typeof status === 'number') {
    return outcomeOf(status, call);
  }
  return call.isHandledOneByOne ? 'unknown' : 'rejected';
}

// What JSON.parse() throws quotes the text, so it must not become the cause.
function parse(received: Received, call: CallContext): unknown {
  const { response, text, key } = received;
  if (text.trim() === '') {
    return undefined;
  }
  try {
    return parseExactly(text);
  } catch {
    const header = response.headers.get('content-type');
    const type =
      header === null ? 'no content type' : cleaner(call, key)(header).slice(0, maxNameLength);
    const message = `${lineOf(call)} was answered with something that is not JSON (${response.status}, ${type}).`;
    throw unexpected(message + effectHint(call), call, received);
  }
}

function redirected(received: Received, call: CallContext): PostreelError {
  const { response, key } = received;
  if (response.redirected) {
    const message = `${lineOf(call)} was redirected, and \`fetch\` followed in spite of \`redirect: 'manual'\`.`;
    throw unexpected(message + effectHint(call), call, received);
  }
  const target = response.headers.get('location');
  const where =
    target === null ? '' : ` to ${cleaner(call, key)(originOf(target)).slice(0, maxNameLength)}`;
  const message = `${lineOf(call)} was answered with a redirect${where}, which is not followed. Set \`baseUrl\` to the service's own address.`;
  return unexpected(message, call, received, redirectOutcome(response.status, call));
}

// 302 and 303 are also what a form answers once it has done its work; a browser hides which it was.
function redirectOutcome(status: number, { route }: CallContext): Outcome {
  const mayBeDone = status === 0 || status === 302 || status === 303;
  return route.changes && mayBeDone ? 'unknown' : 'rejected';
}

function originOf(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

function unexpected(
  message: string,
  call: CallContext,
  { response, requestId, text, key }: Received,
  outcome: Outcome = call.route.changes ? 'unknown' : 'rejected',
): UnexpectedResponseError {
  return new UnexpectedResponseError(message, {
    ...methodAndPath(call),
    code: 'UNEXPECTED_RESPONSE',
    status: response.status,
    requestId,
    outcome,
    body: readError(text, cleaner(call, key)).body,
  });
}

// A `fetch` that follows makes a GET of a POST: its answer is not the answer to the call.
function isRedirect(response: Response): boolean {
  return (
    response.redirected ||
    response.type === 'opaqueredirect' ||
    (response.status >= 300 && response.status < 400)
  );
}
