/**
 * The slots of one window, by acknowledgement (decision 006). A slot is held from sending until one
 * window after its answer was read. The service saw the request somewhere in between, so no window of
 * its own, sliding or fixed, can hold more than the limit, whatever the network does.
 */
export class AckWindow {
  /** When the slots of ended requests come free, earliest first; `#expired` are gone already. */
  #held: number[] = [];
  #expired = 0;
  inFlight = 0;

  /** How many slots are taken. */
  used(now: number): number {
    while ((this.#held[this.#expired] ?? Number.POSITIVE_INFINITY) <= now) {
      this.#expired++;
    }
    // Dropping the expired ones in bulk keeps each call at constant cost.
    if (this.#expired > 1024) {
      this.#held = this.#held.slice(this.#expired);
      this.#expired = 0;
    }
    return this.inFlight + this.#held.length - this.#expired;
  }

  /** Holds the slot of a request that has ended. */
  hold(until: number): void {
    let place = this.#held.length;
    // Nearly always the last: only a request without an answer is held longer than its window.
    while (place > this.#expired && (this.#held[place - 1] ?? 0) > until) {
      place--;
    }
    if (place === this.#held.length) {
      this.#held.push(until);
    } else {
      this.#held.splice(place, 0, until);
    }
  }

  /** When a slot comes free after so many others; `undefined` while it is still in flight. */
  freeAt(position: number): number | undefined {
    return this.#held[this.#expired + position];
  }
}
