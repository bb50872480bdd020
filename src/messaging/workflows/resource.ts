import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { StatusChecks } from '../../core/wait.js';
import { flag } from '../../core/options.js';
import { isPostreelError } from '../../core/errors.js';
import type { Transport } from '../../core/send.js';
import { toRequestBody } from '../shared/request-body.js';
import type { WorkflowDefinition } from './code/definition.js';
import type { Deployment, DeployOptions } from './code/deploy.js';
import type { WorkflowMapping } from './code/mapping.js';
import type { PulledWorkflow } from './code/pull.js';
import { WorkflowExecutions } from './executions.js';
import { routes } from './routes.js';
import { WorkflowSteps } from './steps.js';
import { WorkflowTransitions } from './transitions.js';
import type {
  Workflow,
  WorkflowCreate,
  WorkflowDeleteOptions,
  WorkflowFields,
  WorkflowGraph,
  WorkflowQuery,
  WorkflowUpdate,
} from './types.js';

const back = {
  answerOnly: ['id', 'steps', 'transitions', 'createdAt', 'updatedAt'],
  dropUnset: ['name', 'eventName', 'triggerType', 'enabled', 'allowReentry'],
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
  readonly #mapping: Partial<WorkflowMapping> | undefined;

  constructor(
    transport: Transport,
    { checks, mapping }: { checks: StatusChecks; mapping: Partial<WorkflowMapping> | undefined },
  ) {
    this.#transport = transport;
    this.#mapping = mapping;
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
      { body: toRequestBody<WorkflowCreate>(body, back) },
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
      { params: { id }, body: toRequestBody<WorkflowUpdate>(body, back) },
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
   * Makes a live workflow equal to its definition: creates it at first, and later changes only
   * what differs. Running contacts are not sent through a half-changed graph: an enabled workflow is
   * disabled meanwhile, so events in that moment do not start it. A failure takes back what this
   * deployment created; after a crash the next one goes on where it ended, without doing anything
   * twice. `dryRun` only returns the plan.
   */
  async deploy(
    definition: WorkflowDefinition,
    settings: DeployOptions,
    options?: RequestOptions,
  ): Promise<Deployment> {
    // Loaded here: workflows as code are for scripts.
    const { deploy } = await import('./code/deploy.js');
    return deploy(
      definition,
      this,
      { ...settings, mapping: settings.mapping ?? this.#mapping },
      options,
    );
  }

  /**
   * Turns a live workflow into a definition, with the state for its next deployment. Write the state
   * to your store under the definition's `key`, which is the workflow's id until you change both.
   */
  async pull(
    id: string,
    { mapping = this.#mapping }: { mapping?: Partial<WorkflowMapping> | undefined } = {},
    options?: RequestOptions,
  ): Promise<PulledWorkflow> {
    // Loaded here: workflows as code are for scripts.
    const { definitionOf } = await import('./code/pull.js');
    return definitionOf(await this.get(id, options), mapping);
  }
}
