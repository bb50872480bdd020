import { systemClock, type Clock } from '../async.js';
import type { Settings } from '../settings.js';
import { ClientBudget, LocalBudget, type Budget } from './rate-limit.js';
import type { BudgetLimits, RateBudgetStore } from './rate-store.js';
import { SharedBudget } from './shared-rate-limit.js';
import { fingerprint } from '../values.js';

const maxBudgets = 1000;

/** The budgets of a process. A shared budget uses the local budget of the same project. */
interface Registry {
  readonly local: Map<string, LocalBudget>;
  /** The local budgets of fakes, which are separate for each fake. */
  readonly ofFakes: WeakMap<Clock, Map<string, LocalBudget>>;
  readonly shared: WeakMap<RateBudgetStore, WeakMap<LocalBudget, SharedBudget>>;
}

// One registry for all copies of the package in a process: the service counts their requests together.
const registryKey = Symbol.for('postreel.budgets.2');

/**
 * Finds the budget of a client's project. The first key determines the project; the budget then outlives
 * that key.
 */
export class BudgetSource {
  readonly #settings: Settings;
  readonly #parent: BudgetSource | undefined;
  readonly #group: string | undefined;
  readonly #store: RateBudgetStore | undefined;
  #budget: Budget | undefined;

  /** `parent` belongs to the client that this one was derived from, with the same key and address. */
  constructor(settings: Settings, parent?: BudgetSource) {
    this.#settings = settings;
    this.#parent = parent;
    this.#group = settings.group ?? (parent ? parent.#group : undefined);
    this.#store = settings.store ?? (parent ? parent.#store : undefined);
  }

  /**
   * The name of a key's project: its group, or else the key itself. The name may therefore contain the key.
   */
  projectName(key: string | null): string {
    return `${this.#settings.baseUrl} ${this.#group ?? key ?? ''}`;
  }

  /**
   * The budget shared by calls with this key; `undefined` if limiting is off. A call without a key that is
   * sent before the key is known is not counted, because it must not determine the project.
   */
  for(key: string | null | undefined): Budget | undefined {
    const { limits } = this.#settings;
    if (!limits || this.#budget || (key === undefined && this.#group === undefined)) {
      return this.#budget;
    }
    this.#budget = this.#fromParent(key, limits) ?? this.#ofProject(key ?? null, limits);
    return this.#budget;
  }

  // A derived client stays inside its parent's budget. Its own limits apply only to itself.
  #fromParent(key: string | null | undefined, limits: BudgetLimits): Budget | undefined {
    const parent = this.#parent;
    if (!parent || parent.#group !== this.#group || parent.#store !== this.#store) {
      return undefined;
    }
    const budget = parent.for(key);
    return budget && this.#settings.hasOwnLimits
      ? new ClientBudget(budget, limits, this.#settings.clock)
      : budget;
  }

  #ofProject(key: string | null, limits: BudgetLimits): Budget {
    const { clock } = this.#settings;
    const { shared } = registry();
    const local = localBudgets(clock);
    // Others may read the store, or print the globals: the name must not reveal the key.
    const name = fingerprint(this.projectName(key));
    if (local.size >= maxBudgets) {
      dropIdle(local);
    }
    const own = local.get(name) ?? new LocalBudget(limits, clock);
    local.set(name, own);
    let budget: Budget = own;
    if (this.#store) {
      const ofStore = shared.get(this.#store) ?? new WeakMap<LocalBudget, SharedBudget>();
      shared.set(this.#store, ofStore);
      const found = ofStore.get(own) ?? new SharedBudget(this.#store, name, limits, own);
      ofStore.set(own, found);
      budget = found;
    }
    if (this.#settings.hasOwnLimits) {
      budget.adjust(limits);
    }
    return budget;
  }
}

function localBudgets(clock: Clock): Map<string, LocalBudget> {
  const { local, ofFakes } = registry();
  if (clock === systemClock) {
    return local;
  }
  const budgets = ofFakes.get(clock) ?? new Map<string, LocalBudget>();
  ofFakes.set(clock, budgets);
  return budgets;
}

function registry(): Registry {
  const scope = globalThis as { [registryKey]?: Registry };
  if (!scope[registryKey]) {
    const value: Registry = { local: new Map(), ofFakes: new WeakMap(), shared: new WeakMap() };
    // Not enumerable, so that nothing copies it by accident.
    Object.defineProperty(globalThis, registryKey, { value });
  }
  return scope[registryKey] as Registry; // as: set above
}

function dropIdle(budgets: Map<string, LocalBudget>): void {
  for (const [name, budget] of budgets) {
    const { used, queued, resetsAt } = budget.state();
    if (used === 0 && queued === 0 && resetsAt === undefined) {
      budgets.delete(name);
    }
  }
}
