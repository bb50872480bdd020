import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { toRequestBody } from '../shared/request-body.js';
import { routes } from './routes.js';
import type { TransitionCreate, WorkflowTransition } from './types.js';

const back = {
  answerOnly: ['id', 'createdAt', 'updatedAt'],
  dropNull: 'all',
  dropUnset: ['branch'],
} as const;

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
      { params: { id }, body: toRequestBody<TransitionCreate>(body, back) },
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
