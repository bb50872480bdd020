import { isRecord } from '../../core/values.js';
import { Refusal } from '../core/http.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { listAnswer } from './lists.js';
import type {
  Scope,
  Workflow,
  WorkflowStep,
  WorkflowTransition,
  WorkflowExecution,
} from './state.js';
import { given, readBody, type BodyFields, invalidField } from './validate.js';
import {
  isActive,
  checkBranch,
  connect,
  removeStep,
  stepTypes,
  cancelExecution,
  mayEnter,
  startExecution,
} from './workflow-engine.js';
import { findWorkflow, notFound, findOwn } from './find.js';
import type { MessagingSettings } from './settings.js';

export const handlers: Handlers<Scope> = {
  'GET /workflows': (request, scope) => {
    const items = [...scope.project.workflows.values()].map(summary);
    return listAnswer(scope, request, { items, name: 'workflows', style: 'cursor' });
  },

  'GET /workflows/fields': (_request, scope) => ({ body: { fields: conditionFields(scope) } }),

  'POST /workflows': (request, scope) => {
    const workflow = createWorkflow(scope, request);
    scope.project.workflows.set(workflow.id, workflow);
    return { status: 201, body: withGraph(workflow, scope) };
  },

  'GET /workflows/{id}': (request, scope) => ({
    body: withGraph(findWorkflow(scope, request), scope),
  }),

  'PATCH /workflows/{id}': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const change = readBody(request, (fields) => readChange(fields, workflow));
    Object.assign(workflow, extras(request), change, {
      updatedAt: scope.world.clock.date().toISOString(),
    });
    return { body: withGraph(workflow, scope) };
  },

  'DELETE /workflows/{id}': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    // messaging, Workflow and executions: active executions must be cancelled or completed first.
    if ([...workflow.executions.values()].some(isActive)) {
      throw new Refusal(400, 'STATE_CONFLICT', 'The workflow has active executions.', {
        suggestion: 'Cancel them with POST /workflows/{id}/executions/cancel-all.',
      });
    }
    scope.project.workflows.delete(workflow.id);
    return { status: 204 };
  },

  // Steps and transitions.
  'POST /workflows/{id}/steps': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const { autoConnect, ...others } = bodyOf(request);
    const step = readBody(request, (fields) => ({
      // Step fields are not shown: whatever else is sent is kept.
      ...others,
      type: fields.requiredOneOf('type', stepTypes),
      config: fields.record('config') ?? {},
      ...given({ name: fields.text('name') }),
      id: scope.world.id('stp'),
    }));
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
    const step = stepOf(findWorkflow(scope, request), request.params.stepId);
    const change = readBody(request, (fields) =>
      given({ config: fields.record('config'), name: fields.text('name') }),
    );
    Object.assign(step, bodyOf(request), change, { id: step.id, type: step.type });
    return { body: step };
  },

  'DELETE /workflows/{id}/steps/{stepId}': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const step = stepOf(workflow, request.params.stepId);
    const splice = request.query.get('splice') === 'true';
    removeStep(scope.world, workflow, { stepId: step.id, splice });
    return { status: 204 };
  },

  'POST /workflows/{id}/transitions': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const { fromStepId, toStepId } = readBody(request, (fields) => ({
      fromStepId: fields.requiredText('fromStepId'),
      toStepId: fields.requiredText('toStepId'),
    }));
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
      throw new Refusal(400, 'STATE_CONFLICT', 'The step leads to another one already.');
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

  // Executions: one contact on its way through a workflow.
  'POST /workflows/{id}/executions': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const { contactId, context } = readBody(request, (fields) => ({
      contactId: fields.requiredText('contactId'),
      context: fields.record('context') ?? {},
    }));
    const contact = findOwn(scope, (project) => project.contacts, contactId);
    // A start by hand needs no `enabled`, but keeps to `allowReentry` (not shown).
    if (!mayEnter(workflow, contact)) {
      throw new Refusal(
        400,
        'STATE_CONFLICT',
        'The contact has been through this workflow already.',
      );
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
    body: executionOf(findWorkflow(scope, request), request.params.executionId),
  }),

  'DELETE /workflows/{id}/executions/{executionId}': (request, scope) => {
    const execution = executionOf(findWorkflow(scope, request), request.params.executionId);
    // messaging, Workflows: a running or waiting one; to cancel twice changes nothing.
    if (isActive(execution)) {
      cancelExecution(scope, execution);
    }
    if (execution.status !== 'CANCELLED') {
      throw new Refusal(400, 'STATE_CONFLICT', `The execution is ${execution.status} already.`);
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

function createWorkflow(scope: Scope, request: FakeRequest): Workflow {
  const at = scope.world.clock.date().toISOString();
  const { workflowStart, enabledOnCreate } = scope.world.settings;
  const workflow = readBody(request, (fields): Workflow => ({
    // Workflow fields are not shown: whatever else is sent is kept.
    ...extras(request),
    id: scope.world.id('wfl'),
    name: fields.requiredText('name'),
    ...given({ description: fields.text('description') }),
    // messaging, Workflow: created always as EVENT and disabled, whatever the body says.
    triggerType: 'EVENT',
    triggerConfig: readTrigger(fields) ?? {},
    enabled: enabledOnCreate === 'honoured' && fields.boolean('enabled') === true,
    allowReentry: fields.boolean('allowReentry') ?? false,
    steps: new Map(),
    transitions: new Map(),
    executions: new Map(),
    createdAt: at,
    updatedAt: at,
  }));
  if (workflowStart === 'trigger-step') {
    const id = scope.world.id('stp');
    const config = { ...workflow.triggerConfig };
    workflow.steps.set(id, { id, type: 'TRIGGER', name: 'Trigger', config });
  }
  return workflow;
}

/** The trigger's config is not shown: `{ eventName }`, inside `triggerConfig` or beside it. */
function readTrigger(fields: BodyFields, current: Record<string, unknown> = {}) {
  const eventName = fields.text('eventName');
  const config = fields.record('triggerConfig');
  if (eventName === undefined) {
    return config;
  }
  return { ...(config ?? current), eventName };
}

function readChange(fields: BodyFields, { triggerConfig }: Workflow): object {
  return given({
    name: fields.text('name'),
    description: fields.text('description'),
    triggerType: fields.text('triggerType'),
    triggerConfig: readTrigger(fields, triggerConfig),
    enabled: fields.boolean('enabled'),
    allowReentry: fields.boolean('allowReentry'),
  });
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

function stepOf(workflow: Workflow, stepId = ''): WorkflowStep {
  const step = workflow.steps.get(stepId);
  if (step === undefined) {
    throw notFound(stepId);
  }
  return step;
}

function stepIn(workflow: Workflow, field: string, stepId: string): WorkflowStep {
  const step = workflow.steps.get(stepId);
  if (step === undefined) {
    throw invalidField(field, 'The workflow has no such step.', 'not_found');
  }
  return step;
}

function bodyOf(request: FakeRequest): Record<string, unknown> {
  return isRecord(request.body) ? request.body : {};
}

function executionOf(workflow: Workflow, executionId = ''): WorkflowExecution {
  const execution = workflow.executions.get(executionId);
  if (execution === undefined) {
    throw notFound(executionId);
  }
  return execution;
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
