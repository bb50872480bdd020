import type { RequestOptions } from '../../../contract/call.js';
import type { Transport } from '../../../transport/transport.js';
import { routes } from '../routes.js';
import type {
  StepCreate,
  StepUpdate,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowGraph,
  WorkflowUpdate,
} from '../types.js';

/** The calls that a deployment makes. Ids are strings here, whatever the service answers. */
export interface WorkflowCalls {
  list(options: RequestOptions): AsyncIterable<Workflow>;
  get(id: string, options: RequestOptions): PromiseLike<WorkflowGraph>;
  create(body: WorkflowCreate, options: RequestOptions): PromiseLike<{ id: string }>;
  update(id: string, body: WorkflowUpdate, options: RequestOptions): PromiseLike<unknown>;
  delete(id: string, options: RequestOptions): PromiseLike<unknown>;
  createStep(id: string, body: StepCreate, options: RequestOptions): PromiseLike<{ id: string }>;
  updateStep(
    id: string,
    step: string,
    body: StepUpdate,
    options: RequestOptions,
  ): PromiseLike<unknown>;
  deleteStep(id: string, step: string, options: RequestOptions): PromiseLike<unknown>;
  createTransition(
    id: string,
    body: TransitionCreate,
    options: RequestOptions,
  ): PromiseLike<{ id: string }>;
  deleteTransition(id: string, transition: string, options: RequestOptions): PromiseLike<unknown>;
}

/** The calls over a client's transport. */
export function callsOf(transport: Transport): WorkflowCalls {
  return {
    list: (options) => withTextIds(transport.pages(routes.list, {}, options)),
    get: async (id, options) =>
      graphWithTextIds(await transport.send(routes.get, { params: { id } }, options)),
    create: async (body, options) =>
      withTextId(await transport.send(routes.create, { body }, options)),
    update: (id, body, options) => transport.send(routes.update, { params: { id }, body }, options),
    delete: (id, options) => transport.send(routes.delete, { params: { id } }, options),
    createStep: async (id, body, options) =>
      withTextId(await transport.send(routes.steps.create, { params: { id }, body }, options)),
    updateStep: (id, stepId, body, options) =>
      transport.send(routes.steps.update, { params: { id, stepId }, body }, options),
    deleteStep: (id, stepId, options) =>
      transport.send(routes.steps.delete, { params: { id, stepId } }, options),
    createTransition: async (id, body, options) =>
      withTextId(
        await transport.send(routes.transitions.create, { params: { id }, body }, options),
      ),
    deleteTransition: (id, transitionId, options) =>
      transport.send(routes.transitions.delete, { params: { id, transitionId } }, options),
  };
}

/** A workflow whose ids are strings, its steps' and transitions' included. */
export function graphWithTextIds(graph: WorkflowGraph): WorkflowGraph {
  return {
    ...withTextId(graph),
    steps: graph.steps.map(withTextId),
    transitions: graph.transitions.map(withTextId),
  };
}

async function* withTextIds(workflows: AsyncIterable<Workflow>): AsyncGenerator<Workflow> {
  for await (const workflow of workflows) {
    yield withTextId(workflow);
  }
}

function withTextId<Item extends { id: string }>(record: Item): Item {
  const id: unknown = record.id;
  return { ...record, id: typeof id === 'number' ? String(id) : record.id };
}
