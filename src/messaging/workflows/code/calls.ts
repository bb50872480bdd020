import type { RequestOptions } from '../../../contract/call.js';
import type {
  StepCreate,
  StepUpdate,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowGraph,
  WorkflowStep,
  WorkflowTransition,
  WorkflowUpdate,
} from '../types.js';

/** The calls that a deployment makes. Ids are strings here, whatever the service answers. */
export interface WorkflowCalls {
  list(options: RequestOptions): AsyncIterable<Workflow>;
  get(id: string, options: RequestOptions): PromiseLike<LiveGraph>;
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

/** A client's own workflows, as far as a deployment calls them. */
export interface LiveWorkflows {
  list(query: object, options: RequestOptions): AsyncIterable<Workflow>;
  get(id: string, options: RequestOptions): PromiseLike<WorkflowGraph>;
  create(body: WorkflowCreate, options: RequestOptions): PromiseLike<Workflow>;
  update(id: string, body: WorkflowUpdate, options: RequestOptions): PromiseLike<unknown>;
  delete(id: string, options: RequestOptions): PromiseLike<unknown>;
  readonly steps: {
    create(id: string, body: StepCreate, options: RequestOptions): PromiseLike<WorkflowStep>;
    update(
      id: string,
      step: string,
      body: StepUpdate,
      options: RequestOptions,
    ): PromiseLike<unknown>;
    delete(id: string, step: string, query: object, options: RequestOptions): PromiseLike<unknown>;
  };
  readonly transitions: {
    create(
      id: string,
      body: TransitionCreate,
      options: RequestOptions,
    ): PromiseLike<WorkflowTransition>;
    delete(id: string, transition: string, options: RequestOptions): PromiseLike<unknown>;
  };
}

/** The calls of a deployment over a client's own workflows. */
export function callsOf(workflows: LiveWorkflows): WorkflowCalls {
  const { steps, transitions } = workflows;
  return {
    list: (options) => withTextIds(workflows.list({}, options)),
    get: async (id, options) => graphWithTextIds(await workflows.get(id, options)),
    create: async (body, options) => withTextId(await workflows.create(body, options)),
    update: (id, body, options) => workflows.update(id, body, options),
    delete: (id, options) => workflows.delete(id, options),
    createStep: async (id, body, options) => withTextId(await steps.create(id, body, options)),
    updateStep: (id, step, body, options) => steps.update(id, step, body, options),
    deleteStep: (id, step, options) => steps.delete(id, step, {}, options),
    createTransition: async (id, body, options) =>
      withTextId(await transitions.create(id, body, options)),
    deleteTransition: (id, transition, options) => transitions.delete(id, transition, options),
  };
}

/** A live workflow with its whole graph. */
export type LiveGraph = Workflow & {
  steps: WorkflowStep[];
  transitions: WorkflowTransition[];
};

/** A workflow whose ids are strings, its steps' and transitions' included. */
export function graphWithTextIds(graph: WorkflowGraph): LiveGraph {
  const { steps = [], transitions = [] } = graph;
  return {
    ...withTextId(graph),
    steps: steps.map(withTextId),
    transitions: transitions.map(withTextId),
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
