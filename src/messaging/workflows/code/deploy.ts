import type { RequestOptions } from '../../../contract/call.js';
import { isPostreelError, PostreelError } from '../../../errors/index.js';
import type { StepUpdate, Workflow } from '../types.js';
import { callsOf, type LiveWorkflows } from './calls.js';
import { checkDefinition } from './check.js';
import { createOnce, readGraph, settleCreation, type CreationParts } from './creation.js';
import type { WorkflowDefinition } from './definition.js';
import { edgeName, edgesOf } from './graph.js';
import { defaultWorkflowMapping, type WorkflowMapping } from './mapping.js';
import { planOf, stepBody, transitionBody, type DeployOperation } from './plan.js';
import { present, StateKeeper, without, type WorkflowStateStore } from './state.js';

/** How to deploy a workflow. */
export interface DeployOptions {
  /** Remembers which key became which id. */
  readonly state: WorkflowStateStore;
  /**
   * Only plans: nothing is changed.
   * @default false
   */
  readonly dryRun?: boolean | undefined;
  /**
   * How to write what the service's document does not show.
   * @default the client's `workflowMapping`
   */
  readonly mapping?: Partial<WorkflowMapping> | undefined;
}

/** A workflow after its deployment. */
export interface Deployment {
  /** `undefined` after a dry run of a workflow that does not exist. */
  readonly workflowId: string | undefined;
  /** What was done, or would be with `dryRun`; empty when nothing has changed. */
  readonly operations: readonly DeployOperation[];
  /** The id of each step by its key. */
  readonly stepIds: Readonly<Record<string, string>>;
}

// A plan gets shorter with every operation: this ends one that does not.
const mostOperations = 10_000;

/** Brings a live workflow to what its definition says, one recorded step at a time. */
export async function deploy(
  definition: WorkflowDefinition,
  workflows: LiveWorkflows,
  { state: store, dryRun = false, mapping: own }: DeployOptions,
  options: RequestOptions = {},
): Promise<Deployment> {
  checkDefinition(definition);
  const keeper = await StateKeeper.open(store, definition.key);
  const mapping = { ...defaultWorkflowMapping, ...own };
  const run = new DeployRun(definition, { calls: callsOf(workflows), keeper, mapping, options });
  // Settling an interrupted creation only records what is there already.
  await run.resume();
  return dryRun ? run.result(run.plan()) : run.toTheEnd();
}

class DeployRun {
  readonly #definition: WorkflowDefinition;
  readonly #parts: CreationParts;
  readonly #done: DeployOperation[] = [];
  /** How to take back what this run has made, latest last. */
  #undo: (() => Promise<void>)[] = [];
  #isEnabled = false;
  /** The ids of all parts that exist, also of those that somebody added by hand. */
  readonly #live = { steps: [] as string[], transitions: [] as string[] };

  constructor(definition: WorkflowDefinition, parts: CreationParts) {
    this.#definition = definition;
    this.#parts = parts;
  }

