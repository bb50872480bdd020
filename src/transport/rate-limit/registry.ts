import { fingerprint } from '../../contract/fingerprint.js';
import type { BudgetLimits } from '../../contract/rate-budget-store.js';
import type { Settings } from '../settings.js';
import type { Budget } from './budget.js';
import { LocalBudget } from './local-budget.js';
import { SharedBudget } from './shared-budget.js';

// One registry for all copies of the package in a process: the service counts them as one.
const registryKey = Symbol.for('postreel.budgets.1');
const manyBudgets = 1000;

/** Finds the budget of a client's project. The first key names it; it then outlives that key. */
export class BudgetSource {
  readonly #settings: Settings;
  #budget: Budget | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The name of the project that a key belongs to; it holds the key. */
  nameFor(key: string | null): string {
    const { baseUrl, group } = this.#settings;
    return `${baseUrl} ${group ?? key ?? ''}`;
  }

  /**
   * The budget that calls with this key share; `undefined` when limiting is off. A call without a
   * key that leaves before the key is known counts for nobody: it must not name the budget.
   */
  for(key: string | null | undefined): Budget | undefined {
    const { limits, hasOwnLimits, store, group } = this.#settings;
    if (!limits || this.#budget) {
      return this.#budget;
    }
    if (key === undefined && group === undefined) {
      return undefined;
    }
    // Others may read a store, and print what is global: a name must not give the key away.
    const name = fingerprint(this.nameFor(key ?? null));
    this.#budget = store
      ? new SharedBudget(store, name, limits)
      : sharedBudget(name, limits, hasOwnLimits);
    return this.#budget;
  }
}

function sharedBudget(name: string, limits: BudgetLimits, isExplicit: boolean): LocalBudget {
  const budgets = registry();
  const known = budgets.get(name);
  if (known) {
    if (isExplicit) {
      known.adjust(limits);
    }
    return known;
  }
  if (budgets.size >= manyBudgets) {
    dropIdle(budgets);
  }
  const budget = new LocalBudget(limits);
  budgets.set(name, budget);
  return budget;
}

function registry(): Map<string, LocalBudget> {
  const shared = globalThis as { [registryKey]?: Map<string, LocalBudget> };
  const existing = shared[registryKey];
  if (existing) {
    return existing;
  }
  const budgets = new Map<string, LocalBudget>();
  // Not enumerable: nobody should copy it by accident.
  Object.defineProperty(shared, registryKey, { value: budgets });
  return budgets;
}

function dropIdle(budgets: Map<string, LocalBudget>): void {
  for (const [name, budget] of budgets) {
    const { used, queued, resetsAt } = budget.state();
    if (used === 0 && queued === 0 && resetsAt === undefined) {
      budgets.delete(name);
    }
  }
}
