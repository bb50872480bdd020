import { isRecord } from '../../core/values.js';
import { filled, flag, oneOf, optional, record, required, text } from '../core/checks.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { listAnswer } from './lists.js';
import {
  bodyOf,
  crud,
  findIn,
  findOwn,
  given,
  invalidField,
  notFound,
  readBody,
  stamps,
  stateConflict,
} from './resource.js';
import type { MessagingSettings } from './settings.js';
import type { Project, Scope, Workflow, WorkflowStep, WorkflowTransition } from './state.js';
import {
  cancelExecution,
  checkBranch,
  connect,
  isActive,
  mayEnter,
  removeStep,
  startExecution,
  stepTypes,
} from './workflow-engine.js';

const ofProject = ({ workflows }: Project) => workflows;

export const handlers: Handlers<Scope> = {
  ...crud<Workflow>({
    name: 'workflows',
    style: 'cursor',
    of: ofProject,
    listed: summary,
    view: withGraph,
    create: createWorkflow,
    change: (_scope, request, { triggerConfig }) => ({
      ...extras(request),
      ...withTrigger(
        readBody(request, { ...workflowRules, triggerType: text, enabled: flag }),
        triggerConfig,
      ),
    }),
    checkUnused(_scope, { executions }) {
      // messaging, Workflow and executions: active executions must be cancelled or completed first.
      if ([...executions.values()].some(isActive)) {
        throw stateConflict(
          'The workflow has active executions.',
          'Cancel them with POST /workflows/{id}/executions/cancel-all.',
        );
      }
    },
  }),

  'GET /workflows/fields': (_request, scope) => ({ body: { fields: conditionFields(scope) } }),

  // Steps and transitions.
  'POST /workflows/{id}/steps': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const { autoConnect, ...others } = bodyOf(request);
    const rules = { type: required(oneOf(...stepTypes)), config: optional(record, {}), name: text };
    // Step fields are not shown: whatever else is sent is kept.
    const step = { ...others, ...readBody(request, rules), id: scope.world.id('stp') };
    const last = [...workflow.steps.values()].at(-1);
    workflow.steps.set(step.id, step);
    const { stepConnection } = scope.world.settings;
    const isLinked = stepConnection === 'automatic' && autoConnect !== false;
    if (isLinked && last !== undefined && last.type !== 'CONDITION' && last.type !== 'EXIT') {
      connect(scope.world, workflow, { fromStepId: last.id, toStepId: step.id });
    }
    return { status: 201, body: step };
  },

  'PATCH /workflows/{id}/steps/{stepId}': (request, scope) => {
    const step = findIn(findWorkflow(scope, request).steps, request.params.stepId);
    const change = readBody(request, { config: record, name: text });
    Object.assign(step, bodyOf(request), change, { id: step.id, type: step.type });
    return { body: step };
  },

  'DELETE /workflows/{id}/steps/{stepId}': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const step = findIn(workflow.steps, request.params.stepId);
    const splice = request.query.get('splice') === 'true';
    removeStep(scope.world, workflow, { stepId: step.id, splice });
    return { status: 204 };
  },

  'POST /workflows/{id}/transitions': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const { fromStepId, toStepId } = readBody(request, {
      fromStepId: required(filled()),
      toStepId: required(filled()),
    });
    const from = stepIn(workflow, 'fromStepId', fromStepId);
    stepIn(workflow, 'toStepId', toStepId);
    const { branch: beside, condition, ...others } = bodyOf(request);
    const { settings } = scope.world;
    const inside = isRecord(condition) ? condition.branch : undefined;
    const sent = settings.branchIn === 'condition' ? inside : beside;
    const branch = given({ branch: checkBranch(from, sent) });
    const leadsOn = [...workflow.transitions.values()].some(
      (one) => one.fromStepId === fromStepId && one.branch === branch.branch,
    );
    if (settings.stepConnection === 'automatic' && leadsOn) {
      throw stateConflict('The step leads to another one already.');
    }
    const change = { ...others, fromStepId, toStepId, ...branch };
    return { status: 201, body: shownWay(connect(scope.world, workflow, change), settings) };
  },

  'DELETE /workflows/{id}/transitions/{transitionId}': (request, scope) => {
    const { transitions } = findWorkflow(scope, request);
    const { transitionId = '' } = request.params;
    if (!transitions.delete(transitionId)) {
      throw notFound(transitionId);
    }
    return { status: 204 };
  },

  // Executions: one contact's run through a workflow.
  'POST /workflows/{id}/executions': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const { contactId, context } = readBody(request, {
      contactId: required(filled()),
      context: optional(record, {}),
    });
    const contact = findOwn(scope, (project) => project.contacts, contactId);
    // A manual start ignores `enabled`, but respects `allowReentry` (not shown).
    if (!mayEnter(workflow, contact)) {
      throw stateConflict('The contact has been through this workflow already.');
    }
    const execution = startExecution(scope, { workflow, contact, context: { ...context } });
    return { status: 201, body: execution };
  },

  'GET /workflows/{id}/executions': (request, scope) => {
    const status = request.query.get('status');
    const items = [...findWorkflow(scope, request).executions.values()].filter(
      (execution) => status === null || execution.status === status,
    );
    return listAnswer(scope, request, { items, name: 'executions', style: 'page' });
  },

  'GET /workflows/{id}/executions/{executionId}': (request, scope) => ({
    body: findIn(findWorkflow(scope, request).executions, request.params.executionId),
  }),

  'DELETE /workflows/{id}/executions/{executionId}': (request, scope) => {
    const { executions } = findWorkflow(scope, request);
    const execution = findIn(executions, request.params.executionId);
    // messaging, Workflows: a running or waiting one; canceling again has no effect.
    if (isActive(execution)) {
      cancelExecution(scope, execution);
    }
    if (execution.status !== 'CANCELLED') {
      throw stateConflict(`The execution is ${execution.status} already.`);
    }
    return { body: execution };
  },

  'POST /workflows/{id}/executions/cancel-all': (request, scope) => {
    const active = [...findWorkflow(scope, request).executions.values()].filter(isActive);
    for (const execution of active) {
      cancelExecution(scope, execution);
    }
    return { body: { cancelled: active.length } };
  },
};

