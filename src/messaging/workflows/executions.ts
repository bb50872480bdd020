import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import {
  jobStage,
  waitForRecord,
  type RecordWaitOptions,
  type StatusChecks,
} from '../../core/wait.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type { ExecutionQuery, ExecutionStart, WorkflowExecution } from './types.js';

const executionWait = {
  kind: 'Execution',
  timeout: 600_000,
  interval: 10_000,
  isDone: (status: string | undefined) => jobStage(status) === 'done',
};

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
