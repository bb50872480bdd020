import { describe, expectTypeOf, it } from 'vitest';
import { defineWorkflow, type WorkflowDefinition } from 'postreel/messaging';

const head = { name: 'n', trigger: { event: 'e' } };

describe('defineWorkflow', () => {
  it('knows the keys of its steps', () => {
    const workflow = defineWorkflow({
      ...head,
      steps: {
        wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'end' },
        end: { type: 'EXIT' },
      },
    });
    expectTypeOf(workflow).toEqualTypeOf<WorkflowDefinition<'wait' | 'end'>>();
    expectTypeOf(workflow).toExtend<WorkflowDefinition>();
  });

  it('refuses a step that does not exist', () => {
    defineWorkflow({
      ...head,
      steps: {
        // @ts-expect-error -- there is no step "edn"
        wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'edn' },
        end: { type: 'EXIT' },
      },
    });
  });

  it('refuses a condition without both branches', () => {
    defineWorkflow({
      ...head,
      steps: {
        // @ts-expect-error -- `no` is missing
        check: { type: 'CONDITION', if: {}, yes: 'end' },
        end: { type: 'EXIT' },
      },
    });
  });

  it('refuses a step that leads nowhere', () => {
    defineWorkflow({
      ...head,
      steps: {
        // @ts-expect-error -- `next` is missing
        wait: { type: 'DELAY', amount: 2, unit: 'days' },
        end: { type: 'EXIT' },
      },
    });
  });

  it('refuses reserved fields in an update', () => {
    defineWorkflow({
      ...head,
      steps: {
        // @ts-expect-error -- `email` is a reserved key
        set: { type: 'UPDATE_CONTACT', data: { email: 'x' }, next: 'end' },
        end: { type: 'EXIT' },
      },
    });
  });
});
