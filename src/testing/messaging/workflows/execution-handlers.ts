import { Refusal } from '../../core/http/refusal.js';
import type { Handlers } from '../../core/types.js';
import { findOwn, findWorkflow, notFound } from '../find.js';
import { listAnswer } from '../lists.js';
import type { Scope, Workflow, WorkflowExecution } from '../state.js';
import { readBody } from '../validate.js';
import { cancelExecution, isActive, mayEnter, startExecution } from './engine.js';

/** Executions: one contact on its way through a workflow. */
export const handlers: Handlers<Scope> = {
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

function executionOf(workflow: Workflow, executionId = ''): WorkflowExecution {
  const execution = workflow.executions.get(executionId);
  if (execution === undefined) {
    throw notFound(executionId);
  }
  return execution;
}
