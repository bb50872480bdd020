import { fingerprint } from '../../contract/fingerprint.js';
import type { BudgetLimits, RateBudgetStore } from '../../contract/rate-budget-store.js';
import type { Settings } from '../settings.js';
import type { Budget } from './budget.js';
import { ClientBudget } from './client-budget.js';
import { LocalBudget } from './local-budget.js';
import {
  keepBudgets,
  knownBudgets,
  projectName,
  type ProjectLimit,
  type Registry,
} from './project.js';
import { SharedBudget } from './shared-budget.js';

const manyBudgets = 1000;

const sources = new WeakMap<ProjectLimit, BudgetSource>();

/** The budgets of a client, made with its first call. */
export function budgetsOf(project: ProjectLimit): BudgetSource {
  const known = sources.get(project);
  if (known) {
    return known;
  }
  const { settings, parent } = project;
  const source = new BudgetSource(settings, parent && budgetsOf(parent));
  sources.set(project, source);
  project.source = source;
  return source;
}

/** Finds the budget of a client's project. The first key names it; it then outlives that key. */
export class BudgetSource {
  readonly #settings: Settings;
  readonly #parent: BudgetSource | undefined;
  readonly #group: string | undefined;
  readonly #store: RateBudgetStore | undefined;
  #budget: Budget | undefined;

  /** `parent` is that of the client this one was derived from, with the same key and address. */
  constructor(settings: Settings, parent?: BudgetSource) {
    this.#settings = settings;
    this.#parent = parent;
    this.#group = settings.group ?? (parent ? parent.#group : undefined);
    this.#store = settings.store ?? (parent ? parent.#store : undefined);
  }

  /**
   * The budget that calls with this key share; `undefined` when limiting is off. A call without a
   * key that leaves before the key is known counts for nobody: it must not name the budget.
   */
  for(key: string | null | undefined): Budget | undefined {
    const { limits } = this.#settings;
    if (!limits || this.#budget) {
      return this.#budget;
    }
    if (key === undefined && this.#group === undefined) {
      return undefined;
    }
    this.#budget = this.#fromParent(key, limits) ?? this.#ofProject(key ?? null, limits);
    return this.#budget;
  }

  // A derived client stays inside its parent's budget, and its own limits are for itself alone.
  #fromParent(key: string | null | undefined, limits: BudgetLimits): Budget | undefined {
    const parent = this.#parent;
    if (!parent || parent.#group !== this.#group || parent.#store !== this.#store) {
      return undefined;
    }
    const budget = parent.for(key);
    return budget && this.#settings.hasOwnLimits ? new ClientBudget(budget, limits) : budget;
  }

  #ofProject(key: string | null, limits: BudgetLimits): Budget {
    const { hasOwnLimits } = this.#settings;
    // Others may read a store, and print what is global: a name must not give the key away.
    const name = fingerprint(projectName(this.#settings, this.#group, key));
    const local = localBudget(name, limits);
    const budget = this.#store ? sharedBudget(this.#store, name, limits, local) : local;
    if (hasOwnLimits) {
      budget.adjust(limits);
    }
    return budget;
  }
}

function localBudget(name: string, limits: BudgetLimits): LocalBudget {
  const { local } = registry();
  const known = local.get(name);
  if (known) {
    return known;
  }
  if (local.size >= manyBudgets) {
    dropIdle(local);
  }
  const budget = new LocalBudget(limits);
  local.set(name, budget);
  return budget;
}

function sharedBudget(
  store: RateBudgetStore,
  name: string,
  limits: BudgetLimits,
  local: LocalBudget,
): SharedBudget {
  const { shared } = registry();
  const ofStore = shared.get(store) ?? new WeakMap<LocalBudget, SharedBudget>();
  shared.set(store, ofStore);
  const budget = ofStore.get(local) ?? new SharedBudget(store, name, { limits, local });
  ofStore.set(local, budget);
  return budget;
}

function registry(): Registry<LocalBudget, SharedBudget> {
  const known = knownBudgets<Registry<LocalBudget, SharedBudget>>();
  if (known) {
    return known;
  }
  const budgets = { local: new Map(), shared: new WeakMap() };
  keepBudgets(budgets);
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
