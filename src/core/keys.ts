import { cleanCause } from './call/redact.js';
import { ConfigurationError } from './errors.js';
import type { Route } from './call/route.js';
import type { Session } from './session.js';
import type { ApiKey } from './types.js';
import { isBrowser } from './runtime.js';

/** The prefixes of a service's keys. */
export interface KeyPrefixes {
  readonly secret: string;
  /** A public key may be visible to everybody. */
  readonly public: string;
}

/** Checks a key's form without ever repeating it. `origin` is where the key came from. */
function checkKey(key: unknown, prefixes: KeyPrefixes | undefined, origin: string): string {
  const from = cameFrom(origin);
  if (typeof key !== 'string' || key === '') {
    throw keyError(
      'The API key must be a non-empty string. Set `apiKey`, or the environment variable it comes from.',
      'INVALID_API_KEY',
    );
  }
  if (/^bearer\s|^["']/i.test(key)) {
    throw keyError(
      `The API key must be the key alone. Leave out quotes and "Bearer".${from}`,
      'INVALID_API_KEY',
    );
  }
  if (key !== key.trim() || /\s/.test(key)) {
    throw keyError(`The API key contains whitespace. Copy it again.${from}`, 'INVALID_API_KEY');
  }
  // A header takes printable ASCII only; otherwise `fetch` would fail with the key in its message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw keyError(
      `The API key contains characters that a key cannot have.${from}`,
      'INVALID_API_KEY',
    );
  }
  if (prefixes && !key.startsWith(prefixes.secret) && !key.startsWith(prefixes.public)) {
    throw keyError(
      `The API key must start with "${prefixes.secret}" or "${prefixes.public}". Is it the key of another service?${from}`,
      'INVALID_API_KEY',
    );
  }
  return key;
}

/** A sentence for the end of an error: an app with two clients has two keys. */
const cameFrom = (origin: string): string => ` The key came from ${origin}.`;

/** The error for a call that needs a key, by a client that has none. */
export function keyNeededError({ method, path, key }: Route): ConfigurationError {
  const remedy =
    key === 'secret-or-session'
      ? 'Sign in with `auth.login()` or create the client with a secret key'
      : 'Create the client with a secret key';
  return keyError(
    `A client without an API key cannot call ${method} ${path}. ${remedy}.`,
    'KEY_NEEDED',
  );
}

/** The error for a call that a public key can never make. */
function secretKeyNeededError({ method, path }: Route, prefixes: KeyPrefixes, origin: string) {
  return keyError(
    `A public key (${prefixes.public}) may only track events. Use a secret key (${prefixes.secret}) on a server to call ${method} ${path}.${cameFrom(origin)}`,
    'SECRET_KEY_NEEDED',
  );
}

/** Rejects a secret key in a browser, where every visitor could read it. */
function guardBrowser(prefixes: KeyPrefixes | undefined): void {
  if (!isBrowser()) {
    return;
  }
  const orPublic = prefixes ? `, or track events with a public key (${prefixes.public})` : '';
  throw keyError(
    `A secret key must not be used in a browser, where every visitor can read it. Call the service from a server${orPublic}. In a test with jsdom or happy-dom use the environment "node", or set \`dangerouslyAllowSecretKeyInBrowser\`.`,
    'SECRET_KEY_IN_BROWSER',
  );
}

/** The error for a secret key that would be sent over plain http. */
function plainHttpError(): ConfigurationError {
  return keyError(
    'A secret key must not be sent over plain http, where others can read it. Use an https address, or set `dangerouslyAllowPlainHttp`.',
    'PLAIN_HTTP',
  );
}

/** The error for a password or a session that would be sent over plain http. */
export function plainHttpSessionError(): ConfigurationError {
  return keyError(
    'A password or a session must not be sent over plain http, where others can read it. Use an https address, or set `dangerouslyAllowPlainHttp`.',
    'PLAIN_HTTP',
  );
}

/** The error of an `apiKey` function that failed. */
export function keyUnavailableError(cause: unknown): ConfigurationError {
  return new ConfigurationError('The `apiKey` function failed, so there is no key to call with.', {
    code: 'API_KEY_UNAVAILABLE',
    outcome: 'not-sent',
    cause: cleanCause(cause, []),
  });
}

function keyError(message: string, code: string): ConfigurationError {
  return new ConfigurationError(message, { code, outcome: 'not-sent' });
}

