const maxInFlight = 24;

/**
 * How many requests may be in flight while others use the same limit: each one that is in flight
 * when the limit runs out is refused. After a refusal one goes alone, then the bound doubles with
 * each answer up to half of what was too many, then grows by one a round; it stays at two dozen at
 * most until a window has passed without a refusal.
 */
export class CongestionWindow {
  #bound = Number.POSITIVE_INFINITY;
  #slowStartEnd = maxInFlight;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #opensAt = Number.NEGATIVE_INFINITY;

  /** How many requests may be in flight. */
  bound(now: number, hasOthers: boolean): number {
    if (now >= this.#opensAt) {
      this.#bound = Number.POSITIVE_INFINITY;
      this.#slowStartEnd = maxInFlight;
    }
    return hasOthers ? Math.min(this.#bound, maxInFlight) : this.#bound;
  }

  /** The service refused a request; the bound ends after so long without another refusal. */
  refused(now: number, quietMs: number): void {
    if (this.#bound > 1) {
      this.#slowStartEnd = Math.max(1, Math.min(this.#bound, maxInFlight) / 2);
    }
    this.#bound = 1;
    this.#refusedAt = now;
    this.#opensAt = Math.max(this.#opensAt, now + quietMs);
  }

  /** The service took a request. One that left before the last refusal proves nothing. */
  accepted(sentAt: number): void {
    if (sentAt <= this.#refusedAt || this.#bound >= maxInFlight) {
      return;
    }
    const more = this.#bound < this.#slowStartEnd ? this.#bound : 1 / this.#bound;
    this.#bound = Math.min(maxInFlight, this.#bound + more);
  }
}
