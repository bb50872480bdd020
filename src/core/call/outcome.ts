import { envProxyFor, portOf } from './env-proxy.js';
import type { Outcome } from '../errors.js';

/**
 * Decides whether a call took effect. This is the only place that determines the outcome of an attempt.
 *
 * | how the attempt ended                                        | outcome                  |
 * | ------------------------------------------------------------ | ------------------------ |
 * | rejected before `fetch` was called: checks, key, deadline     | not-sent                 |
 * | no response; the connection could not be opened              | not-sent                 |
 * | no response; any other fault, a timeout, an abort            | unknown; a read: rejected |
 * | response cut short, not JSON, or not followed (0, 302, 303)  | unknown; a read: rejected |
 * | 408, 5xx                                                     | unknown; a read: rejected |
 * | an error for which `partial()` of the row returns true       | unknown                  |
 * | any other 3xx, 4xx, `success: false`                         | rejected                 |
 *
 * A read has no effect: a read that was sent and failed is `rejected`. `partial()` returns true for a 429 to a
 * mail with several recipients, and for any other 4xx to a call for several paid jobs: the service may have
 * done a part of the work.
 */
export type AttemptEnd =
  /** No complete response arrived. The fault may be a failed connection. */
  | { readonly phase: 'no-answer'; readonly fault?: unknown; readonly url: string }
  /** The headers of a response arrived. */
  | { readonly phase: 'answered'; readonly status: number | undefined };

/** The facts about a call that decide its outcome. */
export interface Effect {
  /** Does the call change something? */
  readonly changes: boolean;
  /** May an error with this status mean that part of the work was done? */
  readonly isPartial: (status: number | undefined) => boolean;
}

/** The outcome of a call that was sent and has no usable response. A read has no effect, however it ends. */
export function outcomeWhenLost({ changes }: Pick<Effect, 'changes'>): Outcome {
  return changes ? 'unknown' : 'rejected';
}

export function outcomeOf(ending: AttemptEnd, effect: Effect): Outcome {
  const { changes, isPartial } = effect;
  if (ending.phase === 'no-answer') {
    const isUnsent = isConnectFault(ending.fault, ending.url);
    return isUnsent ? 'not-sent' : outcomeWhenLost(effect);
  }
  const { status } = ending;
  // A form may answer 302 or 303 after it has done its work. A browser shows the status 0 for both.
  const isUndetermined =
    status === undefined || status < 300 || status === 302 || status === 303 || status === 408;
  return changes && (isUndetermined || status >= 500 || isPartial(status)) ? 'unknown' : 'rejected';
}

/**
 * Codes of connections that never opened: the name was not found, nothing listens there, there is no route,
 * or the certificate is not trusted. A TLS alert does not count: with TLS 1.3 it may arrive after the
 * request. A reset does not count either: it may hit a connection in use.
 */
const connectCodes: ReadonlySet<unknown> = new Set([
  ...['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME'],
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  // Codes of Bun
  ...['ConnectionRefused', 'FailedToOpenSocket', 'DNSResolveFailed'],
]);

/**
 * Did the connection fail before anything was sent? Decides by error codes and system calls, because the text
 * of a message proves nothing. There are two exceptions without a code: a port that `fetch`
 * blocks, and the errors of Deno.
 */
function isConnectFault(fault: unknown, url: string): boolean {
  return (
    causesOf(fault).some((cause) => isDenoConnectError(cause) || isBlockedPort(cause)) ||
    holdsForAll(fault, (one) => isConnectError(one) && isAtHost(one, new URL(url))) ||
    unreachableProxy(fault, url) !== undefined
  );
}

/**
 * The proxy from the environment that could not be reached, as `host:port` without its credentials; in this
 * case nothing was sent. A failed connection to any other address proves nothing: `fetch` may have followed
 * a redirect there.
 */
export function unreachableProxy(fault: unknown, url: string): string | undefined {
  const proxy = envProxyFor(new URL(url));
  const isCause =
    proxy && holdsForAll(fault, (one) => isConnectError(one) && isAtProxy(one, proxy));
  return isCause ? `${proxy.hostname}:${portOf(proxy)}` : undefined;
}

/**
 * Does the check hold for the fault or one of its causes? `fetch` may report one fault for each address that
 * it tried. Then the check must hold for every fault: one address may have received the request.
 */
function holdsForAll(fault: unknown, holds: (fault: object) => boolean): boolean {
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

// A `fetch` that follows redirects may have failed at another host, after the service received the call.
function isAtHost(fault: object, url: URL): boolean {
  const [host = url.hostname, port = portOf(url)] = [read(fault, 'hostname'), read(fault, 'port')];
  return host === url.hostname && port === portOf(url);
}

/**
 * The error of a name that was not found has no port; that of a refused connection has an address and no
 * name.
 */
function isAtProxy(fault: object, proxy: URL): boolean {
  const [host, address, port] = ['hostname', 'address', 'port'].map((name) => read(fault, name));
  const name = proxy.hostname.replace(/^\[|\]$/g, '');
  if (host !== undefined) {
    return host === name;
  }
  const isLiteral = /^[\d.]+$|:/.test(name); // a host name resolves to any address
  return port === portOf(proxy) && (isLiteral ? address === name : address !== undefined);
}

function isBlockedPort(fault: object): boolean {
  return read(fault, 'code') === undefined && read(fault, 'message') === 'bad port';
}

// Deno's errors have no code: the message names the phase after the requested URL.
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
 * Why a request failed, in words for the user: the system's code, such as ECONNREFUSED, or the message of
 * the innermost cause, because undici's messages say more than its codes. Secrets have been removed from the
 * fault.
 */
export function reasonOfFault(fault: unknown): string | undefined {
  const causes = causesOf(fault);
  const codes = causes.map((cause) => read(cause, 'code'));
  const name = codes.find(isTelling);
  if (name !== undefined) {
    return name;
  }
  const message = causes.length > 0 ? read(causes.at(-1) ?? {}, 'message') : fault;
  const words = typeof message === 'string' ? removeAddresses(message) : '';
  return words.length > maxReason ? `${words.slice(0, maxReason)}…` : words || undefined;
}

function isTelling(code: unknown): code is string {
  return typeof code === 'string' && /^(?!UND_ERR_)[A-Za-z]\w{2,40}$/.test(code);
}

// Deno's messages begin with both addresses of the connection, which do not explain the cause.
function removeAddresses(message: string): string {
  return message
    .replace(/^error sending request .*?: client error \(\w+\): /s, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * The explanation if a time limit of `fetch` itself ended the request, otherwise `undefined`. Node has two such
 * limits, Bun has one, and a program may use a `fetch` with a limit.
 */
export function ownLimitOf(fault: unknown): string | undefined {
  const isLimit = causesOf(fault).some(
    (cause) =>
      read(cause, 'name') === 'TimeoutError' ||
      /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(String(read(cause, 'code'))),
  );
  return isLimit
    ? '`fetch` ended it at its own time limit, which is 300 s without data in Node and Bun; pass a `fetch` with a longer limit'
    : undefined;
}

/** A fault and its causes, the outermost first. */
function causesOf(fault: unknown): object[] {
  const causes: object[] = [];
  let current = fault;
  // Wrappers nest three deep at most. The limit ends a chain that refers to itself.
  while (typeof current === 'object' && current !== null && causes.length < 8) {
    causes.push(current);
    current = read(current, 'cause');
  }
  return causes;
}

/** Reads a property of a foreign object, whose getter may throw. */
function read(owner: object, name: string): unknown {
  try {
    return (owner as Record<string, unknown>)[name]; // any object
  } catch {
    return undefined;
  }
}
