import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { toRequestBody } from '../shared/request-body.js';
import { routes } from './routes.js';
import type { StepCreate, StepDelete, StepUpdate, WorkflowStep } from './types.js';

const back = {
  answerOnly: ['id', 'createdAt', 'updatedAt'],
  dropUnset: ['type', 'name', 'config'],
};

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
      { params: { id }, body: toRequestBody<StepCreate>(body, back) },
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
      { params: { id, stepId }, body: toRequestBody<StepUpdate>(body, back) },
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
