/** The number of requests that a service accepts in a window. */
export interface Limits {
  readonly limit: number;
  readonly windowMs: number;
}

/** The limiter of a service: accepts each request, or rejects it with a wait. */
export interface Server {
  /** 0 if the request is accepted; else the milliseconds until the next one would be. */
  arrive(now: number): number;
}

export type ServerKind = 'sliding' | 'fixed' | 'bucket';

export const serverKinds: readonly ServerKind[] = ['sliding', 'fixed', 'bucket'];

/** A limiter of this kind; `phaseMs` is how long a fixed window has been open at time 0. */
export function createServer(kind: ServerKind, limits: Limits, phaseMs: number): Server {
  if (kind === 'sliding') {
    return new SlidingServer(limits);
  }
  return kind === 'fixed' ? new FixedServer(limits, phaseMs) : new BucketServer(limits);
}

/** No more than the limit in any window, wherever it begins. */
class SlidingServer implements Server {
  readonly #limits: Limits;
  readonly #taken: number[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  arrive(now: number): number {
    const { limit, windowMs } = this.#limits;
    const oldest = this.#taken[this.#taken.length - limit];
    if (oldest !== undefined && oldest + windowMs > now) {
      return oldest + windowMs - now;
    }
    this.#taken.push(now);
    return 0;
  }
}

/** Counts in fixed windows of its clock. */
class FixedServer implements Server {
  readonly #limits: Limits;
  readonly #phaseMs: number;
  #window = -1;
  #count = 0;

  constructor(limits: Limits, phaseMs: number) {
    this.#limits = limits;
    this.#phaseMs = phaseMs;
  }

  arrive(now: number): number {
    const { limit, windowMs } = this.#limits;
    const time = now + this.#phaseMs;
    const window = Math.floor(time / windowMs);
    if (window !== this.#window) {
      this.#count = 0;
    }
    this.#window = window;
    if (this.#count >= limit) {
      return (window + 1) * windowMs - time;
    }
    this.#count++;
    return 0;
  }
}

/** Full at first, and refilled at a constant rate. */
class BucketServer implements Server {
  readonly #limits: Limits;
  #tokens: number;
  #at = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#tokens = limits.limit;
  }

  arrive(now: number): number {
    const { limit, windowMs } = this.#limits;
    const perMs = limit / windowMs;
    this.#tokens = Math.min(limit, this.#tokens + (now - this.#at) * perMs);
    this.#at = now;
    if (this.#tokens < 1) {
      return (1 - this.#tokens) / perMs;
    }
    this.#tokens--;
    return 0;
  }
}
