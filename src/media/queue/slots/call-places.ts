import { systemClock } from '../../../async/clock.js';
import type { RateBudgetStore } from '../../../contract/rate-budget-store.js';
import { SlotLeases } from './leases.js';

const renewEveryMs = 60_000;

/**
 * The places of jobs that are submitted beside a queue, in a store that several processes share. A job
 * that is not waited for keeps its place for one lease: its end is not seen here.
 */
export class CallPlaces {
  readonly #leases: SlotLeases;
  readonly #limit: number;
  readonly #places = new Map<string, { readonly name: string; readonly renewedAt: number }>();

  constructor(store: RateBudgetStore, { group, limit }: { group: string; limit: number }) {
    this.#leases = new SlotLeases(store, group, systemClock);
    this.#limit = limit;
  }

  /** Takes places for a call that is about to leave: as many as there are. */
  async take(count: number, warn: (message: string) => void): Promise<readonly string[]> {
    this.#leases.warn = warn;
    return (await this.#leases.take(count, this.#limit)) ?? [];
  }

  /** The jobs of a call were accepted: they have places now, whether there were any or not. */
  keep(fileIds: readonly string[], taken: readonly string[]): void {
    const { canHold } = this.#leases;
    for (const [index, fileId] of fileIds.entries()) {
      const name = canHold ? fileId : taken[index];
      if (name !== undefined) {
        this.#places.set(fileId, { name, renewedAt: systemClock.now() });
      }
    }
    this.#leases.hold(fileIds, taken);
  }

  /** None of the jobs was submitted. */
  giveBack(taken: readonly string[]): void {
    this.#leases.giveBack(taken);
  }

  /** A file is still being made. */
  renew(fileId: string): void {
    const place = this.#places.get(fileId);
    const now = systemClock.now();
    if (place && now - place.renewedAt >= renewEveryMs) {
      this.#places.set(fileId, { ...place, renewedAt: now });
      this.#leases.hold([place.name], []);
    }
  }

  /** A file has come to its end. */
  end(fileId: string): void {
    const place = this.#places.get(fileId);
    if (place) {
      this.#places.delete(fileId);
      this.giveBack([place.name]);
    }
  }
}
