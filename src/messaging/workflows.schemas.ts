import * as z from 'zod/mini';
import { isRecord, type OpenRecord } from '../core/values.js';
import type { SchemasFor } from '../core/call/route.js';
import { filterWarnings } from './shared/filters.js';
import { listQuery, id, makeLenient, open } from './shared/values.schemas.js';
import type { routes } from './workflows.js';
import type {
  Workflow,
  WorkflowCreate,
  WorkflowExecution,
  WorkflowStep,
  WorkflowTransition,
} from './workflows.types.js';

const stepTypes = [
  'SEND_EMAIL',
  'DELAY',
  'WAIT_FOR_EVENT',
  'CONDITION',
  'WEBHOOK',
  'UPDATE_CONTACT',
  'EXIT',
] as const;

const record = z.custom<OpenRecord>(isRecord, 'must be an object');

const step = z.looseObject({ id: z.string(), type: z.optional(z.string()) });

const transition = z.looseObject({
  id: z.string(),
  branch: z.optional(z.nullable(z.string())),
});

const execution = z.looseObject({ id: z.string(), status: z.optional(z.string()) });

const workflow = z.looseObject({
  id: z.string(),
  triggerType: z.optional(z.string()),
  enabled: z.optional(z.boolean()),
  allowReentry: z.optional(z.boolean()),
});

const graph = z.extend(workflow, {
  steps: z.optional(z.array(step)),
  transitions: z.optional(z.array(transition)),
});

const workflowUpdate = z.looseObject({
  triggerType: z.optional(z.string()),
  enabled: z.optional(z.boolean()),
  allowReentry: z.optional(z.boolean()),
});

const workflowCreate = z.extend(workflowUpdate, {
  name: z.optional(z.string()),
  eventName: z.optional(z.string()),
}) as unknown as z.ZodMiniType<WorkflowCreate>; // a field without effect is a warning, not an error

const stepUpdate = z.looseObject({ name: z.optional(z.string()), config: z.optional(record) });

const transitionCreate = z.looseObject({
  fromStepId: z.optional(id),
  toStepId: z.optional(id),
  branch: z.optional(z.enum(['yes', 'no'])),
});

const executionStart = z.looseObject({
  contactId: z.optional(id),
  context: z.optional(record),
});

const executionQuery = z.looseObject({
  status: z.optional(z.string()),
  page: z.optional(z.int()),
  pageSize: z.optional(z.int()),
  cursor: z.optional(z.string()),
});

export const schemas = {
  list: { query: listQuery, returns: workflow },
  fields: { returns: open },
  create: {
    body: workflowCreate,
    returns: makeLenient<Workflow>(workflow),
    warnings: createWarnings,
  },
  get: { returns: graph },
  update: { body: workflowUpdate, returns: makeLenient<Workflow>(workflow) },
  delete: { returns: open },
  steps: {
    create: {
      body: z.extend(stepUpdate, { type: z.enum(stepTypes) }),
      returns: makeLenient<WorkflowStep>(step),
      warnings: conditionWarnings,
    },
    update: {
      body: stepUpdate,
      returns: makeLenient<WorkflowStep>(step),
      warnings: conditionWarnings,
    },
    delete: { query: z.looseObject({ splice: z.optional(z.boolean()) }), returns: open },
  },
  transitions: {
    create: { body: transitionCreate, returns: makeLenient<WorkflowTransition>(transition) },
    delete: { returns: open },
  },
  executions: {
    start: { body: executionStart, returns: makeLenient<WorkflowExecution>(execution) },
    list: { query: executionQuery, returns: execution },
    get: { returns: execution },
    cancel: { returns: open },
    cancelAll: { returns: open },
  },
} satisfies SchemasFor<typeof routes>;

function conditionWarnings({ config }: Readonly<Record<string, unknown>>): readonly string[] {
  return isRecord(config) ? filterWarnings('config.condition', config['condition']) : [];
}

function createWarnings({ enabled, triggerType }: Readonly<Record<string, unknown>>): string[] {
  const warnings: string[] = [];
  if (enabled === true) {
    warnings.push(
      '`enabled` has no effect: every workflow starts disabled. Use `workflows.update()`.',
    );
  }
  if (triggerType !== undefined && triggerType !== 'EVENT') {
    warnings.push(
      '`triggerType` has no effect: every workflow starts with "EVENT". Use `workflows.update()`.',
    );
  }
  return warnings;
}
