import type { Contact, Scope, Workflow, WorkflowExecution } from '../state.js';

/** One execution on its way, with everything that a step may need. */
export interface Run {
  readonly scope: Scope;
  readonly workflow: Workflow;
  readonly execution: WorkflowExecution;
  readonly contact: Contact;
}

/** What a step leads to: the next step, a pause, or the end. */
export type Outcome =
  | { readonly go: 'on'; readonly branch?: 'yes' | 'no' }
  | { readonly go: 'wait'; readonly forMs?: number; readonly forEvent?: string }
  | { readonly go: 'call'; readonly call: () => Promise<void> }
  | { readonly go: 'out' };
