const WINDOW_MS = 60_000;
/**
 * The longest pause after a `Retry-After`: a wrong clock or value of the service must not block the proxy.
 */
const MAX_WAIT_MS = 300_000;

/**
 * The rate budget of one proxy. A slot is held from sending until one window after the response: however the
 * service counts its window, it never sees too many requests.
 */
export class Budget {
  readonly #limit: number;
  #open = 0;
  /** The times at which the slots of ended requests become free, earliest first. */
  #freeAt: number[] = [];
  #closedUntil = 0;

  constructor(perMinute: number) {
    this.#limit = Math.max(1, Math.floor(perMinute));
  }

  /** Milliseconds until a slot is free; 0 takes the slot. */
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

  /** Milliseconds left of the pause that the service requested. */
  waitMs(): number {
    const waitMs = this.#closedUntil - Date.now();
    // A pause longer than the maximum was set before the clock was set back.
    return waitMs > 0 && waitMs <= MAX_WAIT_MS ? waitMs : 0;
  }

  /** Called when the response has arrived: the slot becomes free one window later. */
  answered(): void {
    this.#open--;
    this.#freeAt.push(Date.now() + WINDOW_MS);
  }

  /** Called after a 429, perhaps because of another program of the project: pauses all requests. */
  close(retryAfter: string | null | undefined): void {
    this.#closedUntil = Date.now() + waitOf(retryAfter);
  }
}

/** Parses a `Retry-After`, in seconds or as a date, to milliseconds; a minute if it is neither. */
function waitOf(retryAfter: string | null | undefined): number {
  const text = retryAfter?.trim() ?? '';
  const asked = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Math.min(MAX_WAIT_MS, asked > 0 ? asked : WINDOW_MS);
}
