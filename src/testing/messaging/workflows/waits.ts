import type { Project, WorkflowExecution } from '../state.js';
import type { Run } from './run.js';

type EventFields = Readonly<Record<string, unknown>>;

/** Goes on with an execution: with the event that it waited for, or without when time ran out. */
export type Wake = (event?: EventFields) => void;

/** Holds an execution until the time is over or the event comes, whichever is first. */
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
export function forgetWait(execution: WorkflowExecution): void {
  stops.get(execution)?.();
  stops.delete(execution);
}

/** Those that wait for this event of this contact now. */
export function takeWaitsFor(project: Project, contactId: string, eventName: string): Wake[] {
  const waiting = [...waitingFor(project, contactId)];
  return waiting.filter((entry) => entry.eventName === eventName).map((entry) => entry.wake);
}

/** Beside the state, not in it: what testers read holds no functions. */
const stops = new WeakMap<WorkflowExecution, () => void>();
const waits = new WeakMap<Project, Map<string, Set<Waiting>>>();

interface Waiting {
  readonly eventName: string | undefined;
  readonly wake: Wake;
}

function waitingFor(project: Project, contactId: string): Set<Waiting> {
  const ofProject = waits.get(project) ?? new Map<string, Set<Waiting>>();
  waits.set(project, ofProject);
  const ofContact = ofProject.get(contactId) ?? new Set<Waiting>();
  ofProject.set(contactId, ofContact);
  return ofContact;
}
