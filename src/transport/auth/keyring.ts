import type { Route } from '../../contract/route.js';
import {
  checkKey,
  guardBrowser,
  inTheClear,
  isBrowser,
  keyNeeded,
  keyUnavailable,
  secretKeyNeeded,
  type ApiKey,
  type KeyPrefixes,
} from './api-key.js';
import type { Session } from './session.js';

/** How a service's keys look and where they may be used. */
export interface KeyPolicy {
  readonly prefixes: KeyPrefixes | undefined;
  readonly allowedInBrowser: boolean;
  /** Would a key travel in the clear for others to read? */
  readonly usesPlainHttp: boolean;
  /** Where the first key comes from: `MESSAGING_API_KEY`. */
  readonly origin: string;
}

/** Holds a client's key, or the function that fetches it, and keeps it private. */
export class Keyring {
  #source: ApiKey;
  #current: string | null | undefined;
  #asking: Promise<string> | undefined;
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

  /** Where the current key comes from. */
  get origin(): string {
    return this.#origin;
  }

  /** The key, if it is known without calling the function. */
  get current(): string | null | undefined {
    return this.#current;
  }

  /** The key for a call of a route, asked for when it is not known yet; refuses what it cannot open. */
  keyFor(route: Route, session: Session): string | null | Promise<string | null> {
    if (route.key === 'none') {
      return null;
    }
    if (this.#current === undefined) {
      return this.key().then((key) => this.authorize(route, key, session));
    }
    return this.authorize(route, this.#current, session);
  }

  /** Refuses a call that this key can never make, before it reaches the network. */
  authorize(route: Route, key: string | null, session: Session): string | null {
    if (key === null) {
      const hasSession = route.key === 'secret-or-session' && (session.isOpen || isBrowser());
      if (!hasSession) {
        throw keyNeeded(route);
      }
      return null;
    }
    const { prefixes } = this.#policy;
    if (prefixes && this.#isPublic(key) && route.key !== 'public-or-secret') {
      throw secretKeyNeeded(route, prefixes);
    }
    return key;
  }

  /** The key; a function is asked once and then again only by {@link renew}. */
  async key(): Promise<string | null> {
    return this.#current === undefined ? this.#ask() : this.#current;
  }

  /** Is there, or may there be, another key than the one that was refused? */
  canRenew(refused: string | null): boolean {
    return typeof this.#source === 'function' || this.#current !== refused;
  }

  /** Another key than the one that was refused, as far as there is one. */
  async renew(refused: string | null): Promise<string | null> {
    // Many calls are refused together: the first one fetches the key, or it was replaced meanwhile.
    if (this.#current !== undefined && this.#current !== refused) {
      return this.#current;
    }
    return this.#ask();
  }

  /** The next call asks anew: the question under way has not been answered in time. */
  forgetQuestion(): void {
    this.#asking = undefined;
  }

  /** Goes on with another key, for all who hold this keyring. */
  swap(key: string): void {
    this.#current = this.#check(key);
    if (typeof this.#source !== 'function') {
      this.#source = key;
      this.#origin = 'the last rotation of the key';
    }
  }

  // Calls that need the key at the same time share one question, but each has its own error.
  async #ask(): Promise<string | null> {
    const source = this.#source;
    if (typeof source !== 'function') {
      return this.#current ?? null;
    }
    this.#asking ??= Promise.resolve().then(source);
    const asking = this.#asking;
    let key: string;
    try {
      key = await asking;
    } catch (cause) {
      throw keyUnavailable(cause);
    } finally {
      if (this.#asking === asking) {
        this.#asking = undefined;
      }
    }
    this.#current = this.#check(key);
    return this.#current;
  }

  #check(key: string | null): string | null {
    if (key === null) {
      return null;
    }
    const checked = checkKey(key, this.#policy.prefixes);
    if (this.#isPublic(checked)) {
      return checked;
    }
    if (!this.#policy.allowedInBrowser) {
      guardBrowser(this.#policy.prefixes);
    }
    if (this.#policy.usesPlainHttp) {
      throw inTheClear();
    }
    return checked;
  }

  #isPublic(key: string): boolean {
    const { prefixes } = this.#policy;
    return prefixes !== undefined && key.startsWith(prefixes.public);
  }
}
