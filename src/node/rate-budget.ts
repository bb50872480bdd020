import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { capacityOf, maxCloseMs, type RateBudgetStore } from '../core/limit/rate-store.js';
import { requirePath } from './file-system.js';
import { BudgetFile, type Leases } from './budget-file.js';

/**
 * A rate budget on disk, shared by the processes of one machine. The file outlives a short process: the next
 * process knows the requests of the last one. Its times are those of the machine's monotonic clock, so
 * setting the time of day changes nothing. The slots of a killed process become free after a window and ten
 * seconds; a torn file counts as empty. If the file cannot be read or written, each process keeps to the
 * limit by itself, with a `warning`.
 *
 * @param path - The file; it and its folder are created when needed. A lock is kept next to the file.
 */
export function fileRateBudgetStore(path: string): RateBudgetStore {
  requirePath(path, 'fileRateBudgetStore');
  const file = new BudgetFile(resolve(path));
  return {
    take: (group, limits, leaseMs, count = 1) =>
      file.change(group, ({ slots, closedUntil }, now) => {
        if (closedUntil > now) {
          return { waitMs: closedUntil - now };
        }
        const taken = takeLeases(slots, count, capacityOf(limits), now + leaseMs);
        // The response to a request in flight comes now at the earliest, and frees its slot a window later.
        const firstFreeAt = [...slots.values()].reduce(
          (first, until) => Math.min(first, until),
          now + limits.windowMs,
        );
        return taken.length > 0 ? { slots: taken } : { waitMs: Math.max(1, firstFreeAt - now) };
      }),
    release: (group, slot, { windowMs }) =>
      file.change(group, ({ slots }, now) => void slots.set(slot, now + windowMs)),
    cancel: (group, slot) => file.change(group, ({ slots }) => void slots.delete(slot)),
    close: (group, delayMs) =>
      file.change(group, (budget, now) => {
        const until = now + Math.min(delayMs, maxCloseMs);
        budget.closedUntil = Math.max(budget.closedUntil, until);
      }),
    lease: (group, count, limit, leaseMs) =>
      file.change(group, ({ places }, now) => takeLeases(places, count, limit, now + leaseMs)),
    hold: (group, names, leaseMs, instead) =>
      file.change(group, ({ places }, now) => {
        instead.forEach((name) => places.delete(name));
        names.forEach((name) => places.set(name, now + leaseMs));
      }),
    giveBack: (group, names) =>
      file.change(group, ({ places }) => names.forEach((name) => places.delete(name))),
  };
}

/** Takes up to `count` leases, as far as they are free. */
function takeLeases(leases: Leases, count: number, most: number, until: number): string[] {
  const free = Math.max(0, most - leases.size);
  const taken = Array.from({ length: Math.min(count, free) }, () => randomUUID());
  taken.forEach((name) => leases.set(name, until));
  return taken;
}
