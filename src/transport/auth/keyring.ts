import { checkKey, guardBrowser, inTheClear, keyUnavailable, type ApiKey } from './api-key.js';

/** How a service's keys look and where they may be used. */
export interface KeyPolicy {
  readonly prefixes: readonly string[];
  readonly allowedInBrowser: boolean;
  /** Would a key travel in the clear for others to read? */
  readonly travelsInTheClear: boolean;
}

/** Holds a client's key, or the function that fetches it, and lets nobody look inside. */
export class Keyring {
  #source: ApiKey;
  #current: string | null | undefined;
  #asking: Promise<string> | undefined;
  readonly #policy: KeyPolicy;

  constructor(source: ApiKey, policy: KeyPolicy) {
    this.#policy = policy;
    this.#source = source;
    if (typeof source !== 'function') {
      this.#current = this.#check(source);
    }
  }

  /** The key as far as it is known without asking anybody. */
  get current(): string | null | undefined {
    return this.#current;
  }

  /** Is a public key one that may be seen by all? Only some services have such keys. */
  get hasPublicKeys(): boolean {
    return this.#policy.prefixes.includes('pk_');
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
    // Many calls are refused together: the first one asks, or somebody has swapped the key.
    if (this.#current !== undefined && this.#current !== refused) {
      return this.#current;
    }
    return this.#ask();
  }

  /** Goes on with another key, for all who hold this keyring. */
  swap(key: string): void {
    this.#current = this.#check(key);
    if (typeof this.#source !== 'function') {
      this.#source = key;
    }
  }

  // Calls that need the key at the same time share one question, but each has its own error.
  async #ask(): Promise<string | null> {
    const source = this.#source;
    if (typeof source !== 'function') {
      return this.#current ?? null;
    }
    this.#asking ??= Promise.resolve()
      .then(source)
      .finally(() => {
        this.#asking = undefined;
      });
    let key: string;
    try {
      key = await this.#asking;
    } catch (cause) {
      throw keyUnavailable(cause);
    }
    this.#current = this.#check(key);
    return this.#current;
  }

  #check(key: string | null): string | null {
    if (key === null) {
      return null;
    }
    const checked = checkKey(key, this.#policy.prefixes);
    if (checked.startsWith('pk_') && this.hasPublicKeys) {
      return checked;
    }
    if (!this.#policy.allowedInBrowser) {
      guardBrowser();
    }
    if (this.#policy.travelsInTheClear) {
      throw inTheClear();
    }
    return checked;
  }
}
