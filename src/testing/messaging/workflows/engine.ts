import type { Contact, Scope, TrackedEvent, Workflow, WorkflowExecution } from '../state.js';
import { firstStep, stepAfter } from './graph.js';
import type { Run } from './run.js';
import { runStep } from './steps.js';
import { forgetWait, takeWaitsFor, waitFor } from './waits.js';
import { messageOf } from '../../../core/errors.js';

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

/** Starts an execution and walks it as far as it goes without waiting. */
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
    startedAt: scope.world.clock.date(),
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

/** Ends an active execution where it stands. */
export function cancelExecution(scope: Scope, execution: WorkflowExecution): void {
  end(scope, execution, 'CANCELLED');
}

/** More steps without a pause are a circle. */
const longestWalk = 1000;

function isStartedBy({ enabled, triggerType, triggerConfig }: Workflow, name: string): boolean {
  return enabled && triggerType === 'EVENT' && triggerConfig.eventName === name;
}

function walk(run: Run, stepId: string | undefined): void {
  let next = stepId;
  for (let steps = 0; next !== undefined; steps += 1) {
    try {
      if (steps === longestWalk) {
        throw new Error('The steps go round without a pause.');
      }
      next = takeStep(run, next);
    } catch (error) {
      next = undefined;
      fail(run, error);
    }
  }
}

/** Runs one step; the answer is the next one, or nothing when the walk stops here. */
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
    // A wait that ran out has no event, so that conditions on event fields do not hold after it.
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
  execution.endedAt = scope.world.clock.date();
  forgetWait(execution);
}
