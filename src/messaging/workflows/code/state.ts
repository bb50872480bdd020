/** What a deployment has made so far: which key became which id. Plain JSON. */
export interface WorkflowState {
  readonly version: 1;
  readonly workflowId?: string | undefined;
  /** The body that the workflow itself was last written with, as JSON. */
  readonly workflow?: string | undefined;
  readonly steps: Readonly<Record<string, DeployedPart>>;
  readonly transitions: Readonly<Record<string, DeployedPart>>;
  /** Whether it has to be enabled again after a change. */
  readonly enableAgain?: boolean | undefined;
  /** A creation that was sent and whose answer has not been recorded. */
  readonly pending?: PendingCreation | undefined;
}

/** A step or transition as it was last written. */
export interface DeployedPart {
  readonly id: string;
  readonly body: string;
}

/** A creation of which nobody knows yet whether it happened. */
export interface PendingCreation {
  readonly kind: 'workflow' | 'step' | 'transition';
  /** The key of the step or the name of the transition. */
  readonly key: string;
  readonly body: string;
  /** The ids that existed before. */
  readonly known: readonly string[];
}

/** Where deployments remember what they made: a file, a database, an object store. */
export interface WorkflowStateStore {
  /** The state of a definition's key; `undefined` before its first deployment. */
  read(key: string): Promise<WorkflowState | undefined>;
  /** Resolves when the state is safe; `undefined` forgets it. */
  write(key: string, state: WorkflowState | undefined): Promise<void>;
}

/** Remembers in memory, for tests. */
export function memoryWorkflowState(): WorkflowStateStore {
  const states = new Map<string, string>();
  return {
    read(key) {
      const text = states.get(key);
      return Promise.resolve(text === undefined ? undefined : (JSON.parse(text) as WorkflowState)); // as written below
    },
    write(key, state) {
      if (state === undefined) {
        states.delete(key);
      } else {
        states.set(key, JSON.stringify(state));
      }
      return Promise.resolve();
    },
  };
}

/** The state before anything was made. */
const emptyState: WorkflowState = { version: 1, steps: {}, transitions: {} };

/** The state of one deployment, written down at each change. */
export class StateKeeper {
  readonly #store: WorkflowStateStore;
  readonly #key: string;
  #state: WorkflowState;

  private constructor(store: WorkflowStateStore, key: string, state: WorkflowState) {
    this.#store = store;
    this.#key = key;
    this.#state = state;
  }

  static async open(store: WorkflowStateStore, key: string): Promise<StateKeeper> {
    return new StateKeeper(store, key, (await store.read(key)) ?? emptyState);
  }

  get state(): WorkflowState {
    return this.#state;
  }

  /** Resolves when the change is safe. */
  async keep(change: Partial<WorkflowState>): Promise<void> {
    this.correct(change);
    await this.#store.write(this.#key, this.#state);
  }

  /** Takes over what is live; it is written with the next change. */
  correct(change: Partial<WorkflowState>): void {
    this.#state = { ...this.#state, ...change };
  }

  /** Starts from nothing; it is written with the next change. */
  reset(): void {
    this.#state = emptyState;
  }

  /** Forgets everything. */
  async forget(): Promise<void> {
    this.reset();
    await this.#store.write(this.#key, undefined);
  }
}

/** Leaves out what is not live any more: somebody may have deleted it in the dashboard. */
export function present(
  { steps, transitions }: WorkflowState,
  live: { readonly steps: readonly string[]; readonly transitions: readonly string[] },
): Pick<WorkflowState, 'steps' | 'transitions'> {
  const only = (parts: WorkflowState['steps'], ids: readonly string[]) =>
    Object.fromEntries(Object.entries(parts).filter(([, { id }]) => ids.includes(id)));
  return { steps: only(steps, live.steps), transitions: only(transitions, live.transitions) };
}

/** The parts without one of them. */
export function without(parts: WorkflowState['steps'], key: string): WorkflowState['steps'] {
  return Object.fromEntries(Object.entries(parts).filter(([name]) => name !== key));
}
