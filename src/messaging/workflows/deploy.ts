import { isAbortOf } from '../../core/async.js';
import {
  invalidRequest,
  InvalidRequestError,
  isPostreelError,
  messageOf,
  PostreelError,
} from '../../core/errors.js';
import { flag, readOptions, text, type OptionKinds } from '../../core/options.js';
import type { Call, Page, Paginated, RequestOptions } from '../../core/types.js';
import { isRecord, type Acknowledgement } from '../../core/values.js';
import type { TextCheck } from '../shared/template-text.js';
import {
  contentOf,
  differencesOf,
  graphOf,
  isPartOf,
  liveContentOf,
  markOf,
  stepBody,
  transitionBody,
  workflowBody,
  type WorkflowContent,
  type LiveGraph,
} from './content.js';
import type {
  ExecutionQuery,
  StepCreate,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowGraph,
  WorkflowUpdate,
} from '../workflows.types.js';
import {
  checkDefinition,
  listTransitions,
  nameOfStep,
  stepsOf,
  type DefinedTransition,
  type WorkflowDefinition,
} from './definition.js';
import {
  findInterruptedSwitch,
  findForeign,
  findOtherRunning,
  sortWorkflows,
  versionName,
  findVersion,
  type FoundWorkflows,
  type RunningWorkflow,
  type Version,
} from './versions.js';

/** How to deploy a workflow. */
export interface DeployOptions {
  /**
   * Switches to this version: the running versions are disabled and this version is enabled, even if somebody
   * has disabled it. Without `enable`, a new version is created and stays off, and the running version stays on.
   * @default false
   */
  readonly enable?: boolean | undefined;
  /**
   * Only returns the operations that a deployment would do, and changes nothing.
   * @default false
   */
  readonly dryRun?: boolean | undefined;
  /**
   * Deletes the disabled versions that have no active executions and are unchanged since their deployment.
   * Versions that somebody has changed are kept.
   * @default false
   */
  readonly prune?: boolean | undefined;
  /** The id of a workflow to replace that was not deployed from a definition, or has another name. */
  readonly replaces?: string | undefined;
}

/** The result of a deployment. With `dryRun`: the result that it would have. */
export interface Deployment {
  /** `undefined` after a dry run of a version that does not exist yet. */
  readonly workflowId: string | undefined;
  /** Its name in the service, with the mark of its version: `Welcome · 3f2a9c`. */
  readonly name: string;
  /** The operations that were done, in order; empty if there was nothing to do. */
  readonly operations: readonly DeployOperation[];
  /** The id of each step by its key; empty after a dry run of a version that does not exist yet. */
  readonly stepIds: Readonly<Record<string, string>>;
  /** The workflows that were on and were disabled for this version. */
  readonly replaced: readonly ReplacedWorkflow[];
  /** The time between the old version and this one, when neither was on: events of that time started neither. */
  readonly gap: { readonly from: Date; readonly to: Date } | undefined;
  /** The versions that `prune` did not delete. */
  readonly kept: readonly KeptWorkflow[];
  /** Further information about the deployment, in whole sentences. */
  readonly notes: readonly string[];
}

/** One operation of a deployment. */
export type DeployOperation =
  | { readonly do: 'create-workflow' }
  | { readonly do: 'create-step'; readonly step: string }
  | { readonly do: 'create-transition'; readonly transition: string }
  | {
      readonly do: 'disable-workflow' | 'enable-workflow' | 'delete-workflow';
      /** `undefined` before the workflow exists. */
      readonly workflowId: string | undefined;
    };

/** A workflow that this deployment replaces. */
export interface ReplacedWorkflow {
  readonly workflowId: string;
  readonly name: string | undefined;
  /** The number of its active executions; only a dry run counts them. */
  readonly activeExecutions: number | undefined;
}

/** A version that `prune` did not delete. */
export interface KeptWorkflow {
  readonly workflowId: string;
  readonly name: string;
  readonly reason: string;
}

/** The `details` of an error with the code `DEPLOY_FAILED` or `DEPLOY_INCOMPLETE`. */
export interface FailedDeployment {
  /** The ids of the versions that are on now; `undefined` if the deployment could not read them. */
  readonly on: readonly string[] | undefined;
  /** The changes that the deployment made and could not undo. */
  readonly remains: readonly string[];
}

