const WINDOW_MS = 60_000;
/** A page waits no longer for a `Retry-After`; a service's clock or typing error must not shut it. */
const MAX_WAIT_MS = 300_000;

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

  constructor(perMinute: number) {
    this.#limit = Math.max(1, Math.floor(perMinute));
  }

  /** Milliseconds until a slot is free; 0 takes one. */
  take(): number {
    const now = Date.now();
    this.#freeAt = this.#freeAt.filter((freeAt) => freeAt > now && freeAt <= now + WINDOW_MS);
    const waitMs = this.waitMs();
    if (waitMs) {
      return waitMs;
    }
    if (this.#open + this.#freeAt.length >= this.#limit) {
      return (this.#freeAt[0] ?? now + 1000) - now;
    }
    this.#open++;
    return 0;
  }

  /** Milliseconds for which the service has asked not to send. */
  waitMs(): number {
    const waitMs = this.#closedUntil - Date.now();
    // Longer than any wait: the clock was set back.
    return waitMs > 0 && waitMs <= MAX_WAIT_MS ? waitMs : 0;
  }

  /** The answer has come: the slot is free a window later. */
  answered(): void {
    this.#open--;
    this.#freeAt.push(Date.now() + WINDOW_MS);
  }

  /** The service answered 429, perhaps to another program of the project: nothing is sent. */
  close(retryAfter: string | null | undefined): void {
    this.#closedUntil = Date.now() + waitOf(retryAfter);
  }
}

/** The milliseconds of a `Retry-After`, in seconds or as a date; a minute where it has neither. */
function waitOf(retryAfter: string | null | undefined): number {
  const text = retryAfter?.trim() ?? '';
  const asked = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Math.min(MAX_WAIT_MS, asked > 0 ? asked : WINDOW_MS);
}
