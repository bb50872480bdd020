import { ConfigurationError, isPostreelError } from './errors.js';
import { isBrowser } from './runtime.js';
import type { Route } from './call/route.js';

/** The paths of a service's sessions. */
export interface SessionPaths {
  /** Every path below the prefix takes part in the session. */
  readonly prefix: string;
  /** The paths that sign a person in, and so begin a session. */
  readonly starts: readonly string[];
  /** The path that ends the session. */
  readonly end: string;
}

/**
 * The session cookie of one client, for runtimes whose `fetch` stores no cookies. It is sent only with the
 * account routes, and only to the address that set it.
 */
export class Session {
  readonly #cookies = new Map<string, string>();
  readonly #paths: SessionPaths | undefined;
  #isSigningIn = false;
  #isSignedIn = false;

  constructor(paths?: SessionPaths) {
    this.#paths = paths;
  }

  get isOpen(): boolean {
    return this.#cookies.size > 0;
  }

  /**
   * Rejects a second sign-in, because the first person's calls would continue with the second person's
   * session. A browser has one user, and stores the session itself.
   */
  reserve({ path, method }: Route): void {
    if (!this.#begins(path) || isBrowser()) {
      return;
    }
    if (this.#isSigningIn || (this.#isSignedIn && this.isOpen)) {
      throw new ConfigurationError(
        `${method} ${path} was not sent: this client has the session of someone who signed in. Create a client for each person, or call \`auth.logout()\` first.`,
        { code: 'SESSION_IN_USE', method, path },
      );
    }
    this.#isSigningIn = true;
  }

  /** Updates the session from the response of a route. */
  keep(route: Route, { headers }: Response): void {
    if (route.path === this.#paths?.end) {
      this.clear();
    } else {
      this.absorb(headers);
    }
    if (this.#begins(route.path)) {
      this.#isSigningIn = false;
      this.#isSignedIn = true;
    }
  }

  /** A call failed: a sign-in did not succeed, or the session to end had already ended. */
  failed({ path }: Route, failure: unknown): void {
    if (this.#begins(path)) {
      this.#isSigningIn = false;
    }
    if (path === this.#paths?.end && isPostreelError(failure) && failure.status === 401) {
      this.clear();
    }
  }

  #begins(path: string): boolean {
    return this.#paths?.starts.includes(path) ?? false;
  }

  /** The `Cookie` header; `undefined` if there are no cookies. */
  header(): string | undefined {
    if (this.#cookies.size === 0) {
      return undefined;
    }
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Stores the cookies that a response sets, and removes expired ones. */
  absorb(headers: Headers): void {
    for (const line of setCookieLinesOf(headers)) {
      const [pair = '', ...attributes] = line.split(';');
      const equals = pair.indexOf('=');
      if (equals < 1) {
        continue;
      }
      const name = pair.slice(0, equals).trim();
      const value = pair.slice(equals + 1).trim();
      if (value === '' || isExpired(attributes)) {
        this.#cookies.delete(name);
      } else {
        this.#cookies.set(name, value);
      }
    }
  }

  clear(): void {
    this.#cookies.clear();
    this.#isSignedIn = false;
  }
}

// Some browsers do not have this method; there the browser handles the cookies.
function setCookieLinesOf(headers: Partial<Pick<Headers, 'getSetCookie'>>): readonly string[] {
  return headers.getSetCookie?.() ?? [];
}

// `Max-Age` has priority over `Expires`, as in RFC 6265.
function isExpired(attributes: readonly string[]): boolean {
  const named = new Map(attributes.map(parseAttribute));
  const maxAge = named.get('max-age');
  if (maxAge !== undefined) {
    return Number(maxAge) <= 0;
  }
  return Date.parse(named.get('expires') ?? '') <= Date.now();
}

function parseAttribute(attribute: string): [string, string] {
  const [name = '', value = ''] = attribute.trim().split('=');
  return [name.toLowerCase(), value];
}