  /** Holds the recorded state against what is live. */
  async resume(): Promise<void> {
    const { keeper } = this.#parts;
    const { pending } = keeper.state;
    if (pending) {
      await settleCreation(pending, this.#parts);
    }
    const { workflowId } = keeper.state;
    const live = workflowId === undefined ? undefined : await readGraph(this.#parts, workflowId);
    if (workflowId !== undefined && live === undefined) {
      keeper.reset(); // somebody has deleted it
    }
    if (live) {
      this.#live.steps.push(...live.steps.map(({ id }) => id));
      this.#live.transitions.push(...live.transitions.map(({ id }) => id));
      keeper.correct(present(keeper.state, this.#live));
      this.#isEnabled = live.enabled ?? false;
    }
  }

  plan(): DeployOperation[] {
    const { keeper, mapping } = this.#parts;
    return planOf(this.#definition, keeper.state, { isEnabled: this.#isEnabled }, mapping);
  }

  async toTheEnd(): Promise<Deployment> {
    for (let count = 0; count < mostOperations; count++) {
      const [next] = this.plan();
      if (next === undefined) {
        return this.result(this.#done);
      }
      await this.#perform(next);
    }
    throw new PostreelError('The deployment does not come to an end.', { code: 'DEPLOY_LOOP' });
  }

  result(operations: readonly DeployOperation[]): Deployment {
    const { workflowId, steps } = this.#parts.keeper.state;
    const stepIds: Record<string, string> = {};
    for (const [key, { id }] of Object.entries(steps)) {
      stepIds[key] = id;
    }
    return { workflowId, operations, stepIds };
  }

  async #perform(operation: DeployOperation): Promise<void> {
    try {
      await this.#apply(operation);
      this.#done.push(operation);
    } catch (failure) {
      await this.#rollBack();
      throw failure;
    }
  }

  #apply(operation: DeployOperation): Promise<void> {
    switch (operation.do) {
      case 'create-workflow':
        return this.#createWorkflow();
      case 'update-workflow':
        return this.#updateWorkflow();
      case 'enable-workflow':
        return this.#switch(true);
      case 'disable-workflow':
        return this.#switch(false);
      case 'create-step':
        return this.#createStep(operation.step);
      case 'update-step':
        return this.#updateStep(operation.step);
      case 'delete-step':
        return this.#deleteStep(operation.step);
      case 'create-transition':
        return this.#createTransition(operation.transition);
      case 'delete-transition':
        return this.#deleteTransition(operation.transition);
    }
  }

  async #createWorkflow(): Promise<void> {
    const { calls, options, mapping, keeper } = this.#parts;
    const body = mapping.workflow(this.#definition);
    const known = await idsOf(calls.list(options));
    const written = JSON.stringify(body);
    const pending = { kind: 'workflow', key: this.#definition.key, body: written, known } as const;
    const id = await createOnce(pending, () => calls.create(body, options), this.#parts);
    this.#undo.push(async () => {
      await calls.delete(id, options);
      await keeper.forget();
    });
  }

  async #updateWorkflow(): Promise<void> {
    const { calls, options, mapping, keeper } = this.#parts;
    const body = mapping.workflow(this.#definition);
    await calls.update(this.#id, body, options);
    await keeper.keep({ workflow: JSON.stringify(body) });
    this.#undo = []; // the graph is complete: from here on it only goes forward
  }

  async #createStep(key: string): Promise<void> {
    const { calls, options, mapping, keeper } = this.#parts;
    const body = stepBody(this.#definition, key, mapping);
    const known = [...this.#live.steps];
    const pending = { kind: 'step', key, body: JSON.stringify(body), known } as const;
    const create = () => calls.createStep(this.#id, body, options);
    const id = await createOnce(pending, create, this.#parts);
    this.#live.steps.push(id);
    this.#undo.push(async () => {
      await calls.deleteStep(this.#id, id, options);
      await keeper.keep({ steps: without(keeper.state.steps, key) });
    });
  }

  async #updateStep(key: string): Promise<void> {
    const { calls, options, mapping, keeper } = this.#parts;
    const before = keeper.state.steps[key];
    if (before === undefined) {
      return;
    }
    const write = async (body: string) => {
      await calls.updateStep(this.#id, before.id, changeOf(body), options);
      await keeper.keep({ steps: { ...keeper.state.steps, [key]: { id: before.id, body } } });
    };
    await write(JSON.stringify(stepBody(this.#definition, key, mapping)));
    this.#undo.push(() => write(before.body));
  }

  async #createTransition(key: string): Promise<void> {
    const { calls, options, mapping, keeper } = this.#parts;
    const edge = edgesOf(this.#definition).find((one) => edgeName(one) === key);
    if (edge === undefined) {
      return;
    }
    const body = transitionBody(edge, keeper.state, mapping);
    const known = [...this.#live.transitions];
    const pending = { kind: 'transition', key, body: JSON.stringify(body), known } as const;
    const create = () => calls.createTransition(this.#id, body, options);
    const id = await createOnce(pending, create, this.#parts);
    this.#live.transitions.push(id);
    this.#undo.push(async () => {
      await calls.deleteTransition(this.#id, id, options);
      await keeper.keep({ transitions: without(keeper.state.transitions, key) });
    });
  }

  // What is deleted cannot come back with its old id: from here on it only goes forward.
  async #deleteStep(key: string): Promise<void> {
    const { calls, options, keeper } = this.#parts;
    this.#undo = [];
    await gone(calls.deleteStep(this.#id, keeper.state.steps[key]?.id ?? '', options));
    await keeper.keep({ steps: without(keeper.state.steps, key) });
  }

  async #deleteTransition(key: string): Promise<void> {
    const { calls, options, keeper } = this.#parts;
    this.#undo = [];
    const id = keeper.state.transitions[key]?.id ?? '';
    await gone(calls.deleteTransition(this.#id, id, options));
    await keeper.keep({ transitions: without(keeper.state.transitions, key) });
  }

  async #switch(enabled: boolean): Promise<void> {
    const { calls, options, keeper } = this.#parts;
    const isPause = !enabled && this.#isEnabled && this.#definition.enabled !== false;
    // Kept first: after a crash in between, the next run still knows that it was on.
    await keeper.keep({ enableAgain: isPause || enabled });
    await calls.update(this.#id, { enabled }, options);
    this.#isEnabled = enabled;
    await keeper.keep({ enableAgain: isPause });
    if (isPause) {
      this.#undo.push(() => this.#switch(true));
    }
  }

  get #id(): string {
    return this.#parts.keeper.state.workflowId ?? '';
  }

  // What cannot be taken back stays recorded, and the next deployment goes on from there.
  async #rollBack(): Promise<void> {
    const steps = this.#undo.reverse();
    this.#undo = [];
    try {
      for (const undo of steps) {
        await undo();
      }
    } catch {
      // The failure of the deployment itself says more than this one.
    }
  }
}

// The type of a step is fixed: what is changed is the rest.
function changeOf(body: string): StepUpdate {
  const fields = JSON.parse(body) as Record<string, unknown>; // a body that was written here
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'type'));
}

async function gone(call: PromiseLike<unknown>): Promise<void> {
  try {
    await call;
  } catch (failure) {
    if (!isPostreelError(failure) || failure.status !== 404) {
      throw failure;
    }
  }
}

async function idsOf(workflows: AsyncIterable<Workflow>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of workflows) {
    ids.push(id);
  }
  return ids;
}
