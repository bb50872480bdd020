/**
 * Closed while the service asks to wait. Of a wait that is longer than a window, one request a window
 * tries whether it is over: it may have been measured by a clock that is wrong.
 */
export class Gate {
  #closedAt = Number.NEGATIVE_INFINITY;
  #opensAt = Number.NEGATIVE_INFINITY;
  #probeAt = Number.NEGATIVE_INFINITY;

  /** The service asked to wait for so long. */
  close(now: number, delayMs: number, windowMs: number): void {
    this.#closedAt = now;
    this.#opensAt = Math.max(this.#opensAt, now + delayMs);
    this.#probeAt = now + windowMs;
  }

  /** How long the service still asks to wait. */
  closedMs(now: number): number {
    return Math.max(0, this.#opensAt - now);
  }

  /** How long until a request may leave: any, or one that tries. */
  nextMs(now: number): number {
    return Math.max(0, Math.min(this.#opensAt, this.#probeAt) - now);
  }

  /** A request leaves: through a closed gate, the next one tries a window later. */
  passed(now: number, windowMs: number): void {
    this.#probeAt = now + windowMs;
  }

  /** A request that was to leave at that time did not: another one may try. */
  cancelled(sentAt: number): void {
    if (sentAt > this.#closedAt) {
      this.#probeAt = sentAt;
    }
  }

  /** The service took a request that left at that time. */
  accepted(sentAt: number): void {
    if (sentAt > this.#closedAt) {
      this.#opensAt = Number.NEGATIVE_INFINITY;
    }
  }
}
