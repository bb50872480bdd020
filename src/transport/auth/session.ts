import type { Route } from '../../contract/route.js';

/** Where a service keeps its session. */
export interface SessionPaths {
  /** Every path below it takes part in the session. */
  readonly prefix: string;
  /** The path that ends it. */
  readonly end: string;
}

/**
 * The session cookie of one client, for runtimes whose `fetch` keeps none. It travels only with
 * the account routes, and only to the address that set it.
 */
export class Session {
  readonly #cookies = new Map<string, string>();
  readonly #paths: SessionPaths | undefined;

  constructor(paths?: SessionPaths) {
    this.#paths = paths;
  }

  get isOpen(): boolean {
    return this.#cookies.size > 0;
  }

  /** Keeps what the answer of a route does to the session. */
  keep(route: Route, { headers }: Response): void {
    if (route.path === this.#paths?.end) {
      this.clear();
    } else {
      this.absorb(headers);
    }
  }

  /** The `Cookie` header, or nothing to send. */
  header(): string | undefined {
    if (this.#cookies.size === 0) {
      return undefined;
    }
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Keeps what an answer sets; an expired cookie is dropped. */
  absorb(headers: Headers): void {
    for (const line of setCookieLines(headers)) {
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
  }
}

// Some browsers have no such method; there the cookies are the browser's.
function setCookieLines(headers: Partial<Pick<Headers, 'getSetCookie'>>): readonly string[] {
  return headers.getSetCookie?.() ?? [];
}

// `Max-Age` goes before `Expires`, as RFC 6265 has it.
function isExpired(attributes: readonly string[]): boolean {
  const named = new Map(attributes.map(nameAndValue));
  const maxAge = named.get('max-age');
  if (maxAge !== undefined) {
    return Number(maxAge) <= 0;
  }
  return Date.parse(named.get('expires') ?? '') <= Date.now();
}

function nameAndValue(attribute: string): [string, string] {
  const [name = '', value = ''] = attribute.trim().split('=');
  return [name.toLowerCase(), value];
}
