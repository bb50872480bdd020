import type { StepCreate, StepType, TransitionCreate, WorkflowCreate } from 'postreel';
import { expectTypeOf } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type {
  WorkflowExecutions,
  Workflows,
  WorkflowSteps,
  WorkflowTransitions,
} from 'postreel/messaging';
import type { routes } from '../../src/messaging/workflows.js';

type Rows = MethodsFor<typeof routes>;

type Steps = Rows['steps'];
expectTypeOf<Workflows['steps']>().toEqualTypeOf<WorkflowSteps>();
expectTypeOf<WorkflowSteps['create']>().toEqualTypeOf<Steps['create']>();
expectTypeOf<WorkflowSteps['update']>().toEqualTypeOf<Steps['update']>();
expectTypeOf<WorkflowSteps['delete']>().toEqualTypeOf<Steps['delete']>();

type Transitions = Rows['transitions'];
expectTypeOf<Workflows['transitions']>().toEqualTypeOf<WorkflowTransitions>();
expectTypeOf<WorkflowTransitions['create']>().toEqualTypeOf<Transitions['create']>();
expectTypeOf<WorkflowTransitions['delete']>().toEqualTypeOf<Transitions['delete']>();

type Executions = Rows['executions'];
expectTypeOf<Workflows['executions']>().toEqualTypeOf<WorkflowExecutions>();
expectTypeOf<WorkflowExecutions['start']>().toEqualTypeOf<Executions['start']>();
expectTypeOf<WorkflowExecutions['list']>().toEqualTypeOf<Executions['list']>();
expectTypeOf<WorkflowExecutions['get']>().toEqualTypeOf<Executions['get']>();
expectTypeOf<WorkflowExecutions['cancel']>().toEqualTypeOf<Executions['cancel']>();
expectTypeOf<WorkflowExecutions['cancelAll']>().toEqualTypeOf<Executions['cancelAll']>();

expectTypeOf<StepType>().toEqualTypeOf<
  'SEND_EMAIL' | 'DELAY' | 'WAIT_FOR_EVENT' | 'CONDITION' | 'WEBHOOK' | 'UPDATE_CONTACT' | 'EXIT'
>();

export const workflow: WorkflowCreate = { name: 'Welcome', eventName: 'signed_up', tags: ['new'] };
// @ts-expect-error -- a new workflow is disabled, whatever is asked
export const enabled: WorkflowCreate = { name: 'Welcome', enabled: true };
// @ts-expect-error -- a new workflow listens to an event, whatever is asked
export const scheduled: WorkflowCreate = { name: 'Welcome', triggerType: 'SCHEDULE' };

export const step: StepCreate = { type: 'DELAY', config: { duration: '2d' }, position: { x: 1 } };
// @ts-expect-error -- there is no such step
export const odd: StepCreate = { type: 'SEND_SMS' };
// @ts-expect-error -- a step has a type
export const typeless: StepCreate = { name: 'Wait' };

export const transition: TransitionCreate = { fromStepId: 'a', toStepId: 'b', branch: 'yes' };
// @ts-expect-error -- a branch is yes or no
export const maybe: TransitionCreate = { fromStepId: 'a', toStepId: 'b', branch: 'maybe' };
export const renamed: TransitionCreate = { sourceId: 'a', targetId: 'b' };

export function calls(workflows: Workflows) {
  void workflows.steps.delete('wf_1', 'st_1');
  void workflows.steps.delete('wf_1', 'st_1', { splice: true });
  void workflows.update('wf_1', { enabled: true, triggerType: 'SCHEDULE' });
  void workflows.executions.list('wf_1', { status: 'RUNNING' });
  // @ts-expect-error -- splice is a boolean
  void workflows.steps.delete('wf_1', 'st_1', { splice: 'true' });
  void workflows.executions.start('wf_1', { email: 'ann@example.com' });
  // @ts-expect-error -- a context is an object
  void workflows.executions.start('wf_1', { contactId: 'c_1', context: 'SPRING' });
}
