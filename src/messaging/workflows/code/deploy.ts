import type { Call, RequestOptions } from '../../../core/types.js';
import { isPostreelError, PostreelError } from '../../../core/errors.js';
import { checkDefinition } from './check.js';
import { partName, shown, type WorkflowDrift } from './compare.js';
import { fieldsOf, isSame, jsonOf, pick, type Fields } from './content.js';
import { cleanUpOptions, createOnce, type CreationParts } from './creation.js';
import type { WorkflowDefinition } from './definition.js';
import { edgeName, edgesOf } from './graph.js';
import { mayHaveHappened, readGraph, withId, type LiveGraph, type LiveWorkflows } from './live.js';
import { defaultWorkflowMapping, type WorkflowMapping } from './mapping.js';
import { headBody, planOf, stepBody, transitionBody, type DeployOperation } from './plan.js';
import { checkDrift, listed, readLive, type Reading } from './reading.js';
import {
  partOf,
  StateKeeper,
  without,
  type DeployedPart,
  type PendingCreation,
  type WorkflowState,
  type WorkflowStateStore,
} from './state.js';

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
   * Brings the live workflow to its definition even where others have changed it: their
   * changes, and the steps and transitions that they have added, are lost.
   * @default false
   */
  readonly overwrite?: boolean | undefined;
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
  /**
   * What was done, or would be with `dryRun`; empty when nothing has changed. Where the drift is
   * `theirs` or `both`, it is done only with `overwrite`.
   */
  readonly operations: readonly DeployOperation[];
  /** What differed from the last deployment before this one began. */
  readonly drift: readonly WorkflowDrift[];
  /** The id of each step by its key. */
  readonly stepIds: Readonly<Record<string, string>>;
}

/** The `details` of an error with the code `DEPLOY_INCOMPLETE`. */
export interface IncompleteDeployment {
  readonly workflowId: string | undefined;
  /** Whether the workflow is enabled now; `undefined` when that is unknown. */
  readonly enabled: boolean | undefined;
  /** What the deployment did and could not take back. */
  readonly remains: readonly string[];
}

// A second round follows where a step is made anew; more than three show a mapping that never agrees.
const maxRounds = 10;

/** Brings a live workflow to what its definition says, one recorded step at a time. */
export async function deploy(
  definition: WorkflowDefinition,
  workflows: LiveWorkflows,
  { state: store, dryRun = false, overwrite = false, mapping: own }: DeployOptions,
  options: RequestOptions = {},
): Promise<Deployment> {
  checkDefinition(definition);
  const keeper = await StateKeeper.open(store, definition.key);
  const mapping = { ...defaultWorkflowMapping, ...own };
  const parts = { workflows, keeper, mapping, options };
  const reading = await readLive(definition, parts);
  const run = new DeployRun(definition, reading, parts);
  if (dryRun) {
    return run.result(run.plan());
  }
  if (!overwrite) {
    checkDrift(definition, reading);
  }
  return run.toTheEnd();
}

/** How to take back one operation of a run. */
interface Undo {
  readonly what: string;
  readonly isSwitch?: boolean;
  readonly run: () => Promise<void>;
}

class DeployRun {
  readonly #definition: WorkflowDefinition;
  readonly #drift: readonly WorkflowDrift[];
  readonly #before: WorkflowState;
  readonly #wasEnabled: boolean;
  /** The ids of all parts that exist. */
  readonly #known: Readonly<Record<PendingCreation['kind'], string[]>>;
  readonly #done: DeployOperation[] = [];
  #parts: CreationParts;
  /** What this run can take back, latest last. */
  #undo: Undo[] = [];
  /** It cannot be taken back any more: what is deleted does not come back with its old id. */
  #isForward = false;
  /** Created by this run: taking it back deletes it as a whole. */
  #isNew = false;
  /** `undefined` while the outcome of a switch is unknown. */
  #isEnabled: boolean | undefined;

  constructor(definition: WorkflowDefinition, reading: Reading, parts: CreationParts) {
    const { workflow, step, transition } = reading.known;
    this.#definition = definition;
    this.#parts = parts;
    this.#drift = reading.drift;
    this.#wasEnabled = reading.isEnabled;
    this.#isEnabled = reading.isEnabled;
    this.#known = { workflow: [...workflow], step: [...step], transition: [...transition] };
    this.#before = parts.keeper.state;
    parts.keeper.replace(reading.state);
  }

