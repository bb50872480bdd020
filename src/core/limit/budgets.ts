import type { Settings } from '../settings.js';
import { findProject, type ProjectState } from './projects.js';
import { createBudget } from './polled-budget.js';
import { ClientBudget, type Budget } from './rate-limit.js';
import type { BudgetLimits, RateBudgetStore } from './rate-store.js';

/**
 * Finds the project of a client and its budget. The first key determines the project; the budget then
 * outlives that key.
 */
export class BudgetSource {
  readonly #settings: Settings;
  readonly #parent: BudgetSource | undefined;
  readonly #group: string | undefined;
  readonly #store: RateBudgetStore | undefined;
  #project: ProjectState | undefined;
  #budget: Budget | undefined;

  /** `parent` belongs to the client that this one was derived from, with the same key and address. */
  constructor(settings: Settings, parent?: BudgetSource) {
    this.#settings = settings;
    this.#parent = parent;
    this.#group = settings.group ?? (parent ? parent.#group : undefined);
    this.#store = settings.store ?? (parent ? parent.#store : undefined);
  }

  /** The project of a key: that of the client's group, or else that of the key itself. */
  project(key: string | null): ProjectState {
    const { clock, baseUrl } = this.#settings;
    const parent = this.#parent;
    this.#project ??=
      parent && parent.#group === this.#group
        ? parent.project(key)
        : findProject(clock, baseUrl, this.#group ?? key ?? '');
    return this.#project;
  }

  /**
   * The budget shared by calls with this key; `undefined` if limiting is off. `key` is `undefined` while the key
   * of the client is not known yet. A call that needs no key and is sent then is not counted, because it must
   * not determine the project.
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
      ? new ClientBudget(createBudget(limits, this.#settings.clock), budget)
      : budget;
  }

  #ofProject(key: string | null, limits: BudgetLimits): Budget {
    const project = this.project(key);
    const budget = this.#store
      ? project.sharedBudget(this.#store, limits)
      : project.localBudget(limits);
    if (this.#settings.hasOwnLimits) {
      budget.adjust(limits);
    }
    return budget;
  }
}
