import { messageOf } from '../../core/errors.js';
import { invalidField } from './resource.js';
import type {
  Contact,
  Scope,
  TrackedEvent,
  Workflow,
  WorkflowExecution,
  MessagingWorld,
  WorkflowStep,
  WorkflowTransition,
  Project,
} from './state.js';
import { runStep, type Run } from './workflow-steps.js';

/** messaging, Events 1: wakes executions that wait for the event, then starts workflows by it. */
export function onEvent(scope: Scope, contact: Contact, event: TrackedEvent): void {
  const fields = { ...event.data, name: event.name };
  for (const wake of takeWaitsFor(scope.project, contact.id, event.name)) {
    wake(fields);
  }
  for (const workflow of scope.project.workflows.values()) {
    if (!isStartedBy(workflow, event.name)) {
      continue;
    }
    if (!mayEnter(workflow, contact)) {
      continue;
    }
    startExecution(scope, { workflow, contact, context: { event: fields } });
  }
}

/** Starts an execution and runs its steps up to the first pause or the end. */
export function startExecution(
  scope: Scope,
  start: { workflow: Workflow; contact: Contact; context: Record<string, unknown> },
): WorkflowExecution {
  const { workflow, contact, context } = start;
  const execution: WorkflowExecution = {
    id: scope.world.id('exe'),
    workflowId: workflow.id,
    contactId: contact.id,
    status: 'RUNNING',
    context,
    startedAt: scope.world.clock.date().toISOString(),
  };
  workflow.executions.set(execution.id, execution);
  walk({ scope, workflow, execution, contact }, firstStep(workflow)?.id);
  return execution;
}

/** Without `allowReentry` a contact goes through a workflow once (the exact rule is not shown). */
export function mayEnter(workflow: Workflow, contact: Contact): boolean {
  if (workflow.allowReentry) {
    return true;
  }
  for (const { contactId } of workflow.executions.values()) {
    if (contactId === contact.id) {
      return false;
    }
  }
  return true;
}

/** Execution statuses are not shown; these two are the active ones. */
export function isActive({ status }: WorkflowExecution): boolean {
  return status === 'RUNNING' || status === 'WAITING';
}

/** Cancels an active execution at its current step. */
export function cancelExecution(scope: Scope, execution: WorkflowExecution): void {
  end(scope, execution, 'CANCELLED');
}

/** More steps than this without a pause count as an endless loop. */
const maxStepsInWalk = 1000;

function isStartedBy({ enabled, triggerType, triggerConfig }: Workflow, name: string): boolean {
  return enabled && triggerType === 'EVENT' && triggerConfig.eventName === name;
}

function walk(run: Run, stepId: string | undefined): void {
  let next = stepId;
  for (let steps = 0; next !== undefined; steps += 1) {
    try {
      if (steps === maxStepsInWalk) {
        throw new Error('The steps form a loop without a pause.');
      }
      next = takeStep(run, next);
    } catch (error) {
      next = undefined;
      fail(run, error);
    }
  }
}

/** Runs one step; returns the id of the next step, or `undefined` if the execution stops here. */
function takeStep(run: Run, stepId: string): string | undefined {
  const { scope, workflow, execution, contact } = run;
  const step = workflow.steps.get(stepId);
  if (step === undefined || !scope.project.contacts.has(contact.id)) {
    end(scope, execution, 'CANCELLED');
    return undefined;
  }
  execution.currentStepId = stepId;
  const outcome = runStep(run, step);
  switch (outcome.go) {
    case 'on':
      return following(run, stepId, outcome.branch);
    case 'out':
      end(scope, execution, 'COMPLETED');
      return undefined;
    case 'call':
      scope.world.clock.after(0, () => finishCall(run, stepId, outcome.call));
      return undefined;
    case 'wait':
      pause(run, stepId, outcome);
      return undefined;
  }
}

function pause(run: Run, stepId: string, wait: { forMs?: number; forEvent?: string }): void {
  run.execution.status = 'WAITING';
  waitFor(run, wait, (event) => {
    // After a timeout there is no event, so conditions on its fields do not hold.
    if (wait.forEvent !== undefined) {
      run.execution.context.event = event;
    }
    run.execution.status = 'RUNNING';
    walk(run, following(run, stepId));
  });
}

