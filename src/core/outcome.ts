import { envProxyFor, portOf } from './env-proxy.js';
import type { Outcome } from './errors.js';

/**
 * Whether a call took effect is decided here, once for each attempt, and nowhere else.
 *
 * | how the attempt ended                                        | outcome                  |
 * | ------------------------------------------------------------ | ------------------------ |
 * | refused before `fetch` had it: checks, key, queue, deadline  | not-sent                 |
 * | no answer; the fault is one of connecting                    | not-sent                 |
 * | no answer; any other fault, a timeout, an abort              | unknown; a read: rejected |
 * | an answer cut short, not JSON, or not followed (0, 302, 303) | unknown; a read: rejected |
 * | 408, 5xx                                                     | unknown; a read: rejected |
 * | 429 to several recipients, another 4xx to several paid jobs  | unknown                  |
 * | any other 3xx, 4xx, `success: false`                         | rejected                 |
 *
 * A read has no effect: one that left and failed is `rejected`.
 */
export type Ending =
  /** No complete answer came. The fault may be one of connecting. */
  | { readonly phase: 'no-answer'; readonly fault?: unknown; readonly url: string }
  /** The head of an answer came. */
  | { readonly phase: 'answered'; readonly status: number | undefined };

/** What of a call decides about its outcome. */
export interface Effect {
  /** Does it change something? */
  readonly changes: boolean;
  /** May an error with this status leave a part of it done? */
  readonly isPartial: (status: number | undefined) => boolean;
}

/** Of a call that left and has no usable answer: one that changes nothing has no effect, however it ends. */
export function outcomeWhenLost({ changes }: Pick<Effect, 'changes'>): Outcome {
  return changes ? 'unknown' : 'rejected';
}

export function outcomeOf(ending: Ending, effect: Effect): Outcome {
  const { changes, isPartial } = effect;
  if (ending.phase === 'no-answer') {
    const isUnsent = isConnectFault(ending.fault, ending.url);
    return isUnsent ? 'not-sent' : outcomeWhenLost(effect);
  }
  const { status } = ending;
  // 302 and 303 are also what a form answers once it has done its work; a browser shows 0 for both.
  const isOpen =
    status === undefined || status < 300 || status === 302 || status === 303 || status === 408;
  return changes && (isOpen || status >= 500 || isPartial(status)) ? 'unknown' : 'rejected';
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
 * Did the connection fail before anything was sent? Codes and system calls tell, not the words of a
 * message: anything may have written those. The exceptions have no code: a port that `fetch` blocks, and
 * Deno's faults.
 */
function isConnectFault(fault: unknown, url: string): boolean {
  return (
    causesOf(fault).some((cause) => isDenoConnectError(cause) || isBlockedPort(cause)) ||
    haveAll(fault, (one) => isConnectError(one) && isAtHost(one, new URL(url))) ||
    unreachableProxy(fault, url) !== undefined
  );
}

/**
 * The proxy of the environment that could not be reached, as `host:port` without its credentials. Nothing has
 * left then. A refusal of any other address proves nothing: a `fetch` may have followed a redirect there.
 */
export function unreachableProxy(fault: unknown, url: string): string | undefined {
  const proxy = envProxyFor(new URL(url));
  const isCause = proxy && haveAll(fault, (one) => isConnectError(one) && isAtProxy(one, proxy));
  return isCause ? `${proxy.hostname}:${portOf(proxy)}` : undefined;
}

/** Does one of the causes hold for all addresses that were tried? None of them may have got through. */
function haveAll(fault: unknown, holds: (fault: object) => boolean): boolean {
  return causesOf(fault).some((cause) => {
    const tried = read(cause, 'errors');
    const faults: unknown[] = Array.isArray(tried) && tried.length > 0 ? tried : [cause];
    return faults.every((one) => holds(Object(one) as object));
  });
}

function isConnectError(fault: object): boolean {
  const [code, syscall] = [read(fault, 'code'), read(fault, 'syscall')];
  const isConnecting = syscall === 'connect' || syscall === 'getaddrinfo';
  return syscall === undefined ? connectCodes.has(code) : isConnecting;
}

// A `fetch` that follows redirects may have failed elsewhere, after the service had the call.
function isAtHost(fault: object, url: URL): boolean {
  const [host = url.hostname, port = portOf(url)] = [read(fault, 'hostname'), read(fault, 'port')];
  return host === url.hostname && port === portOf(url);
}

/** A name that was not found has no port; a refused connection has an address, and no name. */
function isAtProxy(fault: object, proxy: URL): boolean {
  const [host, address, port] = ['hostname', 'address', 'port'].map((name) => read(fault, name));
  const name = proxy.hostname.replace(/^\[|\]$/g, '');
  if (host !== undefined) {
    return host === name;
  }
  const isLiteral = /^[\d.]+$|:/.test(name); // otherwise the address is one of the name's
  return port === portOf(proxy) && (isLiteral ? address === name : address !== undefined);
}

function isBlockedPort(fault: object): boolean {
  return read(fault, 'code') === undefined && read(fault, 'message') === 'bad port';
}

// Deno has no codes: the phase stands in the message, behind the address that was called.
const denoConnect =
  /^error sending request for url \([^ ]*\): client error \(Connect\): |^Fetch failed: Requests to port \d+ are blocked$/;

function isDenoConnectError(fault: object): boolean {
  return (
    'Deno' in globalThis &&
    (read(fault, 'name') === 'NotCapable' || denoConnect.test(String(read(fault, 'message'))))
  );
}

const maxReason = 120;

/**
 * Why a request failed, for its reader: what the system calls it, such as ECONNREFUSED, or else the words
 * of its innermost cause; those of undici say more than its codes. The fault has been cleaned of secrets.
 */
export function reasonOfFault(fault: unknown): string | undefined {
  const causes = causesOf(fault);
  const codes = causes.map((cause) => read(cause, 'code'));
  const name = codes.find(isTelling);
  if (name !== undefined) {
    return name;
  }
  const message = causes.length > 0 ? read(causes.at(-1) ?? {}, 'message') : fault;
  const words = typeof message === 'string' ? withoutAddresses(message) : '';
  return words.length > maxReason ? `${words.slice(0, maxReason)}…` : words || undefined;
}

function isTelling(code: unknown): code is string {
  return typeof code === 'string' && /^(?!UND_ERR_)[A-Za-z]\w{2,40}$/.test(code);
}

// Deno's words begin with both addresses of the connection, which says nothing of the cause.
function withoutAddresses(message: string): string {
  return message
    .replace(/^error sending request .*?: client error \(\w+\): /s, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Was it a time limit of `fetch` itself that ended the request? Node's has two, Bun's has one, and a program
 * may have put a `fetch` with a limit in their place.
 */
export function ownLimitOf(fault: unknown): string | undefined {
  const isLimit = causesOf(fault).some(
    (cause) =>
      read(cause, 'name') === 'TimeoutError' ||
      /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(String(read(cause, 'code'))),
  );
  return isLimit
    ? '`fetch` ended it by a limit of its own, which is 300 s without data in Node and Bun; pass a `fetch` with a longer one'
    : undefined;
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
