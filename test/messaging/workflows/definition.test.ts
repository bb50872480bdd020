import {
  defineWorkflow,
  InvalidRequestError,
  toMermaid,
  transient,
  where,
  type StepDefinition,
} from 'postreel';
import { describe, expect, it } from 'vitest';
import { onboarding } from '../../support/messaging/onboarding.js';

const define = (steps: Record<string, StepDefinition>, others: object = {}) =>
  defineWorkflow({ name: 'n', trigger: { event: 'e' }, steps, ...others });

const problemsOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      return error.fieldErrors.map(({ field, message }) => `${field} ${message}`);
    }
    throw error;
  }
  return [];
};

const end = { type: 'EXIT' } as const;
const isPro = where('data.plan').equals('pro');
const email = (next: string) => ({ type: 'SEND_EMAIL', template: 'tpl_1', next }) as const;
const delay = (next: string, amount = 1) =>
  ({ type: 'DELAY', amount, unit: 'days', next }) as const;

describe('defineWorkflow()', () => {
  it('accepts a complete graph', () => {
    expect(problemsOf(() => define({ a: email('b'), b: delay('end'), end }))).toEqual([]);
    expect(defineWorkflow(onboarding)).toBe(onboarding);
  });

  it('accepts a loop with a pause and an exit', () => {
    const again = { type: 'CONDITION', if: isPro, yes: 'end', no: 'wait' } as const;
    expect(
      problemsOf(() => define({ a: email('wait'), wait: delay('again'), again, end })),
    ).toEqual([]);
  });

  it.each<[string, Record<string, StepDefinition>, string[]]>([
    ['no steps', {}, ['steps must not be empty']],
    ['a loose end', { a: email('b') }, ['steps.a.next must name a step of this workflow; got "b"']],
    [
      'a condition with loose branches',
      { a: { type: 'CONDITION', if: isPro, yes: 'x', no: 'end' }, end },
      ['steps.a.yes must name a step of this workflow; got "x"'],
    ],
    [
      'a step nothing leads to',
      { a: email('end'), b: email('end'), end },
      ['steps.b is never reached'],
    ],
    [
      'a way without an end',
      { a: email('b'), b: delay('c'), c: delay('b') },
      [
        'steps.a never leads to an EXIT step',
        'steps.b never leads to an EXIT step',
        'steps.c never leads to an EXIT step',
      ],
    ],
    [
      'a way back to the start',
      { a: delay('b'), b: { type: 'CONDITION', if: isPro, yes: 'a', no: 'end' }, end },
      ['steps.a is the start, so no step may lead back to it'],
    ],
    [
      'a loop without a pause',
      {
        s: email('a'),
        a: email('b'),
        b: { type: 'CONDITION', if: isPro, yes: 'a', no: 'end' },
        end,
      },
      ['steps.a is in a loop without a pause', 'steps.b is in a loop without a pause'],
    ],
    [
      'a branch that the step does not have',
      { a: { ...delay('end'), yes: 'end' } as StepDefinition, end },
      ['steps.a.yes is not a transition of this step: a step of type DELAY has `next` only'],
    ],
    [
      'a way out of a condition beside its branches',
      {
        a: { type: 'CONDITION', if: isPro, yes: 'end', no: 'end', next: 'end' } as StepDefinition,
        end,
      },
      [
        'steps.a.next is not a transition of this step: a step of type CONDITION has `yes` and `no` only',
      ],
    ],
    [
      'a way out of the end',
      { a: delay('end'), end: { ...end, next: 'a' } as StepDefinition },
      ['steps.end.next is not a transition of this step: a step of type EXIT ends'],
    ],
    [
      'fields of a transition that the step does not have',
      { a: { ...delay('end'), transitions: { no: { label: 'x' } } }, end },
      [
        'steps.a.transitions.no is not a transition of this step: a step of type DELAY has `next` only',
      ],
    ],
    [
      'two steps of one name',
      { a: { ...email('b'), name: 'b' }, b: delay('end'), end },
      ['steps.b.name is the name of another step, too'],
    ],
    [
      'a field that it does not know',
      { a: { ...email('end'), tempalte: 'tpl_1' } as StepDefinition, end },
      ['steps.a.tempalte is not a field of a SEND_EMAIL step: put it into `fields`'],
    ],
    [
      'a type that there is not',
      { a: { type: 'SEND_SMS', next: 'end' } as never, end },
      [
        'steps.a.type must be one of SEND_EMAIL, DELAY, WAIT_FOR_EVENT, CONDITION, WEBHOOK, UPDATE_CONTACT, EXIT',
      ],
    ],
    [
      'a condition that everybody meets',
      { a: { type: 'CONDITION', if: {}, yes: 'end', no: 'end' }, end },
      [
        'steps.a.if must not be empty: it may select everybody; if all contacts take the same transition, leave the step out',
      ],
    ],
    [
      'a condition on a custom field without its prefix',
      {
        a: {
          type: 'CONDITION',
          if: { field: 'plan', operator: 'equals', value: 'pro' } as never,
          yes: 'end',
          no: 'end',
        },
        end,
      },
      ['steps.a.if "plan" is not a field of a contact: a custom field is `data.plan`'],
    ],
    [
      'values that the service would not store',
      {
        a: {
          type: 'UPDATE_CONTACT',
          data: { plan: '', code: transient('7') as never, city: null },
          next: 'end',
        },
        end,
      },
      [
        'steps.a.data.plan is an empty string, which the service ignores; use null to delete the field',
        'steps.a.data.code is `transient()`, and the service would not store it',
      ],
    ],
    [
      'a reserved key, which the service would drop',
      { a: { type: 'UPDATE_CONTACT', data: { email: 'x' } as never, next: 'end' }, end },
      [
        'steps.a.data.email is reserved, and the service would drop it: use the `email` field next to `data`',
      ],
    ],
    [
      'an email without content',
      { a: { type: 'SEND_EMAIL', subject: 'Hi', next: 'end' }, end },
      ['steps.a needs `template`, or `subject` and `body`'],
    ],
    ['a delay of nothing', { a: delay('end', 0), end }, ['steps.a.amount must be above 0']],
    [
      'a delay that is no number',
      { a: delay('end', NaN), end },
      ['steps.a.amount must be above 0'],
    ],
    [
      'a webhook without an address',
      { a: { type: 'WEBHOOK', url: '/hook', next: 'end' }, end },
      ['steps.a.url must be an absolute http or https address'],
    ],
  ])('rejects %s', (_, steps, problems) => {
    expect(problemsOf(() => define(steps))).toEqual(problems);
  });

  it.each<[unknown, string[]]>([
    [undefined, ['definition must be an object, as `defineWorkflow()` takes it']],
    [
      { name: 'n', trigger: 'e', steps: [] },
      ['trigger.event must be a string that is not empty', 'steps must be an object of steps'],
    ],
    [
      { name: 'Welcome · 3f2a9c', trigger: { event: 'e' }, steps: { end } },
      ['name must not end like the mark of a version: deploying adds it'],
    ],
    [
      { name: 'n', trigger: { event: 'e' }, steps: { a: 'EXIT' } },
      ['steps.a must be an object with a `type`'],
    ],
  ])('rejects invalid values of plain JavaScript: %j', (definition, problems) => {
    expect(problemsOf(() => defineWorkflow(definition as never))).toEqual(problems);
  });

  it('rejects a start that is not a step, and missing names', () => {
    expect(problemsOf(() => define({ end }, { start: 'x' }))).toEqual([
      'start must name a step of this workflow; got "x"',
    ]);
    expect(problemsOf(() => define({ end }, { name: '', trigger: { event: '' } }))).toEqual([
      'name must be a string that is not empty',
      'trigger.event must be a string that is not empty',
    ]);
  });
});

