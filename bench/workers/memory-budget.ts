import {
  capacityOf,
  type BudgetLimits,
  type RateBudgetStore,
  type StoreAnswer,
} from '../../src/core/rate-store.js';

/** A store that holds places too. */
export type PlaceStore = RateBudgetStore &
  Required<Pick<RateBudgetStore, 'lease' | 'hold' | 'giveBack'>>;

/** A budget that the workers of one process share as if they were several, on the process's clock. */
export class MemoryBudget implements PlaceStore {
  readonly #slots = new Map<string, number>();
  readonly #places = new Map<string, number>();
  #closedUntil = 0;
  #names = 0;

  take(_: string, limits: BudgetLimits, leaseMs: number): Promise<StoreAnswer> {
    const now = Date.now();
    if (this.#closedUntil > now) {
      return Promise.resolve({ waitMs: this.#closedUntil - now });
    }
    forget(this.#slots, now);
    if (this.#slots.size >= capacityOf(limits)) {
      const waitMs = Math.min(...this.#slots.values()) - now;
      return Promise.resolve({ waitMs: Math.min(waitMs, limits.windowMs) });
    }
    const slot = `slot ${++this.#names}`;
    this.#slots.set(slot, now + leaseMs);
    return Promise.resolve({ slots: [slot] });
  }

  release(_: string, slot: string, { windowMs }: BudgetLimits): Promise<void> {
    this.#slots.set(slot, Date.now() + windowMs);
    return Promise.resolve();
  }

  cancel(_: string, slot: string): Promise<void> {
    this.#slots.delete(slot);
    return Promise.resolve();
  }

  close(_: string, delayMs: number): Promise<void> {
    this.#closedUntil = Math.max(this.#closedUntil, Date.now() + delayMs);
    return Promise.resolve();
  }

  lease(_: string, count: number, limit: number, leaseMs: number): Promise<string[]> {
    const now = Date.now();
    forget(this.#places, now);
    const free = Math.max(0, Math.min(count, limit - this.#places.size));
    const taken = Array.from({ length: free }, () => `place ${++this.#names}`);
    taken.forEach((name) => this.#places.set(name, now + leaseMs));
    return Promise.resolve(taken);
  }

  hold(
    _: string,
    names: readonly string[],
    leaseMs: number,
    instead: readonly string[],
  ): Promise<void> {
    instead.forEach((name) => this.#places.delete(name));
    names.forEach((name) => this.#places.set(name, Date.now() + leaseMs));
    return Promise.resolve();
  }

  giveBack(_: string, places: readonly string[]): Promise<void> {
    places.forEach((name) => this.#places.delete(name));
    return Promise.resolve();
  }
}

function forget(leases: Map<string, number>, now: number): void {
  for (const [name, until] of leases) {
    if (until <= now) {
      leases.delete(name);
    }
  }
}
