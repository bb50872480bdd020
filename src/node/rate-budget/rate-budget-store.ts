import { resolve } from 'node:path';
import type { RateBudgetStore } from '../../contract/rate-budget-store.js';
import { closeAccount, freePlaces, freeSlot, holdSlot, takePlaces, takeSlot } from './project-budget.js';
import { Ledger } from './budget-file.js';

/**
 * A rate budget on disk, shared by the processes of one machine. A window outlives a short process:
 * the next one knows what the last one sent. A process that is killed loses its slots after a
 * window and two minutes; a file that cannot be read counts as empty. Where the file cannot be
 * written, each process keeps to the limit by itself.
 *
 * @param path - The file; it and its folder are created when needed. Beside it there is a lock.
 */
export function fileRateBudgetStore(path: string): RateBudgetStore {
  const ledger = new Ledger(resolve(path));
  return {
    take: (group, limits, leaseMs) =>
      ledger.change(group, (account, now) => takeSlot(account, limits, leaseMs, now)),
    release: (group, slot, { windowMs }) =>
      ledger.change(group, (account, now) => holdSlot(account, slot, now + windowMs)),
    cancel: (group, slot) => ledger.change(group, (account) => freeSlot(account, slot)),
    close: (group, delayMs) =>
      ledger.change(group, (account, now) => closeAccount(account, now + delayMs)),
    lease: (group, count, limit, leaseMs) =>
      ledger.change(group, (account, now) => takePlaces(account, { count, limit, leaseMs }, now)),
    giveBack: (group, places) => ledger.change(group, (account) => freePlaces(account, places)),
  };
}
