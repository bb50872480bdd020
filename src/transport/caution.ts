const mostInFlight = 24;

/**
 * How many requests may be under way after the service refused one of ours: others use the same
 * limit, and each request that is under way when it runs out is refused. First one goes alone,
 * then twice as many with each answer, never more than two dozen until a window passed in peace.
 */
export class Caution {
  #cap = Number.POSITIVE_INFINITY;
  #calmAt = 0;

  /** How many requests may be under way. */
  cap(now: number): number {
    if (now >= this.#calmAt) this.#cap = Number.POSITIVE_INFINITY;
    return this.#cap;
  }

  /** The service refused a request. */
  refused(now: number, windowMs: number): void {
    this.#cap = 1;
    this.#calmAt = now + windowMs;
  }

  /** The service took a request. */
  accepted(): void {
    if (this.#cap < mostInFlight) this.#cap = Math.min(mostInFlight, this.#cap * 2);
  }
}
