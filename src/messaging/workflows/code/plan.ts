import type { StepCreate, TransitionCreate, WorkflowCreate } from '../types.js';
import { fieldOf, fieldsOf, isSame, overlaid } from './content.js';
import type { WorkflowDefinition } from './definition.js';
import { edgeName, edgesOf, stepAt, stepsOf, type Edge } from './graph.js';
import type { WorkflowMapping } from './mapping.js';
import { partOf, type WorkflowState } from './state.js';

/** One thing that a deployment does. A part that is not in the definition is named by its id. */
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
  const isNew = state.workflow === undefined;
  const steps = stepPlan(definition, state, mapping);
  const transitions = transitionPlan(definition, state, steps.recreated, mapping);
  const changes = [
    ...steps.create,
    ...steps.update,
    ...transitions.create,
    ...transitions.delete,
    ...steps.delete,
  ];
  const isHeadChanged = !isNew && !isWritten(state.workflow, headBody(definition, mapping));
  // Contacts must not go through a graph that is half changed.
  const pauses = !isNew && live.isEnabled && changes.length > 0;
  const wanted = definition.enabled ?? (live.isEnabled || state.enableAgain === true);
  const isOn = live.isEnabled && !pauses;
  const isComplete = steps.recreated.size === 0 && transitions.recreated.size === 0;
  return [
    ...when(isNew, { do: 'create-workflow' }),
    ...when(pauses, { do: 'disable-workflow' }),
    ...changes,
    ...when(isHeadChanged, { do: 'update-workflow' }),
    ...when(wanted && !isOn && isComplete, { do: 'enable-workflow' }),
    ...when(!wanted && isOn, { do: 'disable-workflow' }),
  ];
}

/** What the workflow itself is created and updated with. */
export function headBody(definition: WorkflowDefinition, mapping: WorkflowMapping): WorkflowCreate {
  return overlaid(mapping.workflow(definition), definition.fields);
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
  const body = mapping.step(key, step);
  return { ...overlaid(body, step.fields), type: body.type };
}

/** What a transition is created with; `undefined` until both of its steps exist. */
export function transitionBody(
  definition: WorkflowDefinition,
  { from, to, branch }: Edge,
  state: WorkflowState,
  mapping: WorkflowMapping,
): TransitionCreate | undefined {
  const fromStepId = partOf(state.steps, from)?.id;
  const toStepId = partOf(state.steps, to)?.id;
  if (fromStepId === undefined || toStepId === undefined) {
    return undefined;
  }
  const fields = stepAt(definition, from)?.transitions?.[branch ?? 'next'];
  return overlaid(mapping.transition({ fromStepId, toStepId, branch }), fields);
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
    const deployed = partOf(state.steps, step);
    const body = stepBody(definition, step, mapping);
    if (deployed === undefined) {
      plan.create.push({ do: 'create-step', step });
    } else if (!isSame(fieldOf(fieldsOf(deployed.body), 'type'), body.type)) {
      plan.recreated.add(step);
    } else if (!isWritten(deployed, body)) {
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
  recreatedSteps: ReadonlySet<string>,
  mapping: WorkflowMapping,
) {
  const wanted = new Map(edgesOf(definition).map((edge) => [edgeName(edge), edge]));
  // A transition cannot be changed: it is made anew, as those of a step that is made anew.
  const isRecreated = (name: string, edge: Edge) => {
    const deployed = partOf(state.transitions, name);
    const body = transitionBody(definition, edge, state, mapping);
    const isChanged = deployed !== undefined && body !== undefined && !isWritten(deployed, body);
    return isChanged || recreatedSteps.has(edge.from) || recreatedSteps.has(edge.to);
  };
  const recreated = new Set(
    [...wanted].filter(([name, edge]) => isRecreated(name, edge)).map(([name]) => name),
  );
  const create = [...wanted.keys()]
    .filter((name) => partOf(state.transitions, name) === undefined && !recreated.has(name))
    .map((transition) => ({ do: 'create-transition', transition }) as const);
  const gone = Object.keys(state.transitions)
    .filter((name) => !wanted.has(name) || recreated.has(name))
    .map((transition) => ({ do: 'delete-transition', transition }) as const);
  return { create, delete: gone, recreated };
}

function isWritten(part: { readonly body: string } | undefined, body: object): boolean {
  return part !== undefined && isSame(fieldsOf(part.body), body);
}

function when(condition: boolean, operation: DeployOperation): DeployOperation[] {
  return condition ? [operation] : [];
}
