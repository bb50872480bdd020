import { isRecord } from '../../../contract/records.js';
import type { ContactData } from '../../shared/data.js';
import type { Filter } from '../../shared/filter.js';
import type {
  StepCreate,
  StepConfig,
  StepType,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowStep,
  WorkflowTransition,
} from '../types.js';
import type { Span, StepDefinition, WorkflowDefinition } from './definition.js';

/** A transition by the ids of its steps. */
export interface TransitionEnds {
  readonly fromStepId: string;
  readonly toStepId: string;
  readonly branch: 'yes' | 'no' | undefined;
}

/**
 * How workflows are written for the service and read back. The service's document does not show
 * these fields: the defaults are ours, and each one can be replaced.
 */
export interface WorkflowMapping {
  /** What creates and updates the workflow itself, without `enabled`. */
  readonly workflow: (definition: WorkflowDefinition) => WorkflowCreate;
  /** What creates a step; it is updated with the same fields but for `type`. */
  readonly step: (key: string, step: StepDefinition) => StepCreate;
  /** What creates a transition. */
  readonly transition: (ends: TransitionEnds) => TransitionCreate;
  /** The head of a live workflow. */
  readonly readWorkflow: (
    workflow: Workflow,
  ) => Pick<WorkflowDefinition, 'name' | 'trigger' | 'allowReentry' | 'enabled'>;
  /** A live step without its ways out; `undefined` when it cannot be read. */
  readonly readStep: (step: WorkflowStep) => StepContent | undefined;
  /** A live transition; `undefined` when it cannot be read. */
  readonly readTransition: (transition: WorkflowTransition) => TransitionEnds | undefined;
}

/** A step without its ways out. */
export type StepContent = StepDefinition extends infer Step
  ? Step extends StepDefinition
    ? Omit<Step, 'next' | 'yes' | 'no'>
    : never
  : never;

/** How workflows are written and read unless you say otherwise. */
export const defaultWorkflowMapping: WorkflowMapping = {
  workflow: ({ name, trigger, allowReentry = false }) => ({
    name,
    eventName: trigger.event,
    allowReentry,
  }),
  step: (key, step) => ({
    type: step.type,
    name: step.name ?? key,
    config: Object.fromEntries(
      [configOf(step), step.config ?? {}].flatMap((config) => Object.entries(config)),
    ),
  }),
  transition: ({ fromStepId, toStepId, branch }) =>
    branch === undefined ? { fromStepId, toStepId } : { fromStepId, toStepId, branch },
  readWorkflow: (workflow) => ({
    name: textOf(workflow['name']) ?? workflow.id,
    trigger: { event: textOf(workflow['eventName']) ?? '' },
    allowReentry: workflow.allowReentry,
    enabled: workflow.enabled,
  }),
  readStep,
  readTransition: (transition) => {
    const fromStepId = textOf(transition['fromStepId']);
    const toStepId = textOf(transition['toStepId']);
    const { branch } = transition;
    if (fromStepId === undefined || toStepId === undefined) {
      return undefined;
    }
    return { fromStepId, toStepId, branch: branchOf(branch) };
  },
};

function configOf(step: StepDefinition): StepConfig {
  switch (step.type) {
    case 'SEND_EMAIL': {
      const { template, subject, body, from } = step;
      return defined({ templateId: template, subject, body, from });
    }
    case 'DELAY':
      return { duration: spanOf(step) };
    case 'WAIT_FOR_EVENT':
      return defined({ eventName: step.event, timeout: step.timeout && spanOf(step.timeout) });
    case 'CONDITION':
      return { condition: step.if };
    case 'WEBHOOK':
      return { url: step.url };
    case 'UPDATE_CONTACT':
      return { data: step.data };
    case 'EXIT':
      return {};
  }
}

function readStep(step: WorkflowStep): StepContent | undefined {
  // Anything else than the document's types is for the caller's own mapping.
  const {
    type,
    config = {},
    name,
  } = step as { type?: StepType; config?: StepConfig; name?: string };
  const text = (key: string) => textOf(config[key]);
  const head = defined({ name });
  switch (type) {
    case 'SEND_EMAIL': {
      const content = {
        template: text('templateId'),
        subject: text('subject'),
        body: text('body'),
      };
      return { ...head, type, ...defined({ ...content, from: text('from') }) };
    }
    case 'DELAY': {
      const span = readSpan(config['duration']);
      return span && { ...head, type, ...span };
    }
    case 'WAIT_FOR_EVENT': {
      const timeout = readSpan(config['timeout']);
      return { ...head, type, event: text('eventName') ?? '', ...(timeout && { timeout }) };
    }
    case 'CONDITION':
      return { ...head, type, if: (config['condition'] ?? {}) as Filter }; // as it was written
    case 'WEBHOOK':
      return { ...head, type, url: text('url') ?? '' };
    case 'UPDATE_CONTACT':
      return {
        ...head,
        type,
        data: isRecord(config['data']) ? (config['data'] as ContactData) : {},
      };
    case 'EXIT':
      return { ...head, type };
    default:
      return undefined;
  }
}

function branchOf(branch: unknown): 'yes' | 'no' | undefined {
  return branch === 'yes' || branch === 'no' ? branch : undefined;
}

function spanOf({ amount, unit }: Span): StepConfig {
  return { amount, unit };
}

function readSpan(value: unknown): Span | undefined {
  if (!isRecord(value) || typeof value['amount'] !== 'number') {
    return undefined;
  }
  const unit = value['unit'];
  const isKnown = unit === 'minutes' || unit === 'hours' || unit === 'days';
  return isKnown ? { amount: value['amount'], unit } : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function defined<Fields extends object>(
  fields: Fields,
): {
  [Name in keyof Fields]?: NonNullable<Fields[Name]>;
} {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }; // its own fields
}