describe('toMermaid()', () => {
  it('draws every step and every transition', () => {
    expect(toMermaid(onboarding)).toBe(
      [
        'flowchart TD',
        '  start(["signed_up"]) --> s0',
        '  s0["welcome: send Welcome"]',
        '  s1[/"wait: wait 2 days"/]',
        '  s2{"isPro: data.plan equals pro"}',
        '  s3["offer: send Go pro"]',
        '  s4[/"paid: wait for paid, at most 7 days"/]',
        '  s5["mark: set onboarded"]',
        '  s6(["done"])',
        '  s0 --> s1',
        '  s1 --> s2',
        '  s2 -->|yes| s5',
        '  s2 -->|no| s3',
        '  s3 --> s4',
        '  s4 --> s5',
        '  s5 --> s6',
        '',
      ].join('\n'),
    );
  });

  it('marks where an execution is', () => {
    const drawing = toMermaid(onboarding, { current: 'wait', visited: ['welcome', 'unknown'] });
    expect(drawing).toContain('  class s0 visited\n');
    expect(drawing).toContain('  class s1 current\n');
  });

  it("escapes the characters of Mermaid's syntax", () => {
    const drawing = toMermaid(define({ 'a"]': email('end'), end }));
    expect(drawing).toContain('s0["a#34;]: send tpl_1"]');
  });
});
