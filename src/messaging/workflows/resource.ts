import { flag } from '../../core/options.js';
import { isPostreelError } from '../../core/errors.js';
import type { MethodsFor } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
import type { Call, ListOptions, Paginated, RequestOptions } from '../../core/types.js';
import type { Acknowledgement } from '../../core/values.js';
import {
  jobStage,
  waitForRecord,
  type RecordWaitOptions,
  type StatusChecks,
} from '../../core/wait.js';
import { toRequestBody } from '../shared/request-body.js';
import type { WorkflowDefinition } from './definition.js';
import type { Deployment, DeployOptions, DeployParts } from './deploy.js';
import { routes } from './routes.js';
import type {
  ExecutionQuery,
  ExecutionStart,
  StepCreate,
  StepDelete,
  StepUpdate,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowDeleteOptions,
  WorkflowExecution,
  WorkflowFields,
  WorkflowGraph,
  WorkflowQuery,
  WorkflowStep,
  WorkflowTransition,
  WorkflowUpdate,
} from './types.js';

/**
 * Automated steps that contacts go through after an event.
 * @example
 * const workflow = await messaging.workflows.create({ name: 'Welcome', eventName: 'signed_up' });
 * await messaging.workflows.steps.create(workflow.id, { type: 'SEND_EMAIL', config: { templateId } });
 * await messaging.workflows.update(workflow.id, { enabled: true });
 */
export class Workflows implements MethodsFor<typeof routes> {
  /** The steps of a workflow. */
  readonly steps: WorkflowSteps;
  /** The transitions between steps. */
  readonly transitions: WorkflowTransitions;
  /** The runs of contacts through a workflow. */
  readonly executions: WorkflowExecutions;
  readonly #transport: Transport;
  readonly #parts: WorkflowParts;

  constructor(transport: Transport, parts: WorkflowParts) {
    const { checks } = parts;
    this.#transport = transport;
    this.#parts = parts;
    this.steps = new WorkflowSteps(transport);
    this.transitions = new WorkflowTransitions(transport);
    this.executions = new WorkflowExecutions(transport, checks);
  }

  /** Lists workflows. `await` it for one page, `for await` it for every workflow. */
  list(query?: WorkflowQuery, options?: ListOptions): Paginated<Workflow> {
    return this.#transport.pages(routes.list, { query }, options);
  }

  /** Gets the contact and event fields that `CONDITION` steps may use. */
  fields(options?: RequestOptions): Call<WorkflowFields> {
    return this.#transport.send(routes.fields, {}, options);
  }

  /** Creates a workflow, disabled and with an `EVENT` trigger. */
  create(body: WorkflowCreate | Workflow, options?: RequestOptions): Call<Workflow> {
    return this.#transport.send(
      routes.create,
      { body: toRequestBody<WorkflowCreate>(body, workflowBack) },
      options,
    );
  }

  /** Gets one workflow by its id, with its steps and transitions. */
  get(id: string, options?: RequestOptions): Call<WorkflowGraph> {
    return this.#transport.send(routes.get, { params: { id } }, options);
  }

  /** Changes a workflow; `{ enabled: true }` starts it. Fields left out keep their values. */
  update(id: string, body: WorkflowUpdate | Workflow, options?: RequestOptions): Call<Workflow> {
    return this.#transport.send(
      routes.update,
      { params: { id }, body: toRequestBody<WorkflowUpdate>(body, workflowBack) },
      options,
    );
  }

  /**
   * Deletes a workflow. Its active executions must be cancelled or completed first. With
   * `cancelExecutions` a failure leaves the call's outcome unknown: they may have been cancelled.
   */
  delete(id: string, options?: WorkflowDeleteOptions): Call<Acknowledgement> {
    let cancelling: Call<Acknowledgement> | undefined;
    const run = async ({ cancelExecutions, ...rest }: WorkflowDeleteOptions) => {
      if (cancelExecutions) {
        cancelling = this.executions.cancelAll(id, rest);
        await cancelling;
      }
    };
    const input = { params: { id }, before: { options: { cancelExecutions: flag }, run } };
    const call = this.#transport.send(routes.delete, input, options);
    return call.tapError((failure, state) => {
      const outcome = cancelling ? cancelling.outcome : 'not-sent';
      if (outcome === undefined || outcome === 'unknown') {
        state.outcome = 'unknown';
        if (isPostreelError(failure)) {
          Object.assign(failure, { outcome: 'unknown' });
        }
      }
    });
  }

  /**
   * Deploys a workflow that is written as code: as a new version beside the one that runs, disabled, read
   * back and compared. With `enable` it then takes the other's place; between the two calls that do so
   * nothing is on, and events of that moment are lost. A definition that is deployed already is left alone.
   * A failure takes back what was done, and says what is on; after a crash, deploy again.
   * @throws an `InvalidRequestError` for a template that does not exist, and with the code
   *   `WORKFLOW_EXISTS` for a workflow of that name and event that was not deployed from here; a
   *   `PostreelError` with the code `MARK_DROPPED` or `NOT_AS_DEPLOYED` where the service does not keep what
   *   was sent, `DEPLOY_FAILED` when all was taken back, `DEPLOY_INCOMPLETE` when something remains
   */
  async deploy(
    definition: WorkflowDefinition,
    settings?: DeployOptions,
    options?: RequestOptions,
  ): Promise<Deployment> {
    // Loaded here: workflows as code are for scripts.
    const { deploy } = await import('./deploy.js');
    return deploy(definition, settings, { ...this.#parts, workflows: this }, options);
  }
}

/**
 * The steps of a workflow.
 * @example
 * const step = await messaging.workflows.steps.create(id, { type: 'DELAY', config });
 * await messaging.workflows.steps.delete(id, step.id, { splice: true });
 */
export class WorkflowSteps implements MethodsFor<typeof routes.steps> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Adds a step. Connect it with a transition. */
  create(
    id: string,
    body: StepCreate | WorkflowStep,
    options?: RequestOptions,
  ): Call<WorkflowStep> {
    return this.#transport.send(
      routes.steps.create,
      { params: { id }, body: toRequestBody<StepCreate>(body, stepBack) },
      options,
    );
  }

  /** Changes the configuration of a step. */
  update(
    id: string,
    stepId: string,
    body: StepUpdate | WorkflowStep,
    options?: RequestOptions,
  ): Call<WorkflowStep> {
    return this.#transport.send(
      routes.steps.update,
      { params: { id, stepId }, body: toRequestBody<StepUpdate>(body, stepBack) },
      options,
    );
  }

  /** Deletes a step; `{ splice: true }` connects the steps around it. */
  delete(
    id: string,
    stepId: string,
    query?: StepDelete,
    options?: RequestOptions,
  ): Call<Acknowledgement> {
    // The document has `splice=true` only: "false" could be read as true, like any other text.
    const sent = query?.splice === false ? { ...query, splice: undefined } : query;
    return this.#transport.send(
      routes.steps.delete,
      { params: { id, stepId }, query: sent },
      options,
    );
  }
}

