import { checkKey, guardBrowser, inTheClear, type ApiKey } from './auth.js';

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
  readonly #policy: KeyPolicy;

  constructor(source: ApiKey, policy: KeyPolicy) {
    this.#policy = policy;
    this.#source = source;
    if (typeof source !== 'function') this.#current = this.#check(source);
  }

  /** The key as far as it is known without asking anybody. */
  get current(): string | null | undefined {
    return this.#current;
  }

  /** Can a refused key be asked for again? */
  get canRefresh(): boolean {
    return typeof this.#source === 'function';
  }

  /** The key; a function is asked once and then again only by {@link refresh}. */
  async key(): Promise<string | null> {
    if (this.#current !== undefined) return this.#current;
    return this.refresh();
  }

  /** Asks the function for a key again. */
  async refresh(): Promise<string | null> {
    if (typeof this.#source !== 'function') return this.#current ?? null;
    this.#current = this.#check(await this.#source());
    return this.#current;
  }

  /** Goes on with another key, for all who hold this keyring. */
  swap(key: string): void {
    this.#current = this.#check(key);
    if (typeof this.#source !== 'function') this.#source = key;
  }

  #check(key: string | null): string | null {
    if (key === null) return null;
    const checked = checkKey(key, this.#policy.prefixes);
    const isPublic = checked.startsWith('pk_') && this.#policy.prefixes.includes('pk_');
    if (isPublic) return checked;
    if (!this.#policy.allowedInBrowser) guardBrowser();
    if (this.#policy.travelsInTheClear) throw inTheClear();
    return checked;
  }
}