/** The form of a service's keys, and where they may be used. */
interface KeyPolicy {
  readonly prefixes: KeyPrefixes | undefined;
  readonly allowedInBrowser: boolean;
  /** Would the key be sent over plain http, where others can read it? */
  readonly usesPlainHttp: boolean;
  /** The source of the first key, e.g. `MESSAGING_API_KEY`. */
  readonly origin: string;
}

/** Holds a client's key, or the function that fetches it, in private fields. */
export class Keyring {
  #source: ApiKey;
  #current: string | null | undefined;
  #fetching: Promise<string> | undefined;
  readonly #policy: KeyPolicy;
  #origin: string;

  constructor(source: ApiKey, policy: KeyPolicy) {
    this.#policy = policy;
    this.#source = source;
    this.#origin = policy.origin;
    if (typeof source !== 'function') {
      this.#current = this.#check(source);
    }
  }

  /** The source of the current key. */
  get origin(): string {
    return this.#origin;
  }

  /** The key, or `undefined` until the function has returned it. */
  get current(): string | null | undefined {
    return this.#current;
  }

  /**
   * The key for a call of a route; fetches the key if necessary. Rejects a route that the key does not
   * allow.
   */
  keyFor(route: Route, session: Session): string | null | Promise<string | null> {
    if (route.key === 'none') {
      return null;
    }
    if (this.#current === undefined) {
      return this.key().then((key) => this.authorize(route, key, session));
    }
    return this.authorize(route, this.#current, session);
  }

  /** Rejects a call that this key can never make, before anything is sent. */
  authorize(route: Route, key: string | null, session: Session): string | null {
    if (key === null) {
      const hasSession = route.key === 'secret-or-session' && (session.isOpen || isBrowser());
      if (!hasSession) {
        throw keyNeededError(route);
      }
      return null;
    }
    const { prefixes } = this.#policy;
    if (prefixes && this.#isPublic(key) && route.key !== 'public-or-secret') {
      throw secretKeyNeededError(route, prefixes, this.#origin);
    }
    return key;
  }

  /** The key. A function is called once, and again only by {@link renew}. */
  async key(): Promise<string | null> {
    return this.#current === undefined ? this.#fetchKey() : this.#current;
  }

  /** May there be another key than the one that the service rejected? */
  canRenew(refused: string | null): boolean {
    return typeof this.#source === 'function' || this.#current !== refused;
  }

  /** Returns another key than the rejected one, if there is one. */
  async renew(refused: string | null): Promise<string | null> {
    // Several calls may be rejected together: the first one fetches a new key, and the others use it.
    if (this.#current !== undefined && this.#current !== refused) {
      return this.#current;
    }
    return this.#fetchKey();
  }

  /** Makes the next call fetch the key again, because the current fetch took too long. */
  dropPendingFetch(): void {
    this.#fetching = undefined;
  }

  /** Replaces the key for everything that uses this keyring. */
  swap(key: string): void {
    this.#current = this.#check(key);
    if (typeof this.#source !== 'function') {
      this.#source = key;
      this.#origin = 'the last rotation of the key';
    }
  }

  // Calls that need the key at the same time share one fetch, but each gets a separate error.
  async #fetchKey(): Promise<string | null> {
    const source = this.#source;
    if (typeof source !== 'function') {
      return this.#current ?? null;
    }
    this.#fetching ??= Promise.resolve().then(source);
    const fetching = this.#fetching;
    let key: string;
    try {
      key = await fetching;
    } catch (cause) {
      throw keyUnavailableError(cause);
    } finally {
      if (this.#fetching === fetching) {
        this.#fetching = undefined;
      }
    }
    this.#current = this.#check(key);
    return this.#current;
  }

  #check(key: string | null): string | null {
    if (key === null) {
      return null;
    }
    const checked = checkKey(key, this.#policy.prefixes, this.#origin);
    if (this.#isPublic(checked)) {
      return checked;
    }
    if (!this.#policy.allowedInBrowser) {
      guardBrowser(this.#policy.prefixes);
    }
    if (this.#policy.usesPlainHttp) {
      throw plainHttpError();
    }
    return checked;
  }

  #isPublic(key: string): boolean {
    const { prefixes } = this.#policy;
    return prefixes !== undefined && key.startsWith(prefixes.public);
  }
}
