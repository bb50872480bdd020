import { isRecord } from '../../../core/values.js';
import type { ContactData } from '../../shared/data.js';
import type { Filter } from '../../shared/filter.js';
import type {
  StepCreate,
  StepConfig,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowGraph,
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
  /** What creates a step; it is updated with those of these fields that differ. */
  readonly step: (key: string, step: StepDefinition) => StepCreate;
  /** What creates a transition. */
  readonly transition: (ends: TransitionEnds) => TransitionCreate;
  /** The steps and transitions of a live workflow; `undefined` when the answer does not show them. */
  readonly readGraph: (
    workflow: WorkflowGraph,
  ) => { readonly [Part in 'steps' | 'transitions']: NonNullable<WorkflowGraph[Part]> } | undefined;
  /** The head of a live workflow, without what the answer does not show. */
  readonly readWorkflow: (workflow: Workflow) => WorkflowHead;
  /** A live step without its ways out; `undefined` when it cannot be read. */
  readonly readStep: (step: WorkflowStep) => StepContent | undefined;
  /** A live transition; `undefined` when it cannot be read. */
  readonly readTransition: (transition: WorkflowTransition) => TransitionEnds | undefined;
  /** The fields of workflows, steps and transitions that only answers have: `pull()` leaves them out. */
  readonly answerOnly: readonly string[];
}

/** A live workflow without its graph, as far as its answer shows it. */
export type WorkflowHead = {
  readonly [Name in 'name' | 'trigger' | 'allowReentry' | 'enabled']?:
    WorkflowDefinition[Name] | undefined;
};

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
  readGraph: ({ steps, transitions }) =>
    Array.isArray(steps) && Array.isArray(transitions) ? { steps, transitions } : undefined,
  readWorkflow: (workflow) => {
    const event = textOf(workflow['eventName']);
    return {
      name: textOf(workflow['name']),
      trigger: event === undefined ? undefined : { event },
      allowReentry: workflow.allowReentry,
      enabled: workflow.enabled,
    };
  },
  readStep,
  readTransition: ({ fromStepId, toStepId, branch }) => {
    const [from, to] = [textOf(fromStepId), textOf(toStepId)];
    if (from === undefined || to === undefined) {
      return undefined;
    }
    const ends = { fromStepId: from, toStepId: to };
    const known = (['yes', 'no'] as const).find((one) => one === branch);
    return known !== undefined || isUnset(branch) ? { ...ends, branch: known } : undefined;
  },
  answerOnly: ['id', 'workflowId', 'projectId', 'createdAt', 'updatedAt'],
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

// What is not understood is not empty: a step without its content cannot be read.
function readStep(step: WorkflowStep): StepContent | undefined {
  // The document shows neither the fields nor whether they stand in `config` or beside it.
  const { config } = step;
  const fields: Readonly<Record<string, unknown>> = { ...step, ...(isRecord(config) && config) };
  const text = (name: string) => textOf(fields[name]);
  const head = defined({ name: textOf(step['name']) });
  switch (step.type) {
    case 'SEND_EMAIL': {
      const template = text('templateId') ?? text('template');
      const [subject, body] = [text('subject'), text('body')];
      const isComplete = template !== undefined || (subject && body);
      const content = defined({ template, subject, body, from: text('from') });
      return isComplete ? { ...head, type: 'SEND_EMAIL', ...content } : undefined;
    }
    case 'DELAY': {
      const span = readSpan(fields['duration']);
      return span && { ...head, type: 'DELAY', ...span };
    }
    case 'WAIT_FOR_EVENT': {
      const event = text('eventName');
      const timeout = readSpan(fields['timeout']);
      const isReadable =
        event !== undefined && (timeout !== undefined || isUnset(fields['timeout']));
      return isReadable
        ? { ...head, type: 'WAIT_FOR_EVENT', event, ...defined({ timeout }) }
        : undefined;
    }
    case 'CONDITION': {
      const condition = isRecord(config) && 'field' in config ? config : fields['condition'];
      return isRecord(condition)
        ? { ...head, type: 'CONDITION', if: condition as Filter } // as it was written
        : undefined;
    }
    case 'WEBHOOK': {
      const url = text('url');
      return url === undefined ? undefined : { ...head, type: 'WEBHOOK', url };
    }
    case 'UPDATE_CONTACT': {
      const { data } = fields;
      return isRecord(data)
        ? { ...head, type: 'UPDATE_CONTACT', data: data as ContactData } // as it was written
        : undefined;
    }
    case 'EXIT':
      return { ...head, type: 'EXIT' };
    default:
      return undefined;
  }
}

// Some services spell an unset field in these ways.
function isUnset(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

function spanOf({ amount, unit }: Span): StepConfig {
  return { amount, unit };
}

const units = { m: 'minutes', h: 'hours', d: 'days' } as const;

// `{ amount, unit }` as we write it, or '2d' as people do by hand.
function readSpan(value: unknown): Span | undefined {
  const short = typeof value === 'string' ? /^(\d+)([mhd])$/.exec(value) : null;
  if (short !== null) {
    const [, amount, unit] = short;
    return { amount: Number(amount), unit: units[unit as keyof typeof units] }; // by the pattern
  }
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
