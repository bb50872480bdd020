import type { Call, RequestOptions } from '../../../core/types.js';
import { isRecord, type Acknowledgement } from '../../../core/values.js';
import { isPostreelError, PostreelError } from '../../../core/errors.js';
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
import type { WorkflowMapping } from './mapping.js';

/** A client's own workflows, as far as a deployment calls them. */
export interface LiveWorkflows {
  list(query: object, options: RequestOptions): AsyncIterable<Workflow>;
  get(id: string, options: RequestOptions): Call<WorkflowGraph>;
  create(body: WorkflowCreate, options: RequestOptions): Call<Workflow>;
  update(id: string, body: WorkflowUpdate, options: RequestOptions): Call<Workflow>;
  delete(id: string, options: RequestOptions): Call<Acknowledgement>;
  readonly steps: {
    create(id: string, body: StepCreate, options: RequestOptions): Call<WorkflowStep>;
    update(id: string, step: string, body: StepUpdate, options: RequestOptions): Call<WorkflowStep>;
    delete(id: string, step: string, query: object, options: RequestOptions): Call<Acknowledgement>;
  };
  readonly transitions: {
    create(id: string, body: TransitionCreate, options: RequestOptions): Call<WorkflowTransition>;
    delete(id: string, transition: string, options: RequestOptions): Call<Acknowledgement>;
  };
}

/** A live workflow with its whole graph. */
export type LiveGraph = Workflow & {
  readonly steps: readonly WorkflowStep[];
  readonly transitions: readonly WorkflowTransition[];
};

/** The whole graph of a workflow, its ids as strings. A part that is absent is not an empty one. */
export function graphOf(workflow: WorkflowGraph, mapping: WorkflowMapping): LiveGraph {
  const graph = mapping.readGraph(workflow);
  if (graph === undefined) {
    throw notUnderstood(`steps and transitions of workflow ${workflow.id}`);
  }
  return {
    ...withTextId(workflow),
    steps: graph.steps.map(withTextId),
    transitions: graph.transitions.map(withTextId),
  };
}

/** A live workflow; `undefined` when there is none of that id. */
export async function readGraph(
  { workflows, mapping }: { readonly workflows: LiveWorkflows; readonly mapping: WorkflowMapping },
  id: string,
  options: RequestOptions,
): Promise<LiveGraph | undefined> {
  try {
    return graphOf(await workflows.get(id, options), mapping);
  } catch (failure) {
    if (isPostreelError(failure) && failure.status === 404) {
      return undefined;
    }
    throw failure;
  }
}

/** The error for what an answer does not show, or shows in a way that the mapping does not read. */
export function notUnderstood(what: string, cure = ''): PostreelError {
  return new PostreelError(
    `The ${what} cannot be read: the service's document does not show these fields. Give a \`mapping\` that reads them${cure}.`,
    { code: 'WORKFLOW_NOT_UNDERSTOOD', outcome: 'not-sent' },
  );
}

/** May a failed call have taken effect all the same? */
export function mayHaveHappened(failure: unknown, call: Pick<Call<unknown>, 'outcome'>): boolean {
  const outcome = call.outcome ?? (isPostreelError(failure) ? failure.outcome : 'unknown');
  return outcome !== 'not-sent' && outcome !== 'rejected';
}

/** A record whose id is a string; `undefined` for an answer that has none. */
export function withId<Item extends { id: string }>(record: Item | undefined): Item | undefined {
  return isRecord(record) && ['string', 'number'].includes(typeof record.id)
    ? withTextId(record)
    : undefined;
}

function withTextId<Item extends { id: string }>(record: Item): Item {
  const id: unknown = record.id;
  return { ...record, id: typeof id === 'number' ? String(id) : record.id };
}
