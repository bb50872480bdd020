import { fingerprint } from '../../contract/fingerprint.js';
import type { BudgetLimits, RateBudgetStore } from '../../contract/rate-budget-store.js';
import type { Settings } from '../settings.js';
import type { Budget, RateLimitState } from './budget.js';

/** The budgets of a process. The stored ones stand on the local one of their project. */
export interface Registry<Local = Budget, Shared = Budget> {
  readonly local: Map<string, Local>;
  readonly shared: WeakMap<RateBudgetStore, WeakMap<Local & object, Shared>>;
}

// One registry for all copies of the package in a process: the service counts them as one.
const registryKey = Symbol.for('postreel.budgets.2');

/** The budgets of this process, or `undefined` before the first one. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the registry knows its classes
export function knownBudgets<Known extends object = Registry>(): Known | undefined {
  return (globalThis as { [registryKey]?: Known })[registryKey]; // kept below, by the registry
}

/** Keeps the budgets of this process. */
export function keepBudgets(budgets: object): void {
  // Not enumerable: nobody should copy it by accident.
  Object.defineProperty(globalThis, registryKey, { value: budgets });
}

/** The project that a client counts for. What counts is loaded with the first call. */
export class ProjectLimit {
  readonly settings: Settings;
  readonly parent: ProjectLimit | undefined;
  readonly group: string | undefined;
  readonly store: RateBudgetStore | undefined;
  /** Finds the budget that counts, once a call was made. */
  source: { for(key: string | null): Budget | undefined } | undefined;

  /** `parent` is that of the client this one was derived from, with the same key and address. */
  constructor(settings: Settings, parent?: ProjectLimit) {
    this.settings = settings;
    this.parent = parent;
    this.group = settings.group ?? parent?.group;
    this.store = settings.store ?? parent?.store;
  }

  /** The name of the project that a key belongs to; it holds the key. */
  nameFor(key: string | null): string {
    return projectName(this.settings, this.group, key);
  }

  /** The budget that calls with this key would share; `undefined` when limiting is off. */
  state(key: string | null): RateLimitState | undefined {
    const { limits } = this.settings;
    if (this.source) {
      return this.source.for(key)?.state();
    }
    return limits && (this.#stateInParent(key, limits) ?? this.#stateOfProject(key, limits));
  }

  /** Is a client inside the budget of the one it was derived from? */
  get isInParent(): boolean {
    const { parent } = this;
    return parent !== undefined && parent.group === this.group && parent.store === this.store;
  }

  #stateInParent(key: string | null, { limit }: BudgetLimits): RateLimitState | undefined {
    const state = this.isInParent ? this.parent?.state(key) : undefined;
    return state && this.settings.hasOwnLimits
      ? { ...state, limit: Math.min(limit, state.limit), used: 0 }
      : state;
  }

  // Another client, or another copy of the package, may have counted for the project.
  #stateOfProject(key: string | null, { limit }: BudgetLimits): RateLimitState {
    const known = knownBudgets();
    const local = known?.local.get(fingerprint(this.nameFor(key)));
    const shared = local && this.store && known?.shared.get(this.store)?.get(local);
    const state = (shared ?? local)?.state() ?? unused(limit);
    return this.settings.hasOwnLimits ? { ...state, limit } : state;
  }
}

/** The name of a project: that of its group, or else the first key. */
export function projectName(
  { baseUrl }: Settings,
  group: string | undefined,
  key: string | null,
): string {
  return `${baseUrl} ${group ?? key ?? ''}`;
}

const unused = (limit: number): RateLimitState => ({
  limit,
  used: 0,
  queued: 0,
  resetsAt: undefined,
});