/** The methods of the client that a deployment calls. */
export interface DeployParts {
  readonly checkTexts: TextCheck;
  readonly templates: { get(id: string, options: RequestOptions): Call<unknown> };
  readonly workflows: {
    list(query: object, options: RequestOptions): Paginated<Workflow>;
    get(id: string, options: RequestOptions): Call<WorkflowGraph>;
    create(body: WorkflowCreate, options: RequestOptions): Call<unknown>;
    update(id: string, body: WorkflowUpdate, options: RequestOptions): Call<unknown>;
    delete(id: string, options: RequestOptions): Call<Acknowledgement>;
    readonly steps: Creator<StepCreate>;
    readonly transitions: Creator<TransitionCreate>;
    readonly executions: {
      list(id: string, query: ExecutionQuery, options: RequestOptions): PromiseLike<Page<unknown>>;
    };
  };
}

interface Creator<Body> {
  create(id: string, body: Body, options: RequestOptions): Call<unknown>;
}

const deployOptions: OptionKinds<DeployOptions> = {
  enable: flag,
  dryRun: flag,
  prune: flag,
  replaces: text,
};

/** Deploys a definition as a separate version next to the running one. Switches to it if `enable` is set. */
export async function deploy(
  definition: WorkflowDefinition,
  settings: DeployOptions | undefined,
  parts: DeployParts,
  options: RequestOptions = {},
): Promise<Deployment> {
  checkDefinition(definition);
  const owner = { name: '`workflows.deploy()`', isStrict: true, example: '{ enable: true }' };
  const read = readOptions(settings, deployOptions, owner);
  stepsOf(definition).forEach(([key]) => parts.checkTexts(stepBody(definition, key)));
  const run = new DeployRun(definition, read, parts, options);
  return read.dryRun === true ? run.plan() : run.perform();
}

/** A switch between versions that has begun. */
interface VersionSwitch {
  readonly id: string;
  readonly mark: string;
  /** Whether an earlier deployment began this switch. */
  readonly wasInterrupted: boolean;
  /** The workflows that the switch has disabled so far. */
  readonly disabled: RunningWorkflow[];
}

/**
 * One deployment. The name of each version in the service contains its state. After a crash, the next deployment
 * recognizes an unfinished draft by it, and completes an unfinished switch.
 *
 * | step                                    | name in the service            | on          |
 * | --------------------------------------- | ------------------------------ | ----------- |
 * | create the workflow, steps, transitions | `Welcome · 3f2a9c (draft …)`   | old version |
 * | read the graph back and compare it      | `Welcome · 3f2a9c (draft …)`   | old version |
 * | begin the switch: rename the version    | `Welcome · 3f2a9c (switching)` | old version |
 * | disable the old version                 | `Welcome · 3f2a9c (switching)` | none        |
 * | enable the new version                  | `Welcome · 3f2a9c (switching)` | new version |
 * | end the switch: rename the version      | `Welcome · 3f2a9c`             | new version |
 *
 * Without `enable`, the version gets its final name after the comparison, and the old version stays on.
 */
class DeployRun {
  readonly #definition: WorkflowDefinition;
  readonly #settings: DeployOptions;
  readonly #parts: DeployParts;
  readonly #content: WorkflowContent;
  readonly #mark: string;
  /** The name of the draft. It has a random token, so that another deployer's draft has another name. */
  readonly #draftName: string;
  readonly #done: DeployOperation[] = [];
  readonly #replaced: RunningWorkflow[] = [];
  readonly #notes: string[] = [];
  #options: RequestOptions;
  #gap: Deployment['gap'];
  /** The unfinished workflow of this run. Its `id` is absent until a response has named it. */
  #draft: { readonly id?: string } | undefined;
  /** The switch that this run is performing. */
  #switch: VersionSwitch | undefined;
  #stepIds: Record<string, string> | undefined;

  constructor(
    definition: WorkflowDefinition,
    settings: DeployOptions,
    parts: DeployParts,
    options: RequestOptions,
  ) {
    this.#definition = definition;
    this.#settings = settings;
    this.#parts = parts;
    this.#options = options;
    this.#content = contentOf(definition);
    this.#mark = markOf(this.#content);
    const token = Math.random().toString(36).slice(2, 10);
    this.#draftName = versionName(definition.name, this.#mark, `draft ${token}`);
  }

