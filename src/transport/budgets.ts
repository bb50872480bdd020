import { RateBudget, type BudgetLimits } from './rate-budget.js';

// One registry for all copies of the package in a process: the service counts them as one.
const registryKey = Symbol.for('postreel.budgets.1');
const manyBudgets = 1000;

/** The budget of a project at a service address, shared by every client of the process. */
export function sharedBudget(group: string, limits: BudgetLimits, isExplicit: boolean): RateBudget {
  const budgets = registry();
  const known = budgets.get(group);
  if (known) {
    if (isExplicit) known.adjust(limits);
    return known;
  }
  if (budgets.size >= manyBudgets) dropIdle(budgets);
  const budget = new RateBudget(limits);
  budgets.set(group, budget);
  return budget;
}

function registry(): Map<string, RateBudget> {
  const shared = globalThis as { [registryKey]?: Map<string, RateBudget> };
  const existing = shared[registryKey];
  if (existing) return existing;
  const budgets = new Map<string, RateBudget>();
  // Not enumerable: the map's names hold keys, and nobody should print them by accident.
  Object.defineProperty(shared, registryKey, { value: budgets });
  return budgets;
}

function dropIdle(budgets: Map<string, RateBudget>): void {
  for (const [group, budget] of budgets) {
    const { used, queued, resetsAt } = budget.state();
    if (used === 0 && queued === 0 && resetsAt === undefined) budgets.delete(group);
  }
}
