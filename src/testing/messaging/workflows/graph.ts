import { Refusal } from '../../core/http/refusal.js';
import type { MessagingWorld, Workflow, WorkflowStep, WorkflowTransition } from '../state.js';

/** messaging, Workflow: the step types of the document. */
export const stepTypes: readonly string[] = [
  'SEND_EMAIL',
  'DELAY',
  'WAIT_FOR_EVENT',
  'CONDITION',
  'WEBHOOK',
  'UPDATE_CONTACT',
  'EXIT',
];

/** Where an execution starts: the oldest step that nothing leads to (entry: not shown). */
export function firstStep(workflow: Workflow): WorkflowStep | undefined {
  const targets = new Set(all(workflow.transitions).map((transition) => transition.toStepId));
  const steps = all(workflow.steps);
  return steps.find((step) => !targets.has(step.id)) ?? steps[0];
}

/** The step after this one; out of a CONDITION the transition of the branch decides. */
export function stepAfter(
  workflow: Workflow,
  stepId: string,
  branch?: string,
): WorkflowStep | undefined {
  const transition = all(workflow.transitions).find(
    (one) => one.fromStepId === stepId && one.branch === branch,
  );
  return transition && workflow.steps.get(transition.toStepId);
}

/** Adds a transition between two steps of the workflow. */
export function connect(
  world: MessagingWorld,
  workflow: Workflow,
  change: { fromStepId: string; toStepId: string; [field: string]: unknown },
): WorkflowTransition {
  const transition = { ...change, id: world.id('trn') };
  workflow.transitions.set(transition.id, transition);
  return transition;
}

/** messaging, Workflow: a transition out of a CONDITION carries `branch` yes or no, no other does. */
export function checkBranch(step: WorkflowStep, branch: unknown): string | undefined {
  if (step.type === 'CONDITION') {
    if (branch === 'yes' || branch === 'no') {
      return branch;
    }
    throw branchRefusal('A transition out of a CONDITION step needs the branch "yes" or "no".');
  }
  if (branch === undefined || branch === null) {
    return undefined;
  }
  throw branchRefusal('Only a transition out of a CONDITION step has a branch.');
}

/** Removes a step with its transitions; spliced, the steps before it lead to the one after it. */
export function removeStep(
  world: MessagingWorld,
  workflow: Workflow,
  { stepId, splice }: { stepId: string; splice: boolean },
): void {
  const transitions = all(workflow.transitions);
  const incoming = transitions.filter((one) => one.toStepId === stepId);
  const outgoing = transitions.filter((one) => one.fromStepId === stepId);
  for (const { id } of [...incoming, ...outgoing]) {
    workflow.transitions.delete(id);
  }
  workflow.steps.delete(stepId);
  // A removed CONDITION can leave two ways on; its first one is taken (not shown).
  const next = outgoing.find((one) => one.toStepId !== stepId);
  if (!splice || next === undefined) {
    return;
  }
  for (const before of incoming) {
    if (before.fromStepId === stepId) {
      continue;
    }
    connect(world, workflow, { ...before, toStepId: next.toStepId });
  }
}

function all<Item>(items: ReadonlyMap<string, Item>): Item[] {
  return [...items.values()];
}

function branchRefusal(message: string): Refusal {
  const errors = [{ field: 'branch', message, code: 'invalid_value' }];
  return new Refusal(422, 'VALIDATION_ERROR', message, { errors });
}
