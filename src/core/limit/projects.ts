import { systemClock, type Clock } from '../async.js';
import { fingerprint } from '../fingerprint.js';
import { createBudget } from './polled-budget.js';
import type { LocalBudget } from './rate-limit.js';
import type { BudgetLimits, RateBudgetStore } from './rate-store.js';
import { SharedBudget } from './shared-rate-limit.js';

const maxProjects = 1000;

/** State of a project that a service adds, such as the pending slots of the media service. */
export interface ProjectPart {
  /** Is there nothing to lose when the part is dropped? */
  readonly isIdle: boolean;
}

/** The state that the service counts per project. All clients of a project share it, in all copies of the package. */
export class ProjectState {
  /** A fingerprint: others may read the store, or print the globals, and the name must not reveal the key. */
  readonly name: string;
  readonly clock: Clock;
  #local: LocalBudget | undefined;
  /** The shared budgets, which use the local budget. */
  readonly #shared = new WeakMap<RateBudgetStore, SharedBudget>();
  readonly #parts = new Map<string, ProjectPart>();

  constructor(name: string, clock: Clock) {
    this.name = name;
    this.clock = clock;
  }

  /** The budget of this process; `limits` apply if it is new. */
  localBudget(limits: BudgetLimits): LocalBudget {
    this.#local ??= createBudget(limits, this.clock);
    return this.#local;
  }

  /** The budget that processes share through this store; `limits` apply if it is new. */
  sharedBudget(store: RateBudgetStore, limits: BudgetLimits): SharedBudget {
    const local = this.localBudget(limits);
    const shared = this.#shared.get(store) ?? new SharedBudget(store, this.name, limits, local);
    this.#shared.set(store, shared);
    return shared;
  }

  /** The part of this name. Creates it if there is none, or if the existing one does not fit. */
  part<Part extends ProjectPart>(
    name: string,
    create: () => Part,
    fits: (part: Part) => boolean = () => true,
  ): Part {
    const known = this.#parts.get(name) as Part | undefined; // as: a name stands for one class
    const part = known && fits(known) ? known : create();
    this.#parts.set(name, part);
    return part;
  }

  /** May the project be dropped? It has no taken slot, no open window, no pause and no queued call. */
  get isIdle(): boolean {
    const all: (ProjectPart | undefined)[] = [this.#local, ...this.#parts.values()];
    return all.every((one) => one === undefined || one.isIdle);
  }
}

/** The projects of a process. */
interface Registry {
  readonly ofProcess: Map<string, ProjectState>;
  /** The projects of fakes, which are separate for each fake. */
  readonly ofFakes: WeakMap<Clock, Map<string, ProjectState>>;
}

// One registry for all copies of the package in a process: the service counts their requests together.
// Copies may be of different versions, so a change of `Registry` or `ProjectState` needs the next number.
const registryKey = Symbol.for('postreel.projects.1');

/** Finds the project of this address and this group or key. */
export function findProject(clock: Clock, baseUrl: string, groupOrKey: string): ProjectState {
  const projects = projectsOf(clock);
  const name = fingerprint(`${baseUrl} ${groupOrKey}`);
  const known = projects.get(name);
  if (known) {
    return known;
  }
  if (projects.size >= maxProjects) {
    dropIdle(projects);
  }
  const project = new ProjectState(name, clock);
  projects.set(name, project);
  return project;
}

function projectsOf(clock: Clock): Map<string, ProjectState> {
  const { ofProcess, ofFakes } = getRegistry();
  if (clock === systemClock) {
    return ofProcess;
  }
  const projects = ofFakes.get(clock) ?? new Map<string, ProjectState>();
  ofFakes.set(clock, projects);
  return projects;
}

function getRegistry(): Registry {
  const scope = globalThis as { [registryKey]?: Registry };
  if (!scope[registryKey]) {
    const value: Registry = { ofProcess: new Map(), ofFakes: new WeakMap() };
    // Not enumerable, so that nothing copies it by accident.
    Object.defineProperty(globalThis, registryKey, { value });
  }
  return scope[registryKey] as Registry; // as: set above
}

function dropIdle(projects: Map<string, ProjectState>): void {
  for (const [name, project] of projects) {
    if (project.isIdle) {
      projects.delete(name);
    }
  }
}
