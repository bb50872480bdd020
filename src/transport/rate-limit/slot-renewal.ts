import { monotonicMs } from '../../async/timers.js';
import { stragglingMs } from './budget.js';

const renewEveryMs = 1_000;

/**
 * How much longer than a window a slot is taken that is renewed: a request that left before its process
 * died reaches the service within this time, or never.
 */
export const renewedGraceMs = stragglingMs + 2 * renewEveryMs;

/**
 * Renews the slots of requests under way, so that their leases can be short: the slots of a process
 * that dies come free a window later, not minutes. Most requests are answered before.
 */
export class SlotRenewal {
  readonly #renew: (slots: readonly string[]) => void;
  /** When the lease of each slot was last begun. */
  readonly #begunAt = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(renew: (slots: readonly string[]) => void) {
    this.#renew = renew;
  }

  add(slot: string): void {
    this.#begunAt.set(slot, monotonicMs());
    if (this.#timer === undefined) {
      this.#schedule();
    }
  }

  delete(slot: string): void {
    this.#begunAt.delete(slot);
  }

  #schedule(): void {
    this.#timer = this.#begunAt.size > 0 ? setTimeout(() => this.#run(), renewEveryMs) : undefined;
    (this.#timer as { unref?: () => void } | undefined)?.unref?.(); // as: browsers' timers have none
  }

  #run(): void {
    const now = monotonicMs();
    const due = [...this.#begunAt].flatMap(([slot, at]) => (now - at >= renewEveryMs ? slot : []));
    for (const slot of due) {
      this.#begunAt.set(slot, now);
    }
    if (due.length > 0) {
      this.#renew(due);
    }
    this.#schedule();
  }
}
