import type { StepCreate, TransitionCreate } from '../types.js';
import type { WorkflowDefinition } from './definition.js';
import { edgeName, edgesOf, stepAt, stepsOf, type Edge } from './graph.js';
import type { WorkflowMapping } from './mapping.js';
import type { WorkflowState } from './state.js';

/** One thing that a deployment does. */
export type DeployOperation =
  | { readonly do: 'create-workflow' | 'update-workflow' | 'disable-workflow' | 'enable-workflow' }
  | { readonly do: 'create-step' | 'update-step' | 'delete-step'; readonly step: string }
  | { readonly do: 'create-transition' | 'delete-transition'; readonly transition: string };

/** A workflow as it is live, as far as a plan depends on it. */
export interface LiveFacts {
  readonly isEnabled: boolean;
}

/**
 * What is left to do. Pure: each operation brings the state nearer to the definition, so that a
 * deployment that was interrupted anywhere goes on where it ended.
 */
export function planOf(
  definition: WorkflowDefinition,
  state: WorkflowState,
  live: LiveFacts,
  mapping: WorkflowMapping,
): DeployOperation[] {
  const isNew = state.workflowId === undefined;
  const steps = stepPlan(definition, state, mapping);
  const transitions = transitionPlan(definition, state, steps.recreated);
  const changes = [
    ...steps.create,
    ...steps.update,
    ...transitions.create,
    ...transitions.delete,
    ...steps.delete,
  ];
  const body = JSON.stringify(mapping.workflow(definition));
  const isHeadChanged = !isNew && state.workflow !== body;
  // Contacts must not go through a graph that is half changed.
  const pauses = !isNew && live.isEnabled && changes.length > 0;
  const wanted = definition.enabled ?? (live.isEnabled || state.enableAgain === true);
  const isOn = live.isEnabled && !pauses;
  return [
    ...when(isNew, { do: 'create-workflow' }),
    ...when(pauses, { do: 'disable-workflow' }),
    ...changes,
    ...when(isHeadChanged, { do: 'update-workflow' }),
    ...when(wanted && !isOn, { do: 'enable-workflow' }),
    ...when(!wanted && isOn, { do: 'disable-workflow' }),
  ];
}

/** What a step is created or updated with. */
export function stepBody(
  definition: WorkflowDefinition,
  key: string,
  mapping: WorkflowMapping,
): StepCreate {
  const step = stepAt(definition, key);
  if (step === undefined) {
    throw new TypeError(`The definition has no step "${key}".`);
  }
  return mapping.step(key, step);
}

/** What a transition is created with, once both of its steps exist. */
export function transitionBody(
  edge: Edge,
  state: WorkflowState,
  mapping: WorkflowMapping,
): TransitionCreate {
  const fromStepId = state.steps[edge.from]?.id ?? '';
  const toStepId = state.steps[edge.to]?.id ?? '';
  return mapping.transition({ fromStepId, toStepId, branch: edge.branch });
}

function stepPlan(definition: WorkflowDefinition, state: WorkflowState, mapping: WorkflowMapping) {
  const plan = {
    create: [] as DeployOperation[],
    update: [] as DeployOperation[],
    delete: [] as DeployOperation[],
    /** Steps whose type has changed: the service only changes their configuration. */
    recreated: new Set<string>(),
  };
  for (const [step] of stepsOf(definition)) {
    const deployed = state.steps[step];
    const body = stepBody(definition, step, mapping);
    if (deployed === undefined) {
      plan.create.push({ do: 'create-step', step });
    } else if (typeIn(deployed.body) !== body.type) {
      plan.recreated.add(step);
    } else if (deployed.body !== JSON.stringify(body)) {
      plan.update.push({ do: 'update-step', step });
    }
  }
  const gone = Object.keys(state.steps).filter((key) => !Object.hasOwn(definition.steps, key));
  plan.delete.push(
    ...[...gone, ...plan.recreated].map((step) => ({ do: 'delete-step', step }) as const),
  );
  return plan;
}

function transitionPlan(
  definition: WorkflowDefinition,
  state: WorkflowState,
  recreated: ReadonlySet<string>,
) {
  const wanted = new Map(edgesOf(definition).map((edge) => [edgeName(edge), edge]));
  const touches = (edge: Edge | undefined) =>
    edge !== undefined && (recreated.has(edge.from) || recreated.has(edge.to));
  const create = [...wanted]
    // The transitions of a step that is made anew follow when it is there.
    .filter(([name, edge]) => state.transitions[name] === undefined && !touches(edge))
    .map(([transition]) => ({ do: 'create-transition', transition }) as const);
  const gone = Object.keys(state.transitions)
    .filter((name) => !wanted.has(name) || touches(wanted.get(name)))
    .map((transition) => ({ do: 'delete-transition', transition }) as const);
  return { create, delete: gone };
}

function typeIn(body: string): unknown {
  return (JSON.parse(body) as { type?: unknown }).type; // a body that was written here
}

function when(condition: boolean, operation: DeployOperation): DeployOperation[] {
  return condition ? [operation] : [];
}
