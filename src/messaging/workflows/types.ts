import type { OpenRecord } from '../../contract/records.js';
import type { ListQuery } from '../shared/query.js';

/** What a step does. */
export type StepType =
  'SEND_EMAIL' | 'DELAY' | 'WAIT_FOR_EVENT' | 'CONDITION' | 'WEBHOOK' | 'UPDATE_CONTACT' | 'EXIT';

/** Which way out of a `CONDITION` step a transition is. */
export type TransitionBranch = 'yes' | 'no';

/** Steps that contacts go through after an event. The service's document does not show its fields. */
export interface Workflow extends OpenRecord {
  id: string;
  triggerType?: 'EVENT' | (string & {}) | undefined;
  enabled?: boolean | undefined;
  /** May a contact go through it more than once? */
  allowReentry?: boolean | undefined;
}

/** A workflow as `workflows.get()` answers it. */
export interface WorkflowGraph extends Workflow {
  steps: WorkflowStep[];
  transitions: WorkflowTransition[];
}

/** A workflow to make. It starts disabled, with an `EVENT` trigger. */
export interface WorkflowCreate extends OpenRecord {
  /** The name is not given by the service's document. */
  name?: string | undefined;
  /** The event that starts it. The name is not given by the service's document. */
  eventName?: string | undefined;
  /** The service makes every workflow with this trigger; `workflows.update()` changes it. */
  triggerType?: 'EVENT' | undefined;
  /** The service makes every workflow disabled; `workflows.update()` enables it. */
  enabled?: false | undefined;
  /** May a contact go through it more than once? */
  allowReentry?: boolean | undefined;
}

/** What to change about a workflow. The service's document does not show all its fields. */
export interface WorkflowUpdate extends OpenRecord {
  triggerType?: 'EVENT' | (string & {}) | undefined;
  enabled?: boolean | undefined;
  /** May a contact go through it more than once? */
  allowReentry?: boolean | undefined;
}

/** Which workflows to list. The service's document does not show its fields. */
export interface WorkflowQuery extends ListQuery {}

/** The contact and event fields that conditions may use. The service's document does not show its fields. */
export interface WorkflowFields extends OpenRecord {}

/** One step of a workflow. The service's document does not show its fields. */
export interface WorkflowStep extends OpenRecord {
  id: string;
  type?: StepType | (string & {}) | undefined;
}

/** How a step does what it does. The service's document does not show its fields. */
export interface StepConfig extends OpenRecord {}

/** A step to add. */
export interface StepCreate extends OpenRecord {
  type: StepType;
  /** The name is not given by the service's document. */
  name?: string | undefined;
  /** The name is not given by the service's document. */
  config?: StepConfig | undefined;
}

/** What to change about a step. */
export interface StepUpdate extends OpenRecord {
  /** The name is not given by the service's document. */
  name?: string | undefined;
  /** The name is not given by the service's document. */
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

/** A way from one step to another. The service's document does not show its fields. */
export interface WorkflowTransition extends OpenRecord {
  id: string;
  /** Set on the ways out of a `CONDITION` step. */
  branch?: TransitionBranch | (string & {}) | null | undefined;
}

/** A transition to add. */
export interface TransitionCreate extends OpenRecord {
  /** The name is not given by the service's document. */
  fromStepId?: string | undefined;
  /** The name is not given by the service's document. */
  toStepId?: string | undefined;
  /** For ways out of a `CONDITION` step. */
  branch?: TransitionBranch | undefined;
}

/** A contact's way through a workflow. The service's document does not show its fields. */
export interface WorkflowExecution extends OpenRecord {
  id: string;
  /** The service's document does not show the values. */
  status?: string | undefined;
}

/** An execution to start. */
export interface ExecutionStart extends OpenRecord {
  /** The name is not given by the service's document. */
  contactId?: string | undefined;
  /** Variables of this execution. */
  context?: ExecutionContext | undefined;
}

/** Variables of one execution. */
export interface ExecutionContext extends OpenRecord {}

/** Which executions to list. The names are not given by the service's document. */
export interface ExecutionQuery extends OpenRecord {
  /** The service's document does not show the values. */
  status?: string | undefined;
  page?: number | undefined;
  /**
   * How many executions a page holds.
   * @default the service's own when awaited, 100 when iterated
   */
  pageSize?: number | undefined;
  /** Where to go on: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
}
