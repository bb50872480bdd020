import { jsonOf } from './content.js';

/** What a deployment has made so far: which key became which id. Plain JSON. */
export interface WorkflowState {
  readonly version: 1;
  readonly workflow?: DeployedPart | undefined;
  readonly steps: Readonly<Record<string, DeployedPart>>;
  readonly transitions: Readonly<Record<string, DeployedPart>>;
  /** Whether the last deployment left it enabled; `undefined` while one is switching it. */
  readonly enabled?: boolean | undefined;
  /** Whether it has to be enabled again after a change. */
  readonly enableAgain?: boolean | undefined;
  /** A creation that was sent and whose answer has not been recorded. */
  readonly pending?: PendingCreation | undefined;
  /**
   * Changes and deletions that were sent and whose answers have not been recorded: by the id of the
   * part the fields that it may have now, `null` where it may be gone.
   */
  readonly unsure?: Readonly<Record<string, readonly (string | null)[]>> | undefined;
}

/** The workflow itself, a step or a transition as it was last written. */
export type DeployedPart = {
  readonly id: string;
  /** The fields that were sent, as JSON. */
  readonly body: string;
  /** The same fields as the service showed them then, as JSON. */
  readonly live?: string | undefined;
};

/** A creation whose outcome is unknown. */
export type PendingCreation = {
  readonly kind: 'workflow' | 'step' | 'transition';
  /** The key of the step or the name of the transition. */
  readonly key: string;
  readonly body: string;
  /** The ids that existed before. */
  readonly known: readonly string[];
};

/** Where deployments remember what they made: a file, a database, an object store. */
export interface WorkflowStateStore {
  /** The state of a definition's key; `undefined` before its first deployment. */
  read(key: string): Promise<WorkflowState | undefined>;
  /** Resolves when the state is safe; `undefined` deletes it. */
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
export const emptyState: WorkflowState = { version: 1, steps: {}, transitions: {} };

/** The state of one deployment, written down at each change. */
export class StateKeeper {
  readonly #store: WorkflowStateStore;
  readonly #key: string;
  #state: WorkflowState;
  #saved: string;

  private constructor(store: WorkflowStateStore, key: string, state: WorkflowState) {
    this.#store = store;
    this.#key = key;
    this.#state = state;
    this.#saved = jsonOf(state);
  }

  static async open(store: WorkflowStateStore, key: string): Promise<StateKeeper> {
    return new StateKeeper(store, key, (await store.read(key)) ?? emptyState);
  }

  get state(): WorkflowState {
    return this.#state;
  }

  /** Resolves when the change is safe. */
  async keep(change: Partial<WorkflowState>): Promise<void> {
    this.replace({ ...this.#state, ...change });
    await this.#store.write(this.#key, this.#state);
    this.#saved = jsonOf(this.#state);
  }

  /** The same, but only what is new is written. */
  async save(change: Partial<WorkflowState>): Promise<void> {
    if (jsonOf({ ...this.#state, ...change }) !== this.#saved) {
      await this.keep(change);
    }
  }

  /** Notes, before a write, what may become of a part. */
  async keepUnsure(id: string, body: string | null): Promise<void> {
    const { unsure } = this.#state;
    await this.keep({ unsure: { ...unsure, [id]: [...(unsure?.[id] ?? []), body] } });
  }

  /** What else is unsure. */
  unsureWithout(id: string): WorkflowState['unsure'] {
    const others = Object.entries(this.#state.unsure ?? {}).filter(([one]) => one !== id);
    return others.length === 0 ? undefined : Object.fromEntries(others);
  }

  /** Takes over what is live; it is written with the next change. */
  replace(state: WorkflowState): void {
    this.#state = state;
  }

  /** Forgets everything. */
  async forget(): Promise<void> {
    this.replace(emptyState);
    await this.#store.write(this.#key, undefined);
  }
}

/** One part by its key. */
export function partOf(parts: WorkflowState['steps'], key: string): DeployedPart | undefined {
  return Object.hasOwn(parts, key) ? parts[key] : undefined;
}

/** The parts without one of them. */
export function without(parts: WorkflowState['steps'], key: string): WorkflowState['steps'] {
  return Object.fromEntries(Object.entries(parts).filter(([name]) => name !== key));
}