/**
 * The ways from step to step of a workflow.
 * @example
 * await messaging.workflows.transitions.create(id, {
 *   fromStepId: condition.id,
 *   toStepId: email.id,
 *   branch: 'yes',
 * });
 */
export class WorkflowTransitions implements MethodsFor<typeof routes.transitions> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Adds a transition between two steps; `branch` names the branch of a `CONDITION` step. */
  create(
    id: string,
    body: TransitionCreate | WorkflowTransition,
    options?: RequestOptions,
  ): Call<WorkflowTransition> {
    return this.#transport.send(
      routes.transitions.create,
      { params: { id }, body: toRequestBody<TransitionCreate>(body, transitionBack) },
      options,
    );
  }

  /** Deletes a transition. */
  delete(id: string, transitionId: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(
      routes.transitions.delete,
      { params: { id, transitionId } },
      options,
    );
  }
}

/**
 * The ways of contacts through a workflow.
 * @example
 * await messaging.workflows.executions.start(id, { contactId, context: { coupon: 'SPRING' } });
 */
export class WorkflowExecutions implements MethodsFor<typeof routes.executions> {
  readonly #transport: Transport;
  readonly #checks: StatusChecks;

  constructor(transport: Transport, checks: StatusChecks) {
    this.#transport = transport;
    this.#checks = checks;
  }

  /** Starts a workflow for a contact. */
  start(id: string, body: ExecutionStart, options?: RequestOptions): Call<WorkflowExecution> {
    return this.#transport.send(routes.executions.start, { params: { id }, body }, options);
  }

  /** Lists executions. `await` it for one page, `for await` it for every execution. */
  list(id: string, query?: ExecutionQuery, options?: ListOptions): Paginated<WorkflowExecution> {
    return this.#transport.pages(routes.executions.list, { params: { id }, query }, options);
  }

  /** Gets one execution by its id. */
  get(id: string, executionId: string, options?: RequestOptions): Call<WorkflowExecution> {
    return this.#transport.send(routes.executions.get, { params: { id, executionId } }, options);
  }

  /**
   * Waits until a contact has gone through a workflow: for 10 minutes with a check every 10 seconds
   * unless you say otherwise. A failed or canceled execution rejects with a `JobFailedError`. The
   * service does not document the statuses: the usual words end the wait, `isDone` decides otherwise.
   */
  wait(
    id: string,
    executionId: string,
    options?: RecordWaitOptions<WorkflowExecution>,
  ): Promise<WorkflowExecution> {
    const check = (signal: AbortSignal | undefined) =>
      this.get(id, executionId, { signal, retries: 0 });
    const plan = { ...executionWait, id: executionId, check, checks: this.#checks };
    return waitForRecord(plan, options);
  }

  /** Cancels a running or waiting execution. */
  cancel(id: string, executionId: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.executions.cancel, { params: { id, executionId } }, options);
  }

  /** Cancels every active execution of a workflow. */
  cancelAll(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.executions.cancelAll, { params: { id } }, options);
  }
}

/** What a workflow's methods need beside the transport. */
interface WorkflowParts extends Pick<DeployParts, 'templates' | 'clock'> {
  readonly checks: StatusChecks;
}

const workflowBack = {
  answerOnly: ['id', 'steps', 'transitions', 'createdAt', 'updatedAt'],
  dropUnset: ['name', 'eventName', 'triggerType', 'enabled', 'allowReentry'],
};

const stepBack = {
  answerOnly: ['id', 'createdAt', 'updatedAt'],
  dropUnset: ['type', 'name', 'config'],
};

const transitionBack = {
  answerOnly: ['id', 'createdAt', 'updatedAt'],
  dropNull: 'all',
  dropUnset: ['branch'],
} as const;

const executionWait = {
  kind: 'Execution',
  timeout: 600_000,
  interval: 10_000,
  // Some services tell who left by an EXIT step from who came to the end.
  isDone: (status: string | undefined) => jobStage(status) === 'done' || status === 'EXITED',
};
