import type { Route } from '../../contract/route.js';
import { cleanCause } from './redact.js';
import { ConfigurationError } from '../../errors/index.js';

/** A key, a function that fetches one, or `null` for a client without any. */
export type ApiKey = string | null | (() => string | Promise<string>);

/** How the keys of a service begin. */
export interface KeyPrefixes {
  readonly secret: string;
  /** A public key may be seen by everybody. */
  readonly public: string;
}

/** Checks a key's form without ever repeating it. */
export function checkKey(key: unknown, prefixes: KeyPrefixes | undefined): string {
  if (typeof key !== 'string' || key === '') {
    throw configuration(
      'The API key must be a non-empty string. Set `apiKey`, or the environment variable it comes from.',
      'INVALID_API_KEY',
    );
  }
  if (/^bearer\s|^["']/i.test(key)) {
    throw configuration(
      'The API key must be the key alone. Leave out quotes and "Bearer".',
      'INVALID_API_KEY',
    );
  }
  if (key !== key.trim() || /\s/.test(key)) {
    throw configuration('The API key contains whitespace. Copy it again.', 'INVALID_API_KEY');
  }
  // A header takes printable ASCII only; anything else would fail with the key in the message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw configuration(
      'The API key contains characters that a key cannot have.',
      'INVALID_API_KEY',
    );
  }
  if (prefixes && !key.startsWith(prefixes.secret) && !key.startsWith(prefixes.public)) {
    throw configuration(
      `The API key must start with "${prefixes.secret}" or "${prefixes.public}". Is it the key of another service?`,
      'INVALID_API_KEY',
    );
  }
  return key;
}

/** The error for a call that needs a key, by a client that has none. */
export function keyNeeded({ method, path, key }: Route): ConfigurationError {
  const remedy =
    key === 'secret-or-session'
      ? 'Sign in with `auth.login()` or create the client with a secret key'
      : 'Create the client with a secret key';
  return configuration(
    `A client without an API key cannot call ${method} ${path}. ${remedy}.`,
    'KEY_NEEDED',
  );
}

/** The error for a call that a public key can never make. */
export function secretKeyNeeded({ method, path }: Route, prefixes: KeyPrefixes) {
  return configuration(
    `A public key (${prefixes.public}) may only track events. Use a secret key (${prefixes.secret}) on a server to call ${method} ${path}.`,
    'SECRET_KEY_NEEDED',
  );
}

/** Refuses a secret key in a browser, where every visitor could read it. */
export function guardBrowser(prefixes: KeyPrefixes | undefined): void {
  if (!isBrowser()) {
    return;
  }
  const orPublic = prefixes ? `, or track events with a public key (${prefixes.public})` : '';
  throw configuration(
    `A secret key must not be used in a browser, where every visitor can read it. Call the service from a server${orPublic}.`,
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

/** The error for a password or a session that would travel over plain http. */
export function signInInTheClear(): ConfigurationError {
  return configuration(
    'A password or a session must not travel over plain http, where others can read it. Use an https address, or set `dangerouslyAllowPlainHttp`.',
    'PLAIN_HTTP',
  );
}

/** The error for a function that should have fetched the key and failed. */
export function keyUnavailable(cause: unknown): ConfigurationError {
  return new ConfigurationError('The `apiKey` function failed, so there is no key to call with.', {
    code: 'API_KEY_UNAVAILABLE',
    outcome: 'not-sent',
    cause: cleanCause(cause),
  });
}

/** Is this an http address that leaves the machine? */
export function isPlainHttp(baseUrl: string): boolean {
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
