import type { Outcome } from './errors.js';

/**
 * Whether a call took effect is decided here, once for each attempt, and nowhere else.
 *
 * | how the attempt ended                                       | outcome                            |
 * | ----------------------------------------------------------- | ---------------------------------- |
 * | refused before `fetch` had it: checks, key, queue, deadline | not-sent                           |
 * | no answer; the fault is one of connecting                   | not-sent                           |
 * | no answer; any other fault, a timeout, an abort             | unknown                            |
 * | an answer cut short, not JSON, or not followed (0, 302, 303)| unknown; of a read: rejected       |
 * | 408, 5xx                                                    | unknown; of a read: rejected       |
 * | 429 in the midst of several recipients                      | unknown                            |
 * | any other 3xx, 4xx, `success: false`                        | rejected                           |
 */
export type Ending =
  /** Nothing came back. */
  | { readonly phase: 'no-answer'; readonly fault: unknown; readonly url: string }
  /** The head of an answer came. */
  | { readonly phase: 'answered'; readonly status: number | undefined };

/** What of a call decides about its outcome. */
export interface Effect {
  /** Does it change something? */
  readonly changes: boolean;
  /** Does the service work through it one entry after another? */
  readonly isHandledOneByOne: boolean;
}

export function outcomeOf(ending: Ending, { changes, isHandledOneByOne }: Effect): Outcome {
  if (ending.phase === 'no-answer') {
    return isConnectFault(ending.fault, ending.url) ? 'not-sent' : 'unknown';
  }
  const { status } = ending;
  if (status === 429 && isHandledOneByOne) {
    return changes ? 'unknown' : 'rejected';
  }
  // 302 and 303 are also what a form answers once it has done its work; a browser shows 0 for both.
  const isOpen =
    status === undefined || status < 300 || status === 302 || status === 303 || status === 408;
  return changes && (isOpen || status >= 500) ? 'unknown' : 'rejected';
}

/**
 * Faults that only a connection which never opened can have: the name was not found, nothing listens
 * there, no route, or the certificate is not trusted. An alert of the TLS layer is none: with TLS 1.3 it
 * may come after the request. Nor is a reset: it may hit a connection that is in use.
 */
const connectCodes: ReadonlySet<unknown> = new Set([
  ...['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME'],
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  // Bun
  ...['ConnectionRefused', 'FailedToOpenSocket', 'DNSResolveFailed'],
]);

/**
 * Did the connection fail before anything was sent? Codes and system calls tell, never a word in a
 * message: anything may have written that.
 */
export function isConnectFault(fault: unknown, url: string): boolean {
  return causesOf(fault).some((cause) => {
    const tried = read(cause, 'errors');
    // Several addresses were tried: none of them may have got through.
    const faults: unknown[] = Array.isArray(tried) && tried.length > 0 ? tried : [cause];
    return isOfDeno(cause) || faults.every((one) => isOfConnecting(Object(one) as object, url));
  });
}

function isOfConnecting(fault: object, url: string): boolean {
  const [code, syscall] = [read(fault, 'code'), read(fault, 'syscall')];
  const isConnecting = syscall === 'connect' || syscall === 'getaddrinfo';
  if (syscall === undefined ? !connectCodes.has(code) : !isConnecting) {
    return false;
  }
  // A `fetch` that follows redirects may have failed elsewhere, after the service had the call.
  const { hostname, port, protocol } = new URL(url);
  const ownPort = Number(port) || (protocol === 'https:' ? 443 : 80);
  const [host = hostname, at = ownPort] = [read(fault, 'hostname'), read(fault, 'port')];
  return host === hostname && at === ownPort;
}

// Deno has no codes: the phase stands in the message, behind the address that was called.
const denoConnect = /^error sending request for url \([^ ]*\): client error \(Connect\): /;

function isOfDeno(fault: object): boolean {
  return (
    'Deno' in globalThis &&
    (read(fault, 'name') === 'NotCapable' || denoConnect.test(String(read(fault, 'message'))))
  );
}

/** What the system calls a fault, for its reader: a word of capitals, such as ECONNREFUSED. */
export function systemCodeOf(fault: unknown): string | undefined {
  const codes = causesOf(fault).flatMap((cause) => {
    const tried = read(cause, 'errors');
    return [read(cause, 'code'), read(Object(Array.isArray(tried) && tried[0]) as object, 'code')];
  });
  const isCode = (code: unknown) => typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code);
  return codes.find(isCode) as string | undefined; // found as one
}

/** A fault and what caused it, the outermost first. */
function causesOf(fault: unknown): object[] {
  const causes: object[] = [];
  let current = fault;
  // Wrappers nest three deep at most; the bound ends a chain that refers to itself.
  while (typeof current === 'object' && current !== null && causes.length < 8) {
    causes.push(current);
    current = read(current, 'cause');
  }
  return causes;
}

/** A property of a foreign object, whose getter may throw. */
function read(owner: object, name: string): unknown {
  try {
    return (owner as Record<string, unknown>)[name]; // any object
  } catch {
    return undefined;
  }
}
