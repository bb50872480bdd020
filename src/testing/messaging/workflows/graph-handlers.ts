import type { FakeRequest, Handlers } from '../../core/types.js';
import { findWorkflow, notFound } from '../find.js';
import type { Scope, Workflow, WorkflowStep } from '../state.js';
import { given, invalidField, isRecord, readBody } from '../validate.js';
import { checkBranch, connect, removeStep, stepTypes } from './graph.js';

/** Steps and transitions. */
export const handlers: Handlers<Scope> = {
  'POST /workflows/{id}/steps': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const step = readBody(request, (fields) => ({
      // Step fields are not shown: whatever else is sent is kept.
      ...extras(request),
      type: fields.requiredOneOf('type', stepTypes),
      config: withDefaults(fields.record('config') ?? {}, scope),
      ...given({ name: fields.text('name') }),
      id: scope.world.id('stp'),
    }));
    workflow.steps.set(step.id, step);
    return { status: 201, body: step };
  },

  'PATCH /workflows/{id}/steps/{stepId}': (request, scope) => {
    const step = stepOf(findWorkflow(scope, request), request.params.stepId);
    const change = readBody(request, (fields) =>
      given({ config: fields.record('config'), name: fields.text('name') }),
    );
    if (change.config) {
      change.config = withDefaults(change.config, scope);
    }
    Object.assign(step, extras(request), change, { id: step.id, type: step.type });
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
    const { branch: sent, ...others } = extras(request);
    const branch = given({ branch: checkBranch(from, sent) });
    const change = { ...others, fromStepId, toStepId, ...branch };
    return { status: 201, body: connect(scope.world, workflow, change) };
  },

  'DELETE /workflows/{id}/transitions/{transitionId}': (request, scope) => {
    const { transitions } = findWorkflow(scope, request);
    const { transitionId = '' } = request.params;
    if (!transitions.delete(transitionId)) {
      throw notFound(transitionId);
    }
    return { status: 204 };
  },
};

function withDefaults(config: Record<string, unknown>, { world }: Scope): Record<string, unknown> {
  return world.settings.stepDefaults === 'added' ? { retries: 3, ...config } : config;
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

function extras(request: FakeRequest): Record<string, unknown> {
  return isRecord(request.body) ? request.body : {};
}
