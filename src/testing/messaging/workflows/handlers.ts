import { Refusal } from '../../core/http/refusal.js';
import type { FakeRequest, Handlers } from '../../core/types.js';
import { listAnswer } from '../lists.js';
import type { Scope, Workflow } from '../state.js';
import { given, isRecord, readBody, type Fields } from '../validate.js';
import { isActive } from './engine.js';
import { handlers as executionHandlers } from './execution-handlers.js';
import { conditionFields } from './fields.js';
import { findWorkflow } from '../find.js';
import { handlers as graphHandlers, shownWay } from './graph-handlers.js';

export const handlers: Handlers<Scope> = {
  ...graphHandlers,
  ...executionHandlers,

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
    Object.assign(workflow, extras(request), change, { updatedAt: scope.world.clock.date() });
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
};

function createWorkflow(scope: Scope, request: FakeRequest): Workflow {
  const at = scope.world.clock.date();
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
function readTrigger(fields: Fields, current: Record<string, unknown> = {}) {
  const eventName = fields.text('eventName');
  const config = fields.record('triggerConfig');
  if (eventName === undefined) {
    return config;
  }
  return { ...(config ?? current), eventName };
}

function readChange(fields: Fields, { triggerConfig }: Workflow): object {
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
