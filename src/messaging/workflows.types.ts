import type { RequestOptions } from '../core/types.js';
import type { OpenInput, OpenRecord } from '../core/values.js';
import type { ListQuery } from './shared/values.js';

/** The type of a step: the action that it performs. */
export type StepType =
  'SEND_EMAIL' | 'DELAY' | 'WAIT_FOR_EVENT' | 'CONDITION' | 'WEBHOOK' | 'UPDATE_CONTACT' | 'EXIT';

/** Which branch of a `CONDITION` step a transition follows. */
export type TransitionBranch = 'yes' | 'no';

/** Automated steps after an event. The service does not document its fields. */
export interface Workflow extends OpenRecord {
  id: string;
  triggerType?: 'EVENT' | (string & {}) | undefined;
  enabled?: boolean | undefined;
  /** Whether a contact may go through the workflow more than once. */
  allowReentry?: boolean | undefined;
}

/** A workflow as `workflows.get()` returns it. */
export interface WorkflowGraph extends Workflow {
  steps?: WorkflowStep[] | undefined;
  transitions?: WorkflowTransition[] | undefined;
}

/**
 * A workflow to create. It starts disabled, with an `EVENT` trigger. You may pass a workflow that a method
 * returned: its `id`, `steps`, `transitions`, `createdAt` and `updatedAt` are left out.
 */
export interface WorkflowCreate extends OpenInput {
  /** The service does not document this name. */
  name?: string | undefined;
  /** The event that starts the workflow. The service does not document this name. */
  eventName?: string | undefined;
  /** Every workflow is created with this trigger; `workflows.update()` changes it. */
  triggerType?: 'EVENT' | undefined;
  /** Every workflow is created disabled; `workflows.update()` enables it. */
  enabled?: false | undefined;
  /** Whether a contact may go through it more than once. */
  allowReentry?: boolean | undefined;
}

/**
 * Changes to a workflow. The service does not document all of its fields. You may pass a workflow that a method
 * returned: its `id`, `steps`, `transitions`, `createdAt` and `updatedAt` are left out.
 */
export interface WorkflowUpdate extends OpenInput {
  triggerType?: 'EVENT' | (string & {}) | undefined;
  enabled?: boolean | undefined;
  /** Whether a contact may go through it more than once. */
  allowReentry?: boolean | undefined;
}

/** Which workflows to list. The service does not document its fields. */
export interface WorkflowQuery extends ListQuery {}

/** The fields that conditions may use. The service does not document its fields. */
export interface WorkflowFields extends OpenRecord {}

/** One step of a workflow. The service does not document its fields. */
export interface WorkflowStep extends OpenRecord {
  id: string;
  type?: StepType | (string & {}) | undefined;
}

/** The configuration of a step. The service does not document its fields. */
export interface StepConfig extends OpenInput {}

/** A step to add. You may pass a step that a method returned: its `id` is left out. */
export interface StepCreate extends OpenInput {
  type: StepType;
  /** The service does not document this name. */
  name?: string | undefined;
  /** The service does not document this name. */
  config?: StepConfig | undefined;
}

/** Changes to a step. You may pass a step that a method returned: its `id` is left out. */
export interface StepUpdate extends OpenInput {
  /** The service does not document this name. */
  name?: string | undefined;
  /** The service does not document this name. */
  config?: StepConfig | undefined;
}

/** How to delete a step. */
export interface StepDelete {
  /**
   * Connects the steps before it with the steps after it.
   * @default false
   */
  splice?: boolean | undefined;
}

/** A transition from one step to another. The service does not document its fields. */
export interface WorkflowTransition extends OpenRecord {
  id: string;
  /** Set on transitions out of a `CONDITION` step. */
  branch?: TransitionBranch | (string & {}) | null | undefined;
}

/** A transition to add. You may pass a transition that a method returned: its `id` is left out. */
export interface TransitionCreate extends OpenInput {
  /** The service does not document this name. */
  fromStepId?: string | undefined;
  /** The service does not document this name. */
  toStepId?: string | undefined;
  /** For transitions out of a `CONDITION` step. */
  branch?: TransitionBranch | undefined;
}

/** A contact's run through a workflow. The service does not document its fields. */
export interface WorkflowExecution extends OpenRecord {
  id: string;
  /** The service does not document the values. */
  status?: string | undefined;
}

/** An execution to start. */
export interface ExecutionStart extends OpenInput {
  /** The service does not document this name. */
  contactId?: string | undefined;
  /** Variables of this execution. */
  context?: ExecutionContext | undefined;
}

/** Variables of one execution. */
export interface ExecutionContext extends OpenInput {}

/** Which executions to list. The service does not document these names. */
export interface ExecutionQuery extends OpenInput {
  /** The service does not document the values. */
  status?: string | undefined;
  page?: number | undefined;
  /**
   * Executions per page.
   * @default the service's default when awaited, 100 when iterated
   */
  pageSize?: number | undefined;
  /** Where to continue: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
}

/** How to delete a workflow. */
export interface WorkflowDeleteOptions extends RequestOptions {
  /**
   * Cancels all active executions first.
   * @default false
   */
  cancelExecutions?: boolean | undefined;
}
