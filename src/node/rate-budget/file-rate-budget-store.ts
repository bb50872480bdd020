import { resolve } from 'node:path';
import type { RateBudgetStore } from '../../core/rate-store.js';
import {
  closeBudget,
  freePlaces,
  freeSlot,
  holdSlot,
  holdPlaces,
  reopenBudget,
  takePlaces,
  takeSlots,
} from './project-budget.js';
import { BudgetFile } from './budget-file.js';

/**
 * A rate budget on disk, shared by the processes of one machine. A window outlives a short process:
 * the next one knows what the last one sent. Its times are those of the machine's monotonic clock, so
 * setting the time of day changes nothing. A process that is killed loses its slots after a
 * window and two minutes; a torn file counts as empty. Where the file cannot be read or
 * written, or is a link, each process keeps to the limit by itself, with a `warning`.
 *
 * @param path - The file; it and its folder are created when needed. Beside it there is a lock.
 */
export function fileRateBudgetStore(path: string): RateBudgetStore {
  const file = new BudgetFile(resolve(path));
  return {
    take: (group, limits, leaseMs, count = 1) =>
      file.change(group, (budget, now) => takeSlots(budget, limits, { leaseMs, count }, now)),
    release: (group, slot, { windowMs }) =>
      file.changeInBackground(group, (budget, now) => holdSlot(budget, slot, now + windowMs)),
    cancel: (group, slot) => file.changeInBackground(group, (budget) => freeSlot(budget, slot)),
    close: (group, delayMs) =>
      file.changeInBackground(group, (budget, now) => closeBudget(budget, now + delayMs, now)),
    reopen: (group) => file.changeInBackground(group, reopenBudget),
    lease: (group, count, limit, leaseMs) =>
      file.change(group, (budget, now) => takePlaces(budget, { count, limit, leaseMs }, now)),
    hold: (group, names, leaseMs, instead) =>
      file.changeInBackground(group, (budget, now) =>
        holdPlaces(budget, { names, instead, until: now + leaseMs }),
      ),
    giveBack: (group, places) =>
      file.changeInBackground(group, (budget) => freePlaces(budget, places)),
  };
}
