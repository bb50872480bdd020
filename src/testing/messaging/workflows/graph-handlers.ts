import { Refusal } from '../../core/http/refusal.js';
import type { FakeRequest, Handlers } from '../../core/types.js';
import { findWorkflow, notFound } from '../find.js';
import type { MessagingSettings } from '../settings.js';
import type { Scope, Workflow, WorkflowStep, WorkflowTransition } from '../state.js';
import { given, invalidField, isRecord, readBody } from '../validate.js';
import { checkBranch, connect, removeStep, stepTypes } from './graph.js';

/** Steps and transitions. */
export const handlers: Handlers<Scope> = {
  'POST /workflows/{id}/steps': (request, scope) => {
    const workflow = findWorkflow(scope, request);
    const { autoConnect, ...others } = extras(request);
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
    const { branch: beside, condition, ...others } = extras(request);
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
};

/** A transition as this service shows it. */
export function shownWay(
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

function extras(request: FakeRequest): Record<string, unknown> {
  return isRecord(request.body) ? request.body : {};
}