function findWorkflow(scope: Scope, request: FakeRequest): Workflow {
  return findOwn(scope, ofProject, request.params.id);
}

/** The trigger's config is not shown: `{ eventName }`, inside `triggerConfig` or beside it. */
const workflowRules = {
  name: text,
  description: text,
  eventName: text,
  triggerConfig: record,
  allowReentry: flag,
};

function createWorkflow(scope: Scope, request: FakeRequest): Workflow {
  const { workflowStart, enabledOnCreate } = scope.world.settings;
  const rules = {
    ...workflowRules,
    name: required(filled()),
    allowReentry: optional(flag, false),
    ...(enabledOnCreate === 'honoured' && { enabled: flag }),
  };
  const fields = withTrigger(readBody(request, rules));
  const workflow: Workflow = {
    // Workflow fields are not shown: whatever else is sent is kept.
    ...extras(request),
    ...fields,
    id: scope.world.id('wfl'),
    // messaging, Workflow: created always as EVENT and disabled, whatever the body says.
    triggerType: 'EVENT',
    triggerConfig: fields.triggerConfig ?? {},
    enabled: fields.enabled === true,
    steps: new Map(),
    transitions: new Map(),
    executions: new Map(),
    ...stamps(scope),
  };
  if (workflowStart === 'trigger-step') {
    const id = scope.world.id('stp');
    const config = { ...workflow.triggerConfig };
    workflow.steps.set(id, { id, type: 'TRIGGER', name: 'Trigger', config });
  }
  return workflow;
}

interface TriggerFields {
  readonly eventName?: string;
  readonly triggerConfig?: Record<string, unknown>;
}

/** The same fields, with `eventName` as a part of the trigger's config. */
function withTrigger<Fields extends TriggerFields>(
  { eventName, ...fields }: Fields,
  current: Record<string, unknown> = {},
): Omit<Fields, 'eventName'> {
  const { triggerConfig = current } = fields;
  return eventName === undefined
    ? fields
    : { ...fields, triggerConfig: { ...triggerConfig, eventName } };
}

/** Fields of a workflow record: not shown beyond those of the document. */
function summary(workflow: Workflow) {
  const { id, triggerConfig } = workflow;
  const apart = { steps: undefined, transitions: undefined, executions: undefined };
  return { ...workflow, ...apart, id, eventName: triggerConfig.eventName ?? null };
}

/** messaging, Workflows: `GET /workflows/{id}` comes with steps and transitions. */
function withGraph(workflow: Workflow, { world: { settings } }: Scope): object {
  const steps = [...workflow.steps.values()];
  const transitions = [...workflow.transitions.values()].map((one) => shownWay(one, settings));
  if (settings.transitionsIn === 'workflow') {
    return { ...summary(workflow), steps, transitions };
  }
  const whole = steps.map((step) => ({
    ...step,
    outgoingTransitions: transitions.filter(({ fromStepId }) => fromStepId === step.id),
    incomingTransitions: transitions.filter(({ toStepId }) => toStepId === step.id),
  }));
  return { ...summary(workflow), transitions: undefined, steps: whole };
}

const ownFields = new Set([
  ...['id', 'triggerType', 'triggerConfig', 'eventName', 'enabled', 'createdAt', 'updatedAt'],
  ...['steps', 'transitions', 'executions'],
]);

function extras({ body }: FakeRequest): Record<string, unknown> {
  const entries = Object.entries(isRecord(body) ? body : {});
  return Object.fromEntries(entries.filter(([name]) => !ownFields.has(name)));
}

/** A transition as this service shows it. */
function shownWay(
  { branch, ...transition }: WorkflowTransition,
  { branchIn }: Pick<MessagingSettings, 'branchIn'>,
): WorkflowTransition {
  if (branch === undefined) {
    return transition;
  }
  return branchIn === 'condition'
    ? { ...transition, condition: { branch } }
    : { ...transition, branch };
}

function stepIn(workflow: Workflow, field: string, stepId: string): WorkflowStep {
  const step = workflow.steps.get(stepId);
  if (step === undefined) {
    throw invalidField(field, 'The workflow has no such step.', 'not_found');
  }
  return step;
}

interface ConditionField {
  readonly field: string;
  readonly type: string;
  readonly isCustom: boolean;
}

/** messaging, Workflows: the contact and event fields that CONDITION filters can use. */
function conditionFields({ project }: Scope): ConditionField[] {
  const custom = [...project.fieldTypes].map(([key, type]) => field(`data.${key}`, type, true));
  const ofEvents = new Map<string, string>();
  for (const { data } of project.events) {
    for (const [key, value] of Object.entries(data)) {
      if (!ofEvents.has(key)) {
        ofEvents.set(key, plainType(value));
      }
    }
  }
  // How a condition names an event's field is not shown: with the prefix `event.`.
  const events = [...ofEvents].map(([key, type]) => field(`event.${key}`, type, true));
  return [...standardFields, ...custom, field('event.name', 'string', false), ...events];
}

const standardFields: readonly ConditionField[] = [
  field('email', 'string', false),
  field('subscribed', 'boolean', false),
  field('createdAt', 'date', false),
  field('updatedAt', 'date', false),
];

function field(name: string, type: string, isCustom: boolean): ConditionField {
  return { field: name, type, isCustom };
}

function plainType(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'string';
}
