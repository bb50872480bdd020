import {
  and,
  defineWorkflow,
  filters,
  where,
  type Filter,
  type FilterBuilder,
  type Span,
  type StepDefinition,
} from 'postreel';
import fc from '../property.js';

/** A contact, its events and a graph for it to go through. */
export interface RandomRun {
  readonly steps: Readonly<Record<string, StepDefinition>>;
  readonly data: Readonly<Record<string, string | number | boolean>>;
  readonly subscribed: boolean;
  /** When the contact's event `paid` comes, in minutes; odd, so that nothing happens at once. */
  readonly paidAfter: readonly number[];
}

const span = fc.record({
  amount: fc.integer({ min: 1, max: 40 }),
  unit: fc.constantFrom<Span['unit']>('hours', 'days'),
});

/** Custom fields of the contacts here. */
export interface RandomFields {
  plan: 'pro' | 'free';
  seats: number;
  vip: boolean;
  joined: Date;
}

function conditions({ where, and, or }: FilterBuilder<RandomFields>): fc.Arbitrary<Filter> {
  const element: fc.Arbitrary<Filter> = fc.oneof(
    fc.constantFrom('pro' as const, 'free' as const).map((plan) => where('data.plan').equals(plan)),
    fc.integer({ min: 0, max: 9 }).map((seats) => where('data.seats').greaterThan(seats)),
    fc.integer({ min: 1, max: 30 }).map((days) => where('data.joined').within(days, 'days')),
    fc.integer({ min: 1, max: 30 }).map((days) => where('data.joined').olderThan(days, 'days')),
    fc.boolean().map((vip) => where('data.vip').equals(vip)),
    fc
      .integer({ min: 0, max: 9 })
      .map((value): Filter => ({ field: 'event.amount', operator: 'greaterThan', value })),
  );
  const several = fc.array(element, { minLength: 1, maxLength: 3 });
  const group = fc.oneof(
    several.map((parts) => and(...parts)),
    several.map((parts) => or(...parts)),
  );
  return fc.oneof({ weight: 4, arbitrary: element }, { weight: 1, arbitrary: group });
}

const data = fc.record(
  {
    plan: fc.constantFrom('pro', 'free'),
    seats: fc.integer({ min: 0, max: 10 }),
    vip: fc.boolean(),
    joined: fc
      .integer({ min: -60 * 24 * 9, max: 60 * 24 * 40 })
      .map((minutes) => new Date(Date.UTC(2026, 0, 1) - minutes * 60_000).toISOString()),
  },
  { requiredKeys: [] },
);

/** A kind of step, the steps after it that it leads to, and whether it also leads back. */
const sketchWith = (condition: fc.Arbitrary<Filter>) =>
  fc.record({
    kind: fc.constantFrom('email', 'delay', 'wait', 'endless', 'condition', 'update', 'remind'),
    span,
    condition,
    data,
    ways: fc.tuple(fc.nat(), fc.nat()),
  });

/** Random graphs that `defineWorkflow` takes: every step is reached and leads to the end. */
export function randomRuns(
  builder: FilterBuilder<RandomFields> = filters<RandomFields>(),
): fc.Arbitrary<RandomRun> {
  const sketch = sketchWith(conditions(builder));
  return fc
    .record({
      sketches: fc.array(sketch, { minLength: 1, maxLength: 7 }),
      data,
      subscribed: fc.boolean(),
      paidAfter: fc.array(
        fc.integer({ min: 0, max: 20_000 }).map((n) => 2 * n + 1),
        { maxLength: 2 },
      ),
    })
    .map(({ sketches, paidAfter, ...contact }) => ({
      ...contact,
      steps: reachedOnly(sketches),
      paidAfter: [...new Set(paidAfter)].sort((a, b) => a - b),
    }));
}

/** A run that goes another way wherever a world differs from our assumptions. */
export const tellingRun: RandomRun = {
  data: { plan: 'pro', vip: true },
  subscribed: false,
  paidAfter: [1],
  steps: {
    s0: { type: 'WAIT_FOR_EVENT', event: 'paid', next: 's1' },
    s1: {
      type: 'CONDITION',
      if: { field: 'event.amount', operator: 'greaterThan', value: 0 },
      yes: 's2',
      no: 'end',
    },
    s2: { type: 'CONDITION', if: where('data.vip').equals(true), yes: 's3', no: 'end' },
    s3: { type: 'CONDITION', if: and(where('data.plan').equals('pro')), yes: 's4', no: 'end' },
    s4: {
      type: 'WAIT_FOR_EVENT',
      event: 'paid',
      timeout: { amount: 1, unit: 'hours' },
      next: 's5',
    },
    s5: { type: 'SEND_EMAIL', subject: 'Email 5', body: '<p>Hi</p>', next: 'end' },
    end: { type: 'EXIT' },
  },
};

/** The run as a definition. */
export function definitionOf({ steps }: RandomRun, key: string) {
  return defineWorkflow<string>({
    key,
    name: key,
    trigger: { event: `start_${key}` },
    enabled: true,
    steps,
  });
}

function reachedOnly(sketches: readonly Sketch[]): Record<string, StepDefinition> {
  const all = stepsFrom(sketches);
  const reached = new Set(['s0']);
  for (const key of reached) {
    const { next, yes, no } = all[key] as { next?: string; yes?: string; no?: string };
    for (const target of [next, yes, no]) {
      if (target !== undefined) {
        reached.add(target);
      }
    }
  }
  return Object.fromEntries(Object.entries(all).filter(([key]) => reached.has(key)));
}

type Sketch = ReturnType<typeof sketchWith> extends fc.Arbitrary<infer Value> ? Value : never;

function stepsFrom(sketches: readonly Sketch[]): Record<string, StepDefinition> {
  const steps: Record<string, StepDefinition> = {};
  sketches.forEach(({ kind, span: length, condition: filter, data: fields, ways }, index) => {
    const key = `s${index}`;
    const after = sketches.length - index;
    const target = (way: number) =>
      index + 1 + (way % after) < sketches.length ? `s${index + 1 + (way % after)}` : 'end';
    const next = target(ways[0]);
    switch (kind) {
      case 'email':
        steps[key] = { type: 'SEND_EMAIL', subject: `Email ${index}`, body: '<p>Hi</p>', next };
        break;
      case 'delay':
        steps[key] = { type: 'DELAY', ...length, next };
        break;
      case 'wait':
        steps[key] = { type: 'WAIT_FOR_EVENT', event: 'paid', timeout: length, next };
        break;
      case 'endless':
        steps[key] = { type: 'WAIT_FOR_EVENT', event: 'paid', next };
        break;
      case 'condition':
        steps[key] = { type: 'CONDITION', if: filter, yes: next, no: target(ways[1]) };
        break;
      case 'update':
        steps[key] = { type: 'UPDATE_CONTACT', data: fields, next };
        break;
      case 'remind': // a loop with a pause, and a way out of it
        steps[key] = {
          type: 'SEND_EMAIL',
          subject: `Remind ${index}`,
          body: 'Hi',
          next: `${key}b`,
        };
        steps[`${key}b`] = { type: 'DELAY', ...length, next: `${key}c` };
        steps[`${key}c`] = { type: 'CONDITION', if: filter, yes: next, no: `${key}b` };
        break;
    }
  });
  return { ...steps, end: { type: 'EXIT' } };
}
