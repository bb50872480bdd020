import type { Route } from '../../contract/route.js';
import { ConfigurationError } from '../../errors/index.js';

/** A key, a function that fetches one, or `null` for a client without any. */
export type ApiKey = string | null | (() => string | Promise<string>);

/** Checks a key's form without ever repeating it. */
export function checkKey(key: unknown, prefixes: readonly string[]): string {
  if (typeof key !== 'string' || key === '') {
    throw configuration('The API key must be a text that is not empty.', 'INVALID_API_KEY');
  }
  if (key !== key.trim() || /\s/.test(key)) {
    throw configuration('The API key holds white space. Copy it again.', 'INVALID_API_KEY');
  }
  // A header takes printable ASCII only; anything else would fail with the key in the message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw configuration('The API key holds characters that a key cannot have.', 'INVALID_API_KEY');
  }
  if (prefixes.length > 0 && !prefixes.some((prefix) => key.startsWith(prefix))) {
    const known = prefixes.map((prefix) => `"${prefix}"`).join(' or ');
    throw configuration(`The API key must start with ${known}.`, 'INVALID_API_KEY');
  }
  return key;
}

/** Refuses a call that this key can never make, before it reaches the network. */
export function authorize(
  route: Route,
  key: string | null,
  { hasSession, hasPublicKeys }: { hasSession: boolean; hasPublicKeys: boolean },
): void {
  if (route.key === 'none') {
    return;
  }
  const line = `${route.method} ${route.path}`;
  if (key === null) {
    if (route.key === 'secret-or-session' && hasSession) {
      return;
    }
    const remedy =
      route.key === 'secret-or-session'
        ? 'Sign in with `auth.login()` or make the client with a secret key'
        : 'Make the client with a secret key';
    throw configuration(
      `A client without an API key cannot call ${line}. ${remedy}.`,
      'KEY_NEEDED',
    );
  }
  if (hasPublicKeys && key.startsWith('pk_') && route.key !== 'public-or-secret') {
    throw configuration(
      `A public key (pk_) may only track events. Use a secret key (sk_) on a server to call ${line}.`,
      'SECRET_KEY_NEEDED',
    );
  }
}

/** Refuses a secret key in a browser, where every visitor could read it. */
export function guardBrowser(): void {
  if (!isBrowser()) {
    return;
  }
  throw configuration(
    'A secret key must not be used in a browser, where every visitor can read it. Call the service from a server, or track events with a public key (pk_).',
    'SECRET_KEY_IN_BROWSER',
  );
}

/** The error for a secret key that would travel over plain http. */
export function inTheClear(): ConfigurationError {
  return configuration(
    'A secret key must not travel over plain http, where others can read it. Use an https address, or set `dangerouslyAllowPlainHttp`.',
    'PLAIN_HTTP',
  );
}

/** The error for a function that should have fetched the key and failed. */
export function keyUnavailable(cause: unknown): ConfigurationError {
  return new ConfigurationError('The `apiKey` function failed, so there is no key to call with.', {
    code: 'API_KEY_UNAVAILABLE',
    outcome: 'not-sent',
    cause,
  });
}

/** Is this an http address that leaves the machine? */
export function isInTheClear(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const isLoopback = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return protocol === 'http:' && !isLoopback;
}

/** Is this a browser's page or worker? Node, Bun, Deno and edge workers are not. */
export function isBrowser(): boolean {
  const scope = globalThis as {
    window?: { document?: unknown };
    importScripts?: unknown;
    WorkerGlobalScope?: unknown;
    WebSocketPair?: unknown;
    Deno?: unknown;
    process?: { versions?: { node?: string } };
  };
  if (typeof scope.window?.document !== 'undefined') {
    return true;
  }
  const isWorker = typeof scope.WorkerGlobalScope === 'function' && 'importScripts' in scope;
  return isWorker && !scope.WebSocketPair && !scope.Deno && !scope.process?.versions?.node;
}

function configuration(message: string, code: string): ConfigurationError {
  return new ConfigurationError(message, { code, outcome: 'not-sent' });
}
