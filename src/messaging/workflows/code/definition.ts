import type { OpenInput } from '../../../core/values.js';
import type { ContactData } from '../../shared/data.js';
import type { Filter } from '../../shared/filter.js';
import type { StepConfig } from '../types.js';

/** A length of time. */
export interface Span {
  readonly amount: number;
  readonly unit: 'minutes' | 'hours' | 'days';
}

interface StepBase {
  /**
   * The step's name in the service.
   * @default its key
   */
  readonly name?: string | undefined;
  /** Configuration of your own, merged over what the mapping writes. */
  readonly config?: StepConfig | undefined;
  /** Fields of your own beside `config`, sent instead of what the mapping writes under these names. */
  readonly fields?: OpenInput | undefined;
  /** Fields of your own for the transitions out of this step. */
  readonly transitions?:
    { readonly [Way in 'next' | 'yes' | 'no']?: OpenInput | undefined } | undefined;
}

/** Sends an email: a template, or a subject and a body. */
export interface SendEmailStep<Key extends string = string> extends StepBase {
  readonly type: 'SEND_EMAIL';
  /** The id of a template. */
  readonly template?: string | undefined;
  readonly subject?: string | undefined;
  readonly body?: string | undefined;
  /** The sender's address, on a verified domain. */
  readonly from?: string | undefined;
  readonly next: Key;
}

/** Pauses for a while. */
export interface DelayStep<Key extends string = string> extends StepBase, Span {
  readonly type: 'DELAY';
  readonly next: Key;
}

/** Pauses until the contact's event is tracked, or the timeout is over. */
export interface WaitForEventStep<Key extends string = string> extends StepBase {
  readonly type: 'WAIT_FOR_EVENT';
  readonly event: string;
  readonly timeout?: Span | undefined;
  readonly next: Key;
}

/** Goes one of two ways. */
export interface ConditionStep<Key extends string = string> extends StepBase {
  readonly type: 'CONDITION';
  /** What must match for `yes`: `where('data.plan').equals('pro')`. */
  readonly if: Filter;
  readonly yes: Key;
  readonly no: Key;
}

/** Calls an address of yours. */
export interface WebhookStep<Key extends string = string> extends StepBase {
  readonly type: 'WEBHOOK';
  readonly url: string;
  readonly next: Key;
}

/** Writes custom fields of the contact. */
export interface UpdateContactStep<Key extends string = string> extends StepBase {
  readonly type: 'UPDATE_CONTACT';
  readonly data: ContactData;
  readonly next: Key;
}

/** Ends the workflow for the contact. */
export interface ExitStep extends StepBase {
  readonly type: 'EXIT';
}

/** One step of a defined workflow; `Key` is the union of the keys of all its steps. */
export type StepDefinition<Key extends string = string> =
  | SendEmailStep<Key>
  | DelayStep<Key>
  | WaitForEventStep<Key>
  | ConditionStep<Key>
  | WebhookStep<Key>
  | UpdateContactStep<Key>
  | ExitStep;

/** A workflow as code. */
export interface WorkflowDefinition<Key extends string = string> {
  /** Your own name for the workflow. It finds it again at the next deployment, so never change it. */
  readonly key: string;
  readonly name: string;
  /** The event that starts it. */
  readonly trigger: { readonly event: string };
  /**
   * Where it starts.
   * @default the first step
   */
  readonly start?: NoInfer<Key> | undefined;
  /** Whether a contact may go through it more than once. */
  readonly allowReentry?: boolean | undefined;
  /**
   * Whether it runs.
   * @default as it is; a new workflow is disabled
   */
  readonly enabled?: boolean | undefined;
  /** Fields of your own, sent instead of what the mapping writes under these names. */
  readonly fields?: OpenInput | undefined;
  readonly steps: { readonly [Name in Key]: StepDefinition<NoInfer<Key>> };
}