  async plan(): Promise<Deployment> {
    const found = await this.#find();
    this.#refuseForeign(found);
    const target = findVersion(this.#mark, found.versions);
    if (target === undefined) {
      await this.#checkTemplates();
      this.#done.push(...this.#listCreations());
    }
    const interrupted = findInterruptedSwitch(found.versions);
    const next =
      this.#settings.enable === true ? { id: target?.id, isOn: target?.isOn } : interrupted;
    const old = next ? findOtherRunning(next.id, found) : [];
    const disabling = old.map(({ id }) => ({ do: 'disable-workflow', workflowId: id }) as const);
    this.#done.push(...disabling);
    if (next && next.isOn !== true) {
      this.#done.push({ do: 'enable-workflow', workflowId: next.id });
    }
    this.#note(found, old);
    const counts = await Promise.all(old.map(({ id }) => this.#countActiveExecutions(id)));
    const replaced = old.map((one, at) => toReplaced(one, counts[at]));
    const off = new Set(old.map(({ id }) => id));
    const after = found.versions.map((one) => (off.has(one.id) ? { ...one, isOn: false } : one));
    const kept = await this.#prune(found.versions, after, target?.id, () => Promise.resolve());
    return { ...(await this.#result(target?.id, kept)), replaced };
  }

  async perform(): Promise<Deployment> {
    const found = await this.#find();
    this.#refuseForeign(found);
    try {
      const id = await this.#deploy(found);
      this.#note(found, this.#replaced);
      const after = this.#settings.prune === true ? (await this.#find()).versions : [];
      const remove = (old: string) => this.#remove(old);
      const kept = await this.#prune(found.versions, after, id, remove);
      return await this.#result(id, kept);
    } catch (failure) {
      throw await this.#undo(failure);
    }
  }

  async #deploy({ versions }: FoundWorkflows): Promise<string> {
    const interrupted = findInterruptedSwitch(versions);
    if (interrupted) {
      await this.#switchTo(interrupted);
    }
    const existing = findVersion(this.#mark, versions);
    const id = existing?.id ?? (await this.#create());
    const mark = this.#mark;
    if (this.#settings.enable === true) {
      await this.#switchTo({ id, mark });
    } else if (existing === undefined) {
      await this.#update(id, { name: versionName(this.#definition.name, mark) });
    }
    const isNew = existing === undefined;
    this.#draft = undefined; // a later failure does not delete the finished version
    this.#done.unshift(...(isNew ? this.#listCreations() : []));
    return this.#resolveConflict(id, isNew);
  }

  // ---- finding the versions and templates in the service

  async #find(): Promise<FoundWorkflows> {
    const { workflows } = this.#parts;
    const { replaces } = this.#settings;
    const replaced =
      replaces === undefined ? undefined : await workflows.get(replaces, this.#options);
    const all = await workflows.list({}, this.#options).toArray();
    return sortWorkflows(all, this.#definition, replaced);
  }

  #refuseForeign(found: FoundWorkflows): void {
    const foreign = findForeign(found);
    if (foreign) {
      const { name, trigger } = this.#definition;
      throw new InvalidRequestError(
        `Workflow ${foreign.id} has the same name "${name}" and the same event "${trigger.event}", but \`deploy()\` did not create it. To replace it, deploy with \`{ replaces: '${foreign.id}' }\`; to keep it, rename it.`,
        { code: 'WORKFLOW_EXISTS', details: { workflowId: foreign.id } },
      );
    }
  }

  async #checkTemplates(): Promise<void> {
    const named = stepsOf(this.#definition).flatMap(([key, step]) =>
      step.type === 'SEND_EMAIL' && step.template !== undefined
        ? [{ key, template: step.template }]
        : [],
    );
    const missing = new Set<string>();
    for (const template of new Set(named.map((one) => one.template))) {
      if (await failsWithNotFound(this.#parts.templates.get(template, this.#options))) {
        missing.add(template);
      }
    }
    const wrong = named.filter(({ template }) => missing.has(template));
    if (wrong.length > 0) {
      throw invalidRequest(
        wrong.map(({ key, template }) => ({
          field: `steps.${key}.template`,
          message: `must name a template of this project; there is no "${template}"`,
        })),
      );
    }
  }

  async #countActiveExecutions(id: string): Promise<number> {
    const { executions } = this.#parts.workflows;
    let count = 0;
    for (const status of ['RUNNING', 'WAITING']) {
      const { total, items } = await executions.list(id, { status }, this.#options);
      count += total ?? items.length;
    }
    return count;
  }

  // ---- creating a version

  #listCreations(): DeployOperation[] {
    return [
      { do: 'create-workflow' },
      ...stepsOf(this.#definition).map(([step]) => ({ do: 'create-step', step }) as const),
      ...listTransitions(this.#definition).map(
        (transition) =>
          ({ do: 'create-transition', transition: formatTransition(transition) }) as const,
      ),
    ];
  }

  /** Creates the whole graph under the draft's name, reads it back and compares it. Returns the workflow's id. */
  async #create(): Promise<string> {
    await this.#checkTemplates();
    const { workflows } = this.#parts;
    this.#draft = {};
    const body = workflowBody(this.#definition, this.#draftName);
    const created: unknown = await workflows.create(body, this.#options);
    const id = idOf(created) ?? (await this.#findDraftId());
    if (id === undefined) {
      throw this.#markDroppedError();
    }
    this.#draft = { id };
    const ids = new Map<string, string>();
    for (const [key] of stepsOf(this.#definition)) {
      const step: unknown = await workflows.steps.create(
        id,
        stepBody(this.#definition, key),
        this.#options,
      );
      const stepId = idOf(step);
      if (stepId !== undefined) {
        ids.set(stepId, nameOfStep(this.#definition, key));
      }
    }
    await this.#connect(id, await this.#ownGraph(id, ids));
    const graph = await this.#ownGraph(id, ids);
    if (graph.workflow['name'] !== this.#draftName) {
      throw this.#markDroppedError();
    }
    const differences = differencesOf(this.#definition, graph);
    if (differences.length > 0) {
      throw notAsDeployedError(
        `did not store the workflow as it was sent: ${joinTexts(differences)}`,
        differences,
      );
    }
    if ((await this.#findDraftId()) !== id) {
      throw this.#markDroppedError(); // a later deployment finds versions only in the list
    }
    this.#stepIds = this.#stepIdsIn(graph);
    return id;
  }

  async #connect(id: string, graph: LiveGraph): Promise<void> {
    const { transitions } = this.#parts.workflows;
    const stepIds = this.#stepIdsIn(graph);
    const [start] = stepsOf(this.#definition);
    const first = stepIds[start?.[0] ?? ''] ?? '';
    if (graph.trigger !== undefined && graph.start !== first) {
      await transitions.create(id, transitionBody(graph.trigger, first), this.#options);
    }
    for (const { from, to, ...transition } of listTransitions(this.#definition)) {
      const body = transitionBody(stepIds[from] ?? '', stepIds[to] ?? '', transition);
      await transitions.create(id, body, this.#options);
    }
  }

  async #ownGraph(id: string, names: ReadonlyMap<string, string>): Promise<LiveGraph> {
    const graph = await this.#readGraph(id, names);
    if (graph === undefined) {
      throw notAsDeployedError(`does not show the steps of workflow ${id}`);
    }
    return graph;
  }

  async #readGraph(
    id: string,
    names?: ReadonlyMap<string, string>,
  ): Promise<LiveGraph | undefined> {
    return graphOf(await this.#parts.workflows.get(id, this.#options), names);
  }

  #stepIdsIn({ steps }: LiveGraph): Record<string, string> {
    const ids = stepsOf(this.#definition).flatMap(([key]) => {
      const step = steps.find(({ name }) => name === nameOfStep(this.#definition, key));
      return step ? [[key, step.id] as const] : [];
    });
    return Object.fromEntries(ids);
  }

  #markDroppedError(): PostreelError {
    return new PostreelError(
      `The service did not keep the name "${this.#draftName}": without its mark no later deployment would find this version. The new workflow was removed.`,
      { code: 'MARK_DROPPED', outcome: 'rejected' },
    );
  }

  /** Finds the id of this run's draft by its name. */
  async #findDraftId(): Promise<string | undefined> {
    const { versions } = await this.#find();
    return versions.find(({ name }) => name === this.#draftName)?.id;
  }

  // ---- the switch

  /**
   * Disables the running versions and enables the given one. Until the switch is complete, the name of the version
   * has the state `switching`: after a crash, the next deployment completes the switch.
   */
  async #switchTo({ id, mark }: Pick<Version, 'id' | 'mark'>): Promise<void> {
    const found = await this.#find();
    const target = found.versions.find((version) => version.id === id);
    if (target === undefined) {
      throw new PostreelError(`Workflow ${id} is gone: somebody has deleted or renamed it.`);
    }
    const twins = found.versions.filter((one) => one.id !== id && one.mark === mark && one.isOn);
    if (this.#draft && twins.length > 0) {
      return; // another deployer has already enabled a version with the same content
    }
    const { name } = this.#definition;
    const old = findOtherRunning(id, found);
    const interrupted = found.versions.filter((one) => one.state === 'switching' && one.id !== id);
    if (target.isOn && target.state === 'whole' && old.length === 0) {
      return;
    }
    const disabled: RunningWorkflow[] = [];
    const wasInterrupted = target.state === 'switching';
    this.#switch = { id, mark, wasInterrupted, disabled };
    if (!wasInterrupted) {
      await this.#update(id, { name: versionName(name, mark, 'switching') });
    }
    for (const one of interrupted) {
      await failsWithNotFound(this.#update(one.id, { name: versionName(name, one.mark) }));
    }
    const from = new Date();
    for (const one of old) {
      disabled.push(one);
      await failsWithNotFound(this.#update(one.id, { enabled: false }));
    }
    await this.#update(id, { enabled: true });
    const to = new Date();
    await this.#update(id, { name: versionName(name, mark) });
    this.#switch = undefined;
    this.#gap = old.length > 0 ? { from, to } : this.#gap;
    this.#replaced.push(...old);
    this.#done.push(
      ...old.map((one) => ({ do: 'disable-workflow', workflowId: one.id }) as const),
      { do: 'enable-workflow', workflowId: id },
    );
  }

  /**
   * Resolves a conflict with another deployer that ran at the same time, and returns the id of the version that stays.
   *
   * | conflict                          | stays                                           |
   * | --------------------------------- | ----------------------------------------------- |
   * | several versions are on           | on: the version with the smallest id            |
   * | two copies of one version         | the copy that is on, or else the smaller id     |
   */
  async #resolveConflict(id: string, isNew: boolean): Promise<string> {
    const { versions } = await this.#find();
    const isOn = versions.some((version) => version.id === id && version.isOn);
    const on = versions.filter((version) => version.isOn);
    const stays = on[0]?.id;
    if (this.#settings.enable === true && isOn) {
      for (const other of on.slice(1)) {
        await failsWithNotFound(this.#update(other.id, { enabled: false }));
      }
    }
    const others = versions.filter((version) => version.id !== id);
    const twin = findVersion(this.#mark, others);
    const isLeftOver = !isOn || stays !== id;
    if (isNew && isLeftOver && twin !== undefined && (twin.isOn || twin.id < id)) {
      // A version that was on for a moment may have executions. Then the service does not delete it: it stays,
      // disabled.
      await this.#remove(id).catch(() => undefined);
      this.#stepIds = undefined;
      return twin.id;
    }
    if (isOn && stays !== undefined && stays !== id) {
      this.#notes.push(
        `Workflow ${stays} was deployed at the same time and stays on: ${id} is off.`,
      );
    }
    return id;
  }

  // ---- undoing after a failure

  /** Undoes the unfinished work of this run, and returns the error to reject with. */
  async #undo(failure: unknown): Promise<unknown> {
    const { signal } = this.#options;
    const interrupted = this.#switch;
    const draft = this.#draft;
    const isRefusal = isPostreelError(failure) && failure.code === 'INVALID_REQUEST';
    if (
      interrupted === undefined &&
      draft === undefined &&
      (this.#done.length === 0 || isRefusal)
    ) {
      return failure;
    }
    const { headers, priority } = this.#options;
    // Without the caller's signal and times, which may have ended already. The deadline is in milliseconds.
    this.#options = { headers, priority, deadline: 10_000 };
    const remains: string[] = [];
    const attempt = (what: string, run: () => Promise<unknown>) =>
      run().catch(() => void remains.push(what));
    const isBack = interrupted ? await this.#switchBack(interrupted, attempt) : false;
    if (draft) {
      const what = `workflow ${draft.id ?? `"${this.#draftName}"`}`;
      await attempt(what, () => this.#removeDraft(draft.id));
    }
    if (interrupted && isBack && (remains.length > 0 || draft === undefined)) {
      const name = versionName(this.#definition.name, interrupted.mark);
      await attempt(`the name of workflow ${interrupted.id}`, () =>
        this.#update(interrupted.id, { name }),
      );
    }
    const on = await this.#find().then(
      (found) => findOtherRunning(undefined, found).map(({ id }) => id),
      () => undefined,
    );
    // Finished operations are not undone: the switch of an earlier deployment, or all of this deployment.
    const isClean = remains.length === 0 && on !== undefined && this.#done.length === 0;
    const isOwn = isPostreelError(failure) && ownCodes.has(failure.code);
    return isClean && (isOwn || isAbortOf(signal, failure))
      ? failure
      : this.#failedError(failure, { on, remains }, isClean);
  }

  /**
   * Disables the new version and enables the versions that were on before. Returns `true` if some version is on
   * again, or if this run had disabled none and had begun the switch itself.
   */
  async #switchBack(
    { id, wasInterrupted, disabled }: VersionSwitch,
    attempt: (what: string, run: () => Promise<unknown>) => Promise<unknown>,
  ): Promise<boolean> {
    await attempt(`workflow ${id} may be on`, () => this.#update(id, { enabled: false }));
    const found = await this.#find().catch(() => undefined);
    // Another deployer may have enabled its version in the meantime: then the old versions stay off.
    let isAnyOn = found !== undefined && findOtherRunning(id, found).length > 0;
    for (const one of isAnyOn ? [] : disabled) {
      await attempt(`workflow ${one.id} may be off`, async () => {
        await this.#update(one.id, { enabled: true });
        isAnyOn = true;
      });
    }
    return isAnyOn || (disabled.length === 0 && !wasInterrupted);
  }

  async #removeDraft(known: string | undefined): Promise<void> {
    const id = known ?? (await this.#findDraftId());
    if (id !== undefined) {
      await this.#remove(id);
    }
  }

  #failedError(failure: unknown, details: FailedDeployment, isClean: boolean): PostreelError {
    const { on, remains } = details;
    const state =
      on === undefined
        ? 'It is unknown which version is on'
        : on.length === 0
          ? 'No version is on'
          : `Currently on: ${joinTexts(on.map((id) => `workflow ${id}`))}`;
    const left = remains.length > 0 ? ` These remain: ${joinTexts(remains)}.` : '';
    const cause = messageOf(failure).replace(/\.?$/, '.');
    return new PostreelError(
      `The deployment of "${this.#definition.name}" failed: ${cause} ${state}.${left} Deploy again to continue.`,
      {
        code: isClean ? 'DEPLOY_FAILED' : 'DEPLOY_INCOMPLETE',
        outcome: isClean ? 'rejected' : 'unknown',
        status: isPostreelError(failure) ? failure.status : undefined,
        details,
        cause: failure,
      },
    );
  }

  // ---- old versions

  /** Deletes the versions that are no longer needed. Returns the versions that stay, with the reasons. */
  async #prune(
    before: readonly Version[],
    after: readonly Version[],
    id: string | undefined,
    remove: (id: string) => Promise<void>,
  ): Promise<KeptWorkflow[]> {
    const kept: KeptWorkflow[] = [];
    for (const version of this.#settings.prune === true ? after : []) {
      if (version.id === id) {
        continue;
      }
      const wasThere = before.some((one) => one.id === version.id);
      const check = async () => {
        const found = await this.#findReasonToKeep(version, wasThere);
        await (found === undefined ? remove(version.id) : undefined);
        return found;
      };
      const reason = await check().catch((failure: unknown) => {
        if (isAbortOf(this.#options.signal, failure)) {
          throw failure;
        }
        return messageOf(failure);
      });
      if (reason === undefined) {
        this.#done.push({ do: 'delete-workflow', workflowId: version.id });
      } else {
        kept.push({ workflowId: version.id, name: version.name, reason });
      }
    }
    return kept;
  }

  async #findReasonToKeep(version: Version, wasThere: boolean): Promise<string | undefined> {
    if (version.isOn) {
      return 'It is on.';
    }
    if (version.state === 'switching') {
      return 'A switch to it is not finished.';
    }
    const isDraft = version.state === 'draft';
    if (isDraft && (!wasThere || version.mark !== this.#mark)) {
      return 'It is the draft of another deployment. Delete it if that one has ended.';
    }
    const graph = await this.#readGraph(version.id);
    if (graph === undefined) {
      return 'The service does not show its steps.';
    }
    const content = liveContentOf(graph, this.#definition);
    const isAsDeployed = isDraft
      ? isPartOf(content, this.#content)
      : markOf(content) === version.mark;
    if (!isAsDeployed) {
      return 'It has changed since it was deployed.';
    }
    const active = await this.#countActiveExecutions(version.id);
    return active > 0
      ? `It has ${active} active ${active === 1 ? 'execution' : 'executions'}.`
      : undefined;
  }

  // ---- the report

  #note({ versions }: FoundWorkflows, old: readonly RunningWorkflow[]): void {
    if (old.length > 0 && this.#definition.allowReentry !== true) {
      this.#notes.push(
        'Contacts who went through the old version may enter this one again: to the service it is another workflow.',
      );
    }
    const drafts = versions.filter(({ state }) => state === 'draft');
    if (drafts.length > 0 && this.#settings.prune !== true) {
      const ids = joinTexts(drafts.map(({ id }) => id));
      this.#notes.push(`Drafts of deployments that were interrupted or are still running: ${ids}.`);
    }
  }

  async #result(id: string | undefined, kept: readonly KeptWorkflow[]): Promise<Deployment> {
    const graph = id === undefined || this.#stepIds ? undefined : await this.#readGraph(id);
    const ids = this.#stepIds ?? (graph ? this.#stepIdsIn(graph) : {});
    return {
      workflowId: id,
      name: versionName(this.#definition.name, this.#mark),
      operations: this.#done,
      stepIds: ids,
      replaced: this.#replaced.map((one) => toReplaced(one)),
      gap: this.#gap,
      kept,
      notes: this.#notes,
    };
  }

  // With the highest priority, before other queued calls: while no version is on, events are lost.
  async #update(id: string, change: { name: string } | { enabled: boolean }): Promise<void> {
    await this.#parts.workflows.update(id, change, { ...this.#options, priority: 'interactive' });
  }

  async #remove(id: string): Promise<void> {
    await failsWithNotFound(this.#parts.workflows.delete(id, this.#options));
  }
}

// The codes of errors about the draft. Their messages already say that the new workflow was removed.
const ownCodes: ReadonlySet<string> = new Set(['MARK_DROPPED', 'NOT_AS_DEPLOYED']);

function notAsDeployedError(what: string, details?: unknown): PostreelError {
  return new PostreelError(
    `The service ${what}. The new workflow was removed. If the service requires other fields, set them in \`fields\` and \`config\` of the definition.`,
    { code: 'NOT_AS_DEPLOYED', outcome: 'rejected', details },
  );
}

function toReplaced({ id, name }: RunningWorkflow, activeExecutions?: number): ReplacedWorkflow {
  return { workflowId: id, name, activeExecutions };
}

function formatTransition({ from, to, branch }: DefinedTransition): string {
  return branch === undefined ? `${from} to ${to}` : `${from} ${branch} to ${to}`;
}

/** Returns the id in a response, if it has one. */
function idOf(record: unknown): string | undefined {
  const id = isRecord(record) ? record['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** Runs a call. Returns whether it failed with a 404, and rethrows any other error. */
async function failsWithNotFound(call: PromiseLike<unknown>): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (failure) {
    if (isPostreelError(failure) && failure.status === 404) {
      return true;
    }
    throw failure;
  }
}

const maxListed = 5;

/** Joins the first few texts for an error message. */
function joinTexts(texts: readonly string[]): string {
  const more = texts.length > maxListed ? [`${texts.length - maxListed} more`] : [];
  return [...texts.slice(0, maxListed), ...more].join(', ');
}
