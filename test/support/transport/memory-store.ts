import type { RateBudgetStore } from 'postreel';
import { capacityOf } from '../../../src/core/limit/rate-store.js';

/**
 * A store for all budgets of one test, whatever their group: a client with a separate group behaves
 * like a client in another process. It uses `Date`.
 */
export function memoryStore() {
  const slots = new Map<string, number>();
  const places = new Map<string, number>();
  let closedUntil = 0;
  let names = 0;

  const lease = (leases: Map<string, number>, count: number, most: number, leaseMs: number) => {
    for (const [name, until] of leases) {
      if (until <= Date.now()) {
        leases.delete(name);
      }
    }
    const free = Math.max(0, Math.min(count, most - leases.size));
    const taken = Array.from({ length: free }, () => `lease ${++names}`);
    taken.forEach((name) => leases.set(name, Date.now() + leaseMs));
    return taken;
  };
  // Asynchronous, like a real store.
  const store: Required<RateBudgetStore> = {
    async take(_, limits, leaseMs, count = 1) {
      await Promise.resolve();
      const now = Date.now();
      if (closedUntil > now) {
        return { waitMs: closedUntil - now };
      }
      const taken = lease(slots, count, capacityOf(limits), leaseMs);
      const waitMs = Math.min(limits.windowMs, ...[...slots.values()].map((until) => until - now));
      return taken.length > 0 ? { slots: taken } : { waitMs: Math.max(1, waitMs) };
    },
    async release(_, slot, { windowMs }) {
      await Promise.resolve();
      slots.set(slot, Date.now() + windowMs);
    },
    async cancel(_, slot) {
      await Promise.resolve();
      slots.delete(slot);
    },
    async close(_, delayMs) {
      await Promise.resolve();
      closedUntil = Math.max(closedUntil, Date.now() + Math.min(delayMs, 3_600_000));
    },
    async lease(_, count, limit, leaseMs) {
      await Promise.resolve();
      return lease(places, count, limit, leaseMs);
    },
    async hold(_, held, leaseMs, instead) {
      await Promise.resolve();
      instead.forEach((name) => places.delete(name));
      held.forEach((name) => places.set(name, Date.now() + leaseMs));
    },
    async giveBack(_, given) {
      await Promise.resolve();
      given.forEach((name) => places.delete(name));
    },
  };
  return { store, slots };
}
