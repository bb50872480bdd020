import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Paginated } from '../../contract/paginated.js';
import type { Acknowledgement } from '../../contract/records.js';
import type { Transport } from '../../transport/transport.js';
import { routes } from './routes.js';
import type { ExecutionQuery, ExecutionStart, WorkflowExecution } from './types.js';

/**
 * The ways of contacts through a workflow.
 * @example
 * await messaging.workflows.executions.start(id, { contactId, context: { coupon: 'SPRING' } });
 */
export class WorkflowExecutions implements MethodsFor<typeof routes.executions> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts a workflow for a contact. */
  start(id: string, body: ExecutionStart, options?: RequestOptions): Call<WorkflowExecution> {
    return this.#transport.send(routes.executions.start, { params: { id }, body }, options);
  }

  /** Lists executions. `await` it for one page, `for await` it for every execution. */
  list(id: string, query?: ExecutionQuery, options?: RequestOptions): Paginated<WorkflowExecution> {
    return this.#transport.pages(routes.executions.list, { params: { id }, query }, options);
  }

  /** Gets one execution by its id. */
  get(id: string, executionId: string, options?: RequestOptions): Call<WorkflowExecution> {
    return this.#transport.send(routes.executions.get, { params: { id, executionId } }, options);
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
