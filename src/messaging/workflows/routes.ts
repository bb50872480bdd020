import type { Acknowledgement } from '../../core/values.js';
import { anyList, of, route } from '../../core/route.js';
import type {
  ExecutionQuery,
  ExecutionStart,
  StepCreate,
  StepDelete,
  StepUpdate,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowExecution,
  WorkflowFields,
  WorkflowGraph,
  WorkflowQuery,
  WorkflowStep,
  WorkflowTransition,
  WorkflowUpdate,
} from './types.js';

export const routes = {
  list: route('GET /workflows', {
    query: of<WorkflowQuery>(),
    returns: anyList<Workflow>('workflows'),
  }),
  fields: route('GET /workflows/fields', { returns: of<WorkflowFields>() }),
  create: route('POST /workflows', {
    body: of<WorkflowCreate | Workflow>(),
    returns: of<Workflow>(),
  }),
  get: route('GET /workflows/{id}', { returns: of<WorkflowGraph>() }),
  update: route('PATCH /workflows/{id}', {
    body: of<WorkflowUpdate | Workflow>(),
    returns: of<Workflow>(),
  }),
  delete: route('DELETE /workflows/{id}', {
    returns: of<Acknowledgement>(),
  }),
  steps: {
    create: route('POST /workflows/{id}/steps', {
      body: of<StepCreate | WorkflowStep>(),
      returns: of<WorkflowStep>(),
    }),
    update: route('PATCH /workflows/{id}/steps/{stepId}', {
      body: of<StepUpdate | WorkflowStep>(),
      returns: of<WorkflowStep>(),
    }),
    delete: route('DELETE /workflows/{id}/steps/{stepId}', {
      query: of<StepDelete>(),
      returns: of<Acknowledgement>(),
    }),
  },
  transitions: {
    create: route('POST /workflows/{id}/transitions', {
      body: of<TransitionCreate | WorkflowTransition>(),
      returns: of<WorkflowTransition>(),
    }),
    delete: route('DELETE /workflows/{id}/transitions/{transitionId}', {
      returns: of<Acknowledgement>(),
    }),
  },
  executions: {
    start: route('POST /workflows/{id}/executions', {
      body: of<ExecutionStart>(),
      returns: of<WorkflowExecution>(),
    }),
    list: route('GET /workflows/{id}/executions', {
      query: of<ExecutionQuery>(),
      returns: anyList<WorkflowExecution>('executions', 'pageSize'),
    }),
    get: route('GET /workflows/{id}/executions/{executionId}', {
      returns: of<WorkflowExecution>(),
    }),
    cancel: route('DELETE /workflows/{id}/executions/{executionId}', {
      returns: of<Acknowledgement>(),
    }),
    cancelAll: route('POST /workflows/{id}/executions/cancel-all', {
      returns: of<Acknowledgement>(),
      repeatable: true, // it cancels what is active, and what was started in between as well
    }),
  },
};