async function finishCall(run: Run, stepId: string, call: () => Promise<void>): Promise<void> {
  try {
    await call();
    if (isActive(run.execution)) {
      walk(run, following(run, stepId));
    }
  } catch (error) {
    if (isActive(run.execution)) {
      fail(run, error);
    }
  }
}

/** The id of the next step; an execution without one is complete. */
function following({ scope, workflow, execution }: Run, stepId: string, branch?: 'yes' | 'no') {
  const next = stepAfter(workflow, stepId, branch);
  if (next === undefined) {
    end(scope, execution, 'COMPLETED');
  }
  return next?.id;
}

function fail({ scope, execution }: Run, error: unknown): void {
  execution.error = messageOf(error);
  end(scope, execution, 'FAILED');
}

function end(scope: Scope, execution: WorkflowExecution, status: string): void {
  execution.status = status;
  execution.endedAt = scope.world.clock.date().toISOString();
  forgetWait(execution);
}

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

/**
 * The first step of an execution: the oldest step without an incoming transition (the entry is not shown by
 * the document).
 */
function firstStep(workflow: Workflow): WorkflowStep | undefined {
  const targets = new Set(all(workflow.transitions).map((transition) => transition.toStepId));
  const steps = all(workflow.steps);
  return steps.find((step) => !targets.has(step.id)) ?? steps[0];
}

/** The step after this one; out of a CONDITION the transition of the branch decides. */
function stepAfter(workflow: Workflow, stepId: string, branch?: string): WorkflowStep | undefined {
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
    throw invalidField(
      'branch',
      'A transition out of a CONDITION step needs the branch "yes" or "no".',
    );
  }
  if (branch === undefined || branch === null) {
    return undefined;
  }
  throw invalidField('branch', 'Only a transition out of a CONDITION step has a branch.');
}

/** Removes a step with its transitions. With `splice`, the steps before it are connected to the step after it. */
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
  // A deleted CONDITION can have two following steps; the first one is used (not shown).
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

type EventFields = Readonly<Record<string, unknown>>;

/** Continues an execution, with the event that it waited for, or without one after a timeout. */
type Wake = (event?: EventFields) => void;

/** Pauses an execution until the time is over or the event arrives, whichever is first. */
export function waitFor(run: Run, wait: { forMs?: number; forEvent?: string }, wake: Wake): void {
  const { scope, execution } = run;
  const { forMs, forEvent } = wait;
  const wakeOnce: Wake = (event) => {
    forgetWait(execution);
    wake(event);
  };
  const stopTimer =
    forMs === undefined ? undefined : scope.world.clock.after(forMs, () => wakeOnce());
  const entry = { eventName: forEvent, wake: wakeOnce };
  const waiting = waitingFor(scope.project, execution.contactId);
  if (forEvent !== undefined) {
    waiting.add(entry);
  }
  stops.set(execution, () => {
    stopTimer?.();
    waiting.delete(entry);
  });
}

/** Ends the wait of an execution, if it has one. */
function forgetWait(execution: WorkflowExecution): void {
  stops.get(execution)?.();
  stops.delete(execution);
}

/** The callbacks of the executions that wait for this event of this contact. */
function takeWaitsFor(project: Project, contactId: string, eventName: string): Wake[] {
  const waiting = [...waitingFor(project, contactId)];
  return waiting.filter((entry) => entry.eventName === eventName).map((entry) => entry.wake);
}

/** Kept outside the state, so that the state that tests read contains no functions. */
const stops = new WeakMap<WorkflowExecution, () => void>();
const waits = new WeakMap<Project, Map<string, Set<WaitingExecution>>>();

interface WaitingExecution {
  readonly eventName: string | undefined;
  readonly wake: Wake;
}

function waitingFor(project: Project, contactId: string): Set<WaitingExecution> {
  const ofProject = waits.get(project) ?? new Map<string, Set<WaitingExecution>>();
  waits.set(project, ofProject);
  const ofContact = ofProject.get(contactId) ?? new Set<WaitingExecution>();
  ofProject.set(contactId, ofContact);
  return ofContact;
}
