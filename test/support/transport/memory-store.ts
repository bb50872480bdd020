import type { RateBudgetStore } from '../../../src/contract/rate-budget-store.js';
import {
  closeBudget,
  emptyBudget,
  freeSlot,
  holdSlot,
  takeSlot,
} from '../../../src/node/rate-budget/project-budget.js';

/** A store for all the budgets of one test, as if each were a process of its own. */
export function memoryStore() {
  const account = emptyBudget();
  const groups = new Set<string>();
  const now = () => Date.now();
  const store: RateBudgetStore = {
    take: (group, limits, leaseMs) => {
      groups.add(group);
      return Promise.resolve(takeSlot(account, limits, leaseMs, now()));
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
      closeBudget(account, now() + delayMs);
    },
  };
  return { store, account, groups };
}
