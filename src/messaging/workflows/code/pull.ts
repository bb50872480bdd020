import type { WorkflowGraph } from '../types.js';
import { graphWithTextIds, type LiveGraph } from './calls.js';
import { PostreelError } from '../../../errors/index.js';
import type { StepDefinition, WorkflowDefinition } from './definition.js';
import { stepAt } from './graph.js';
import { defaultWorkflowMapping, type TransitionEnds, type WorkflowMapping } from './mapping.js';
import type { WorkflowState } from './state.js';

/** A live workflow as code, with the state that its next deployment starts from. */
export interface PulledWorkflow {
  readonly definition: WorkflowDefinition;
  readonly state: WorkflowState;
}

/** Turns a live workflow into a definition; its steps are named by their names, else their ids. */
export function definitionOf(
  live: WorkflowGraph,
  own: Partial<WorkflowMapping> = {},
): PulledWorkflow {
  const graph = graphWithTextIds(live);
  const mapping = { ...defaultWorkflowMapping, ...own };
  const keys = keysOf(graph);
  const transitions = graph.transitions.map((transition) => ({
    id: transition.id,
    ends: readable(mapping.readTransition(transition), `transition ${transition.id}`),
  }));
  const steps: Record<string, StepDefinition> = {};
  for (const step of graph.steps) {
    const content = readable(mapping.readStep(step), `step ${step.id}`);
    const ways = waysOut(
      step.id,
      transitions.map(({ ends }) => ends),
      keys,
    );
    // Which ways a step has depends on its type; what is missing is reported when it is deployed.
    steps[keys.get(step.id) ?? ''] = { ...content, ...ways } as StepDefinition;
  }
  const { name, trigger, allowReentry, enabled } = mapping.readWorkflow(graph);
  const start = startOf(graph, transitions, keys);
  const key = graph.id;
  const definition = { key, name, trigger, start, allowReentry, enabled, steps };
  return { definition, state: stateOf(graph, { definition, keys, mapping, transitions }) };
}

interface ReadTransition {
  readonly id: string;
  readonly ends: TransitionEnds;
}

function keysOf({ steps }: LiveGraph): Map<string, string> {
  const names = steps.map(({ id, name }) => (typeof name === 'string' ? name : id));
  const isUnique = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
  return new Map(
    steps.map(({ id }, index) => {
      const name = names[index] ?? '';
      return [id, isUnique(name) ? name : `${name} ${id}`];
    }),
  );
}

function waysOut(
  id: string,
  ends: readonly TransitionEnds[],
  keys: ReadonlyMap<string, string>,
): Record<string, string> {
  const ways: Record<string, string> = {};
  for (const { fromStepId, toStepId, branch = 'next' } of ends) {
    const target = keys.get(toStepId);
    if (fromStepId === id && target !== undefined) {
      ways[branch] = target;
    }
  }
  return ways;
}

function startOf(
  { steps }: LiveGraph,
  transitions: readonly ReadTransition[],
  keys: ReadonlyMap<string, string>,
): string | undefined {
  const targets = new Set(transitions.map(({ ends }) => ends.toStepId));
  const start = steps.find(({ id }) => !targets.has(id)) ?? steps[0];
  return start && keys.get(start.id);
}

function stateOf(
  graph: LiveGraph,
  {
    definition,
    keys,
    mapping,
    transitions,
  }: {
    readonly definition: WorkflowDefinition;
    readonly keys: ReadonlyMap<string, string>;
    readonly mapping: WorkflowMapping;
    readonly transitions: readonly ReadTransition[];
  },
): WorkflowState {
  const stepEntries = [...keys].flatMap(([id, key]) => {
    const step = stepAt(definition, key);
    return step ? [[key, { id, body: JSON.stringify(mapping.step(key, step)) }] as const] : [];
  });
  const transitionEntries = transitions.map(({ id, ends }) => {
    const ways = [keys.get(ends.fromStepId), keys.get(ends.toStepId)];
    const name = JSON.stringify(ends.branch === undefined ? ways : [...ways, ends.branch]);
    return [name, { id, body: JSON.stringify(mapping.transition(ends)) }] as const;
  });
  return {
    version: 1,
    workflowId: graph.id,
    workflow: JSON.stringify(mapping.workflow(definition)),
    steps: Object.fromEntries(stepEntries),
    transitions: Object.fromEntries(transitionEntries),
  };
}

function readable<Value>(value: Value | undefined, what: string): Value {
  if (value !== undefined) {
    return value;
  }
  throw new PostreelError(
    `The ${what} cannot be read: the service's document does not show its fields. Give a \`mapping\` that reads it.`,
    { code: 'WORKFLOW_NOT_UNDERSTOOD' },
  );
}
