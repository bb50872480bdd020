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

  it('leaves it to the deployment whether it is on', () => {
    const end = { type: 'EXIT' } as const;
    // @ts-expect-error -- `deploy(definition, { enable: true })` turns it on
    defineWorkflow({ ...head, enabled: true, steps: { end } });
    // @ts-expect-error -- it is found by its name
    defineWorkflow({ ...head, key: 'k', steps: { end } });
  });

  it('takes further fields where they are named', () => {
    const fields = { position: { x: 1 } };
    const end = { type: 'EXIT', fields } as const;
    expectTypeOf(
      defineWorkflow({ ...head, fields, steps: { end } }),
    ).toExtend<WorkflowDefinition>();
    // @ts-expect-error -- beside `fields` a typing mistake would be a field
    defineWorkflow({ ...head, steps: { end: { type: 'EXIT', position: { x: 1 } } } });
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
