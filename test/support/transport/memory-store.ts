import type { RateBudgetStore } from 'postreel';
import {
  closeBudget,
  emptyBudget,
  freeSlot,
  holdSlot,
  reopenBudget,
  takeSlots,
} from '../../../src/node/rate-budget/project-budget.js';

/** A store for all the budgets of one test, as if each were a process of its own. */
export function memoryStore() {
  const account = emptyBudget();
  const groups = new Set<string>();
  const now = () => Date.now();
  const store: RateBudgetStore = {
    take: (group, limits, leaseMs, count = 1) => {
      groups.add(group);
      return Promise.resolve(takeSlots(account, limits, { leaseMs, count }, now()));
    },
    release: async (_, slot, { windowMs }) => {
      await Promise.resolve(); // as far away as a real one
      holdSlot(account, slot, now() + windowMs);
    },
    cancel: async (_, slot) => {
      await Promise.resolve();
      freeSlot(account, slot);
    },
    close: async (_, delayMs) => {
      await Promise.resolve();
      closeBudget(account, now() + delayMs, now());
    },
    reopen: async () => {
      await Promise.resolve();
      reopenBudget(account);
    },
  };
  return { store, account, groups };
}
