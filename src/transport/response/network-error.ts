import { ConnectionError, TimeoutError } from '../../errors/index.js';
import { callOf, lineOf, type CallContext } from '../context.js';
import { effectHint } from './api-error.js';

// What undici and Node (first), Bun and Deno report when the request cannot have left: the name
// was not found, the connection was refused or the handshake failed.
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NODATA',
  'EAI_NONAME',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ConnectionRefused',
  'FailedToOpenSocket',
  'DNSResolveFailed',
]);

const neverConnectedText =
  /tcp connect error|dns error|client error \(connect\)|connection refused|name or service not known|invalid peer certificate|before secure TLS connection was established|requires net access/i;

/** Did the request certainly not leave this machine? Where nothing is known: no. */
export function neverLeft(fault: unknown): boolean {
  return someCause(fault, isConnectFault);
}

function isConnectFault(fault: object): boolean {
  const { code, syscall, message, errors } = fault as Record<string, unknown>; // a thrown object
  // Several addresses were tried: none of them may have got through.
  if (Array.isArray(errors) && errors.length > 0) {
    return (errors as unknown[]).every((one) => one !== fault && neverLeft(one));
  }
  // A host can also become unreachable under a request that is on its way.
  if (syscall === 'read' || syscall === 'write') {
    return false;
  }
  if (typeof code === 'string' && neverConnected.has(code)) {
    return true;
  }
  if (syscall === 'connect' || syscall === 'getaddrinfo') {
    return true;
  }
  return typeof message === 'string' && neverConnectedText.test(message);
}

function someCause(fault: unknown, test: (fault: object) => boolean): boolean {
  let current = fault;
  // Wrappers nest three deep at most; the bound ends a chain that refers to itself.
  for (let depth = 0; depth < 8 && typeof current === 'object' && current !== null; depth++) {
    if (test(current)) {
      return true;
    }
    current = (current as { cause?: unknown }).cause; // a thrown object
  }
  return false;
}

/** What the system calls the fault: a word of capitals, such as ECONNREFUSED. */
function systemCodeOf(fault: unknown): string | undefined {
  let found: string | undefined;
  someCause(fault, (one) => {
    const { code, errors } = one as { code?: unknown; errors?: unknown }; // a thrown object
    const first = Array.isArray(errors) ? systemCodeOf(errors[0]) : undefined;
    found = typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? code : first;
    return found !== undefined;
  });
  return found;
}

/** The error of an attempt that got no answer because the connection failed. */
export function connectionError(fault: unknown, call: CallContext): ConnectionError {
  const never = neverLeft(fault);
  const { host } = new URL(call.request.url);
  const code = systemCodeOf(fault);
  const what = never
    ? `could not reach ${host}`
    : `lost the connection to ${host} before the answer was complete`;
  const why = code === undefined ? '' : ` (${code})`;
  return new ConnectionError(`${lineOf(call)} ${what}${why}.${never ? '' : effectHint(call)}`, {
    ...callOf(call),
    code: never ? 'NOT_CONNECTED' : 'CONNECTION_LOST',
    outcome: never ? 'not-sent' : 'unknown',
    cause: fault,
  });
}

/** The error of an attempt whose time was up while it was under way. */
export function timeoutError(limitMs: number, call: CallContext): TimeoutError {
  const message = `${lineOf(call)} got no complete answer within ${Math.ceil(limitMs)} ms.`;
  return new TimeoutError(message + effectHint(call), {
    ...callOf(call),
    // The shorter of the two ended it.
    code: limitMs < call.timeoutMs ? 'DEADLINE_EXCEEDED' : 'TIMEOUT',
    outcome: 'unknown',
  });
}