  plan(): DeployOperation[] {
    const { keeper, mapping } = this.#parts;
    const isEnabled = this.#isEnabled ?? false;
    return planOf(this.#definition, keeper.state, { isEnabled }, mapping);
  }

  async toTheEnd(): Promise<Deployment> {
    try {
      await this.#performAll();
    } catch (failure) {
      throw await this.#cleanUp(failure);
    }
    await this.#remember();
    return this.result(this.#done);
  }

  result(operations: readonly DeployOperation[]): Deployment {
    const { workflow, steps } = this.#parts.keeper.state;
    const ids = Object.entries(steps).map(([key, { id }]) => [key, id] as const);
    const wanted = ids.filter(([key]) => Object.hasOwn(this.#definition.steps, key));
    const stepIds = Object.fromEntries(wanted);
    return { workflowId: workflow?.id, operations, drift: this.#drift, stepIds };
  }

  async #performAll(): Promise<void> {
    for (let round = 0; round < maxRounds; round++) {
      const plan = this.plan();
      for (const operation of plan) {
        await this.#apply(operation);
        this.#done.push(operation);
      }
      if (plan.length === 0) {
        return;
      }
    }
    const last = this.#done.at(-1);
    throw new PostreelError(
      `The deployment did not converge after ${maxRounds} rounds. Last change: ${last && operationText(last)}.`,
      { code: 'DEPLOY_LOOP' },
    );
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
    const { workflows, mapping, keeper } = this.#parts;
    const body = headBody(this.#definition, mapping);
    const pending = this.#pending('workflow', this.#definition.key, body);
    const create = () => workflows.create(body, this.#parts.options);
    const id = await createOnce(pending, create, this.#parts);
    this.#isNew = true;
    this.#undo.push({
      what: `workflow ${id}`,
      run: async () => {
        await keeper.keepUnsure(id, null);
        await gone(workflows.delete(id, this.#parts.options));
        await keeper.forget();
      },
    });
  }

  async #updateWorkflow(): Promise<void> {
    const { workflows, mapping, keeper } = this.#parts;
    const { workflow } = keeper.state;
    if (workflow === undefined) {
      return;
    }
    const wanted = headBody(this.#definition, mapping);
    const write = async (from: DeployedPart, to: Fields, undo?: Undo) => {
      const change = changeOf(fieldsOf(from.body), to);
      const send = () => workflows.update(from.id, change, this.#parts.options);
      const part = await this.#write(from, to, send, undo);
      await keeper.keep({ workflow: part, unsure: keeper.unsureWithout(part.id) });
    };
    const after = { ...workflow, body: jsonOf(wanted) };
    await write(workflow, wanted, {
      what: `the change of ${partName('workflow', workflow.id)}`,
      run: () => write(after, fieldsOf(workflow.body)),
    });
    this.#goForward(); // the graph is complete
  }

  async #createStep(key: string): Promise<void> {
    const { workflows, mapping, keeper } = this.#parts;
    const body = stepBody(this.#definition, key, mapping);
    const pending = this.#pending('step', key, body);
    const create = () => workflows.steps.create(this.#head.id, body, this.#parts.options);
    const id = await createOnce(pending, create, this.#parts);
    this.#known.step.push(id);
    this.#undoCreation(partName('step', key), async () => {
      await keeper.keepUnsure(id, null);
      await gone(workflows.steps.delete(this.#head.id, id, {}, this.#parts.options));
      const steps = without(keeper.state.steps, key);
      await keeper.keep({ steps, unsure: keeper.unsureWithout(id) });
    });
  }

  async #updateStep(key: string): Promise<void> {
    const { workflows, mapping, keeper } = this.#parts;
    const before = partOf(keeper.state.steps, key);
    if (before === undefined) {
      return;
    }
    const wanted = stepBody(this.#definition, key, mapping);
    const write = async (from: DeployedPart, to: Fields, undo?: Undo) => {
      const change = changeOf(fieldsOf(from.body), to);
      const send = () =>
        workflows.steps.update(this.#head.id, from.id, change, this.#parts.options);
      const part = await this.#write(from, to, send, undo);
      const steps = { ...keeper.state.steps, [key]: part };
      await keeper.keep({ steps, unsure: keeper.unsureWithout(part.id) });
    };
    const after = { ...before, body: jsonOf(wanted) };
    await write(before, wanted, {
      what: `the change of ${partName('step', key)}`,
      run: () => write(after, fieldsOf(before.body)),
    });
  }

  async #createTransition(key: string): Promise<void> {
    const { workflows, mapping, keeper } = this.#parts;
    const edge = edgesOf(this.#definition).find((one) => edgeName(one) === key);
    const body = edge && transitionBody(this.#definition, edge, keeper.state, mapping);
    if (body === undefined) {
      return;
    }
    const pending = this.#pending('transition', key, body);
    const create = () => workflows.transitions.create(this.#head.id, body, this.#parts.options);
    const id = await createOnce(pending, create, this.#parts);
    this.#known.transition.push(id);
    this.#undoCreation(partName('transition', key), async () => {
      await keeper.keepUnsure(id, null);
      await gone(workflows.transitions.delete(this.#head.id, id, this.#parts.options));
      const transitions = without(keeper.state.transitions, key);
      await keeper.keep({ transitions, unsure: keeper.unsureWithout(id) });
    });
  }

  async #deleteStep(key: string): Promise<void> {
    const { workflows, keeper, options } = this.#parts;
    const id = partOf(keeper.state.steps, key)?.id ?? '';
    await keeper.keepUnsure(id, null);
    await this.#irreversible(workflows.steps.delete(this.#head.id, id, {}, options));
    const steps = without(keeper.state.steps, key);
    await keeper.keep({ steps, unsure: keeper.unsureWithout(id) });
  }

  async #deleteTransition(key: string): Promise<void> {
    const { workflows, keeper, options } = this.#parts;
    const id = partOf(keeper.state.transitions, key)?.id ?? '';
    await keeper.keepUnsure(id, null);
    await this.#irreversible(workflows.transitions.delete(this.#head.id, id, options));
    const transitions = without(keeper.state.transitions, key);
    await keeper.keep({ transitions, unsure: keeper.unsureWithout(id) });
  }

  async #switch(enabled: boolean): Promise<void> {
    const { workflows, keeper, options } = this.#parts;
    const isPause = !enabled && this.#isEnabled === true && this.#definition.enabled !== false;
    // Kept first: after a crash in between, the state still shows that it was on.
    const enableAgain = isPause || enabled ? true : undefined;
    await keeper.keep({ enableAgain, enabled: undefined });
    const call = workflows.update(this.#head.id, { enabled }, options);
    const undo = { what: 'the pause', isSwitch: true, run: () => this.#switch(true) };
    try {
      await call;
    } catch (failure) {
      if (mayHaveHappened(failure, call)) {
        this.#isEnabled = undefined;
        this.#isForward = this.#isForward || enabled;
        this.#undo.push(...(isPause ? [undo] : []));
      }
      throw failure;
    }
    this.#isEnabled = enabled;
    this.#undo.push(...(isPause ? [undo] : []));
    await keeper.keep({ enableAgain: isPause ? true : undefined, enabled });
  }

  get #head(): DeployedPart {
    const { workflow } = this.#parts.keeper.state;
    if (workflow === undefined) {
      throw new TypeError('The workflow does not exist yet.');
    }
    return workflow;
  }

  #pending(kind: PendingCreation['kind'], key: string, body: object): PendingCreation {
    return { kind, key, body: jsonOf(body), known: [...this.#known[kind]] };
  }

  /** Changes a part, with the way back, and notes what the service shows of it afterwards. */
  async #write(
    part: DeployedPart,
    body: Fields,
    send: () => Call<{ id: string }>,
    undo: Undo | undefined,
  ): Promise<DeployedPart> {
    await this.#parts.keeper.keepUnsure(part.id, jsonOf(body));
    const call = send();
    const noteUndo = () => {
      if (undo && !this.#isNew) {
        this.#undo.push(undo);
      }
    };
    const answer = await call.catch((failure: unknown) => {
      if (mayHaveHappened(failure, call)) {
        noteUndo();
      }
      throw failure;
    });
    noteUndo();
    const live = withId(answer) && shown(answer, body);
    return { id: part.id, body: jsonOf(body), live };
  }

  #undoCreation(what: string, run: () => Promise<void>): void {
    if (!this.#isNew) {
      this.#undo.push({ what, run });
    }
  }

  async #irreversible(call: Call<unknown>): Promise<void> {
    try {
      await gone(call);
    } catch (failure) {
      if (mayHaveHappened(failure, call)) {
        this.#goForward();
      }
      throw failure;
    }
    this.#goForward();
  }

  #goForward(): void {
    this.#undo = [];
    this.#isForward = true;
  }

  /** Takes back what can be taken back, and lists what cannot be: the error to reject with. */
  async #cleanUp(failure: unknown): Promise<unknown> {
    const { keeper, options } = this.#parts;
    this.#parts = { ...this.#parts, options: cleanUpOptions(options) };
    const remains = this.#isForward ? await this.#finish() : await this.#takeBack();
    const isOff = this.#wasEnabled && this.#isEnabled !== true;
    if (remains.length > 0 || isOff) {
      await keeper.save(await this.#shownNow()).catch(() => undefined);
      return this.#incomplete(failure, remains);
    }
    if (!this.#isForward && keeper.state.workflow) {
      // What others changed is theirs again: the next deployment has to be asked, too.
      await keeper
        .save({ ...this.#before, pending: keeper.state.pending, enableAgain: undefined })
        .catch(() => undefined);
    }
    return failure;
  }

  /** Enables a workflow whose graph is complete; the answer is what the deployment has done so far. */
  async #finish(): Promise<string[]> {
    const plan = this.plan();
    if (plan.every((operation) => operation.do === 'enable-workflow')) {
      await Promise.all(plan.map(() => this.#switch(true))).catch(() => undefined);
    }
    return this.plan().length === 0 ? [] : this.#done.map(operationText);
  }

  /** Each undo by itself; the answer is what remains. */
  async #takeBack(): Promise<string[]> {
    const remains: string[] = [];
    const steps = this.#undo.reverse();
    this.#undo = [];
    for (const { what, run, isSwitch } of steps) {
      // Contacts must not go through a graph that is not as it was.
      if (isSwitch && remains.length > 0) {
        continue;
      }
      await run().catch(() => remains.push(what));
    }
    return remains;
  }

  #incomplete(failure: unknown, remains: readonly string[]): PostreelError {
    const { workflow } = this.#parts.keeper.state;
    const details = { workflowId: workflow?.id, enabled: this.#isEnabled, remains };
    const state =
      this.#isEnabled === undefined
        ? 'It is unknown whether the workflow is enabled'
        : `The workflow is ${this.#isEnabled ? 'enabled' : 'disabled'}`;
    const what = remains.length > 0 ? `; these remain: ${listed(remains)}` : '';
    return new PostreelError(
      `The deployment of "${this.#definition.name}" failed and is incomplete${what}. ${state}: deploy again to go on.`,
      {
        code: 'DEPLOY_INCOMPLETE',
        outcome: 'unknown',
        status: isPostreelError(failure) ? failure.status : undefined,
        details,
        cause: failure,
      },
    );
  }

  /** Notes what is live now, so that the next deployment can tell what others have changed. */
  async #remember(): Promise<void> {
    const change = this.#done.length > 0 ? await this.#shownNow() : {};
    const after = { enabled: this.#isEnabled, enableAgain: undefined };
    await this.#parts.keeper.save({ ...change, ...after });
  }

  /** What is live of the parts whose last write no answer has shown. */
  async #shownNow(): Promise<Partial<WorkflowState>> {
    const { keeper, options } = this.#parts;
    const { state } = keeper;
    const live =
      state.workflow && !isAllShown(state)
        ? await readGraph(this.#parts, state.workflow.id, options).catch(() => undefined)
        : undefined;
    return live ? withShown(state, live) : {};
  }
}

function isAllShown({ workflow, steps, transitions }: WorkflowState): boolean {
  const parts = [
    ...(workflow ? [workflow] : []),
    ...Object.values(steps),
    ...Object.values(transitions),
  ];
  return parts.every(({ body, live = '{}' }) =>
    isSame(Object.keys(fieldsOf(body)).sort(), Object.keys(fieldsOf(live)).sort()),
  );
}

// What the answer to a write has shown is older, and so surely ours.
function withShown(
  { workflow, steps, transitions }: WorkflowState,
  live: LiveGraph,
): Partial<WorkflowState> {
  const seen = (part: DeployedPart, records: readonly { id: string }[]): DeployedPart => {
    const record = records.find(({ id }) => id === part.id) ?? {};
    const now = fieldsOf(shown(record, fieldsOf(part.body)));
    return { ...part, live: jsonOf({ ...now, ...fieldsOf(part.live ?? '{}') }) };
  };
  const all = (parts: WorkflowState['steps'], records: readonly { id: string }[]) =>
    Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, seen(part, records)]));
  return {
    workflow: workflow && seen(workflow, [live]),
    steps: all(steps, live.steps),
    transitions: all(transitions, live.transitions),
  };
}

// Fields that did not change are not sent: they may have been changed by others meanwhile.
function changeOf(before: Fields, after: Fields): Record<string, unknown> {
  const names = Object.keys(after).filter((name) => !isSame(before[name], after[name]));
  return { ...pick(after, names) };
}

function operationText(operation: DeployOperation): string {
  return Object.values(operation).join(' ');
}

async function gone(call: Call<unknown>): Promise<void> {
  try {
    await call;
  } catch (failure) {
    if (!isPostreelError(failure) || failure.status !== 404) {
      throw failure;
    }
  }
}
