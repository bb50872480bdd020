import type { Acknowledgement } from '../core/values.js';
import { anyList, ofType, route, type MethodsFor } from '../core/call/route.js';
import type { RequestOptions, Call, ListOptions, Paginated } from '../core/types.js';
import { flag } from '../core/options.js';
import { isPostreelError } from '../core/errors.js';
import type { Transport } from '../core/call/send.js';
import { waitForRecord, type RecordWaitOptions, type StatusChecks } from '../core/wait.js';
import { stageOf } from '../core/job-status.js';
import { toRequestBody } from './shared/request-body.js';
import type { TextCheck } from './shared/template-text.js';
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
} from './workflows.types.js';
import type { WorkflowDefinition } from './workflows/definition.js';
import type { Deployment, DeployOptions, DeployParts } from './workflows/deploy.js';

export const routes = {
  list: route('GET /workflows', {
    query: ofType<WorkflowQuery>(),
    returns: anyList<Workflow>('workflows'),
  }),
  fields: route('GET /workflows/fields', { returns: ofType<WorkflowFields>() }),
  create: route('POST /workflows', {
    body: ofType<WorkflowCreate | Workflow>(),
    returns: ofType<Workflow>(),
  }),
  get: route('GET /workflows/{id}', { returns: ofType<WorkflowGraph>() }),
  update: route('PATCH /workflows/{id}', {
    body: ofType<WorkflowUpdate | Workflow>(),
    returns: ofType<Workflow>(),
  }),
  delete: route('DELETE /workflows/{id}', {
    returns: ofType<Acknowledgement>(),
  }),
  steps: {
    create: route('POST /workflows/{id}/steps', {
      body: ofType<StepCreate | WorkflowStep>(),
      returns: ofType<WorkflowStep>(),
    }),
    update: route('PATCH /workflows/{id}/steps/{stepId}', {
      body: ofType<StepUpdate | WorkflowStep>(),
      returns: ofType<WorkflowStep>(),
    }),
    delete: route('DELETE /workflows/{id}/steps/{stepId}', {
      query: ofType<StepDelete>(),
      returns: ofType<Acknowledgement>(),
    }),
  },
  transitions: {
    create: route('POST /workflows/{id}/transitions', {
      body: ofType<TransitionCreate | WorkflowTransition>(),
      returns: ofType<WorkflowTransition>(),
    }),
    delete: route('DELETE /workflows/{id}/transitions/{transitionId}', {
      returns: ofType<Acknowledgement>(),
    }),
  },
  executions: {
    start: route('POST /workflows/{id}/executions', {
      body: ofType<ExecutionStart>(),
      returns: ofType<WorkflowExecution>(),
    }),
    list: route('GET /workflows/{id}/executions', {
      query: ofType<ExecutionQuery>(),
      returns: anyList<WorkflowExecution>('executions', 'pageSize'),
    }),
    get: route('GET /workflows/{id}/executions/{executionId}', {
      returns: ofType<WorkflowExecution>(),
    }),
    cancel: route('DELETE /workflows/{id}/executions/{executionId}', {
      returns: ofType<Acknowledgement>(),
    }),
    cancelAll: route('POST /workflows/{id}/executions/cancel-all', {
      returns: ofType<Acknowledgement>(),
      repeatable: true, // a second call also cancels executions that were started in between
    }),
  },
};

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
    const { checks, checkTexts } = parts;
    this.#transport = transport;
    this.#parts = parts;
    this.steps = new WorkflowSteps(transport, checkTexts);
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
   * `cancelExecutions`, the outcome of a failed call is `'unknown'`: the executions may have been cancelled.
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
   * Deploys a workflow that is written as code, as a new version next to the running one. The new version is
   * disabled; it is read back and compared with the definition. With `enable`, it then replaces the running version:
   * between the two calls that switch, neither is on, and events of that moment are lost. A definition that is
   * already deployed is not created again. If a deployment fails, it undoes its changes, and the error says which
   * version is on. After a crash, deploy again.
   * @throws an `InvalidRequestError` for a template that does not exist, and with the code `WORKFLOW_EXISTS` if a workflow with this
   *   name and event exists that `deploy()` has not created; a `PostreelError` with the code `MARK_DROPPED` or
   *   `NOT_AS_DEPLOYED` if the service does not store the workflow as sent, `DEPLOY_FAILED` if the deployment was
   *   undone, `DEPLOY_INCOMPLETE` if a part of it remains
   */
  async deploy(
    definition: WorkflowDefinition,
    settings?: DeployOptions,
    options?: RequestOptions,
  ): Promise<Deployment> {
    // Loaded on demand: mostly scripts deploy workflows.
    const { deploy } = await import('./workflows/deploy.js');
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
  readonly #checkTexts: TextCheck;

  constructor(transport: Transport, checkTexts: TextCheck) {
    this.#transport = transport;
    this.#checkTexts = checkTexts;
  }

  /** Adds a step. Connect it with a transition. */
  create(
    id: string,
    body: StepCreate | WorkflowStep,
    options?: RequestOptions,
  ): Call<WorkflowStep> {
    const sent = toRequestBody<StepCreate>(body, stepBack);
    this.#checkTexts(sent);
    return this.#transport.send(routes.steps.create, { params: { id }, body: sent }, options);
  }

  /** Changes the configuration of a step. */
  update(
    id: string,
    stepId: string,
    body: StepUpdate | WorkflowStep,
    options?: RequestOptions,
  ): Call<WorkflowStep> {
    const sent = toRequestBody<StepUpdate>(body, stepBack);
    this.#checkTexts(sent);
    const input = { params: { id, stepId }, body: sent };
    return this.#transport.send(routes.steps.update, input, options);
  }

  /** Deletes a step; `{ splice: true }` connects the steps around it. */
  delete(
    id: string,
    stepId: string,
    query?: StepDelete,
    options?: RequestOptions,
  ): Call<Acknowledgement> {
    // The document shows only `splice=true`: a service could read the text "false" as true, so it is not sent.
    const sent = query?.splice === false ? { ...query, splice: undefined } : query;
    return this.#transport.send(
      routes.steps.delete,
      { params: { id, stepId }, query: sent },
      options,
    );
  }
}

/**
 * The transitions between the steps of a workflow.
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
 * The executions of a workflow: each is one contact's run through it.
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
   * Waits until a contact has gone through a workflow. By default it checks every 10 seconds for 10 minutes.
   * A failed or canceled execution rejects with a `JobFailedError`. The service does not document the status
   * values: the usual words end the wait. For other words, pass `isDone`.
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

/** The parts of the client that `Workflows` uses, next to the transport. */
interface WorkflowParts extends Pick<DeployParts, 'templates' | 'checkTexts'> {
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
  // Some services have a separate status for executions that ended in an EXIT step.
  isDone: (status: string | undefined) => stageOf(status) === 'done' || status === 'EXITED',
};
