const mostInFlight = 24;

/**
 * How many requests may be under way while others use the same limit: each one that is under way
 * when it runs out is refused. After a refusal one goes alone, then twice as many with each
 * answer up to half of what was too many, then one more with each round; never more than two
 * dozen until a window has passed in peace.
 */
export class Caution {
  #cap = Number.POSITIVE_INFINITY;
  #careful = mostInFlight;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #calmAt = Number.NEGATIVE_INFINITY;

  /** How many requests may be under way. */
  cap(now: number, hasOthers: boolean): number {
    if (now >= this.#calmAt) {
      this.#cap = Number.POSITIVE_INFINITY;
      this.#careful = mostInFlight;
    }
    return hasOthers ? Math.min(this.#cap, mostInFlight) : this.#cap;
  }

  /** The service refused a request; the peace begins that much later. */
  refused(now: number, calmInMs: number): void {
    if (this.#cap > 1) {
      this.#careful = Math.max(1, Math.min(this.#cap, mostInFlight) / 2);
    }
    this.#cap = 1;
    this.#refusedAt = now;
    this.#calmAt = Math.max(this.#calmAt, now + calmInMs);
  }

  /** The service took a request. One that left before the last refusal says nothing any more. */
  accepted(sentAt: number): void {
    if (sentAt <= this.#refusedAt || this.#cap >= mostInFlight) {
      return;
    }
    const more = this.#cap < this.#careful ? this.#cap : 1 / this.#cap;
    this.#cap = Math.min(mostInFlight, this.#cap + more);
  }
}
