import {
  ConnectionError,
  InvalidRequestError,
  TimeoutError,
  UnexpectedResponseError,
  type Outcome,
} from '../../errors/index.js';
import { methodAndPath, lineOf, type CallContext } from '../context.js';
import { causesOf, read } from '../fault.js';
import { effectHint } from './api-error.js';

// Faults that only a connection which never opened can have: the name was not found, nothing listens
// there, or the certificate is not trusted. A code of the TLS layer is none: it may come at any time.
const connectCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NODATA',
  'EAI_NONAME',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  // Bun before 1.3
  'ConnectionRefused',
  'FailedToOpenSocket',
  'DNSResolveFailed',
]);

/**
 * Is this a fault of connecting to the service, so that the request certainly did not leave? Codes and
 * system calls tell, never a word in a message: anything may have written that.
 */
export function isConnectFault(fault: unknown, url: string): boolean {
  const { hostname, port, protocol } = new URL(url);
  const place = { hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  return causesOf(fault).some((one) => isOfDeno(one) || isOfConnecting(one, place));
}

interface Place {
  readonly hostname: string;
  readonly port: number;
}

function isOfConnecting(fault: object, place: Place): boolean {
  const errors = read(fault, 'errors');
  // Several addresses were tried: none of them may have got through.
  return Array.isArray(errors) && errors.length > 0
    ? errors.every((one) => isOneOfConnecting(Object(one) as object, place))
    : isOneOfConnecting(fault, place);
}

function isOneOfConnecting(fault: object, { hostname, port }: Place): boolean {
  // A `fetch` that follows redirects may have failed at another place, after the service had the call.
  const isElsewhere =
    (read(fault, 'hostname') ?? hostname) !== hostname || (read(fault, 'port') ?? port) !== port;
  if (isElsewhere) {
    return false;
  }
  const syscall = read(fault, 'syscall');
  if (syscall !== undefined) {
    return syscall === 'connect' || syscall === 'getaddrinfo';
  }
  const code = read(fault, 'code');
  return typeof code === 'string' && connectCodes.has(code);
}

// Deno has no codes: the phase stands in the message, behind the address that was called.
const denoConnect = /^error sending request for url \([^ ]*\): client error \(Connect\): /;

function isOfDeno(fault: object): boolean {
  if (!('Deno' in globalThis)) {
    return false;
  }
  return read(fault, 'name') === 'NotCapable' || denoConnect.test(String(read(fault, 'message')));
}

/** What the system calls the fault: a word of capitals, such as ECONNREFUSED. */
function systemCodeOf(fault: unknown): string | undefined {
  const codes = causesOf(fault).flatMap((one) => {
    const errors = read(one, 'errors');
    const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
    return [read(one, 'code'), read(Object(first) as object, 'code')];
  });
  const isCode = (code: unknown) => typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code);
  return codes.find(isCode) as string | undefined; // found as one
}

// Only for the reader: undici puts the status in a sentence.
function proxyStatusOf(fault: object | undefined): string | undefined {
  const message = fault && read(fault, 'message');
  return typeof message === 'string' ? /^Proxy response \((\d{3})\)/.exec(message)?.[1] : undefined;
}

/** The error of an attempt that got no answer because the connection failed. */
export function connectionError(
  fault: unknown,
  call: CallContext,
  { outcome, connectFault }: { outcome: Outcome; connectFault: object | undefined },
): ConnectionError {
  const isUnsent = outcome === 'not-sent';
  const { host } = new URL(call.request.url);
  const proxyStatus = isUnsent ? proxyStatusOf(connectFault) : undefined;
  const what = isUnsent
    ? `could not reach ${host}`
    : `lost the connection to ${host} before the answer was complete`;
  const why = proxyStatus === undefined ? systemCodeOf(fault) : `the proxy refused: ${proxyStatus}`;
  const reason = why === undefined ? '' : ` (${why})`;
  return new ConnectionError(
    `${lineOf(call)} ${what}${reason}.${isUnsent ? '' : effectHint(call)}`,
    {
      ...methodAndPath(call),
      code: isUnsent ? 'NOT_CONNECTED' : 'CONNECTION_LOST',
      outcome,
      cause: fault,
    },
  );
}

/** The error of an attempt whose time was up while it was under way. */
export function timeoutError(limitMs: number, call: CallContext, outcome: Outcome): TimeoutError {
  const isUnsent = outcome === 'not-sent';
  const { host } = new URL(call.request.url);
  const what = isUnsent ? `could not reach ${host}` : 'got no complete answer';
  const message = `${lineOf(call)} ${what} within ${Math.ceil(limitMs)} ms.`;
  return new TimeoutError(message + (isUnsent ? '' : effectHint(call)), {
    ...methodAndPath(call),
    // The shorter of the two ended it.
    code: limitMs < call.timeoutMs ? 'DEADLINE_EXCEEDED' : 'TIMEOUT',
    outcome,
  });
}

/** The error of a request that could not be made, so that `fetch` never had it. */
export function neverHandedOver(cause: unknown, call: CallContext): InvalidRequestError {
  return new InvalidRequestError(`${lineOf(call)} was not sent: no request can be made of it.`, {
    ...methodAndPath(call),
    code: 'INVALID_REQUEST',
    cause,
  });
}

/** The error of a `fetch` that returned something else than an answer. */
export function unusableResponse(message: string, call: CallContext): UnexpectedResponseError {
  return new UnexpectedResponseError(`${lineOf(call)}: ${message}.${effectHint(call)}`, {
    ...methodAndPath(call),
    code: 'UNEXPECTED_RESPONSE',
    outcome: 'unknown',
  });
}
