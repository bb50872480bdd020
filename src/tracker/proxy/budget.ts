/** Requests a minute that a project may make. */
const LIMIT = 1000;
const WINDOW_MS = 60_000;

/**
 * The rate budget of one proxy. A slot is held from sending until a window after its answer:
 * whatever window the service counts in, it never sees too many.
 */
export class Budget {
  readonly #limit: number;
  #open = 0;
  /** When each answered slot is free again, earliest first. */
  #freeAt: number[] = [];
  #closedUntil = 0;

  /** @param share of the project's limit, 0 to 1 */
  constructor(share: number) {
    this.#limit = Math.max(1, Math.floor(LIMIT * share));
  }

  /** Milliseconds until a slot is free; 0 takes one. */
  take(): number {
    const now = Date.now();
    this.#freeAt = this.#freeAt.filter((freeAt) => freeAt > now);
    if (now < this.#closedUntil) {
      return this.#closedUntil - now;
    }
    if (this.#open + this.#freeAt.length >= this.#limit) {
      return (this.#freeAt[0] ?? now + 1000) - now;
    }
    this.#open++;
    return 0;
  }

  /** The answer has come: the slot is free a window later. */
  answered(): void {
    this.#open--;
    this.#freeAt.push(Date.now() + WINDOW_MS);
  }

  /** The service said 429, perhaps to somebody else's request: nobody sends for a while. */
  close(retryAfter: string | undefined): void {
    this.#closedUntil = Date.now() + (Number(retryAfter) * 1000 || WINDOW_MS);
  }
}
