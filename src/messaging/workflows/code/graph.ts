import type { TransitionBranch } from '../types.js';
import type { StepDefinition, WorkflowDefinition } from './definition.js';

/** A way from one step to another, by their keys. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly branch: TransitionBranch | undefined;
}

/** The steps of a definition with their keys, the first one first. */
export function stepsOf({ start, steps }: WorkflowDefinition): [string, StepDefinition][] {
  const entries = Object.entries(steps);
  const isStart = ([key]: [string, StepDefinition]) => key === start;
  return [...entries.filter(isStart), ...entries.filter((entry) => !isStart(entry))];
}

/** The key of the step that the workflow starts with. */
export function startOf(definition: WorkflowDefinition): string | undefined {
  return definition.start ?? Object.keys(definition.steps)[0];
}

/** Every way from step to step. */
export function edgesOf(definition: WorkflowDefinition): Edge[] {
  return stepsOf(definition).flatMap(([from, step]) => edgesFrom(from, step));
}

/** The ways out of one step. */
export function edgesFrom(from: string, step: StepDefinition): Edge[] {
  switch (step.type) {
    case 'EXIT':
      return [];
    case 'CONDITION':
      return [
        { from, to: step.yes, branch: 'yes' },
        { from, to: step.no, branch: 'no' },
      ];
    default:
      return [{ from, to: step.next, branch: undefined }];
  }
}

/** One way by name, the same at every deployment. */
export function edgeName({ from, to, branch }: Edge): string {
  return JSON.stringify(branch === undefined ? [from, to] : [from, to, branch]);
}

/** One step by its key. */
export function stepAt(definition: WorkflowDefinition, key: string): StepDefinition | undefined {
  const steps: Readonly<Record<string, StepDefinition>> = definition.steps;
  return Object.hasOwn(steps, key) ? steps[key] : undefined;
}
