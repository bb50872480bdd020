import { describe, expectTypeOf, it } from 'vitest';
import { and, filters, where, type SegmentCreate, type FilterElement } from 'postreel/messaging';

interface Fields {
  plan: 'free' | 'pro';
  seats: number;
  isAdmin: boolean;
  trialEnds: Date;
}

const typed = filters<Fields>();

describe('where', () => {
  it('knows the custom fields and their values', () => {
    expectTypeOf(typed.where('data.plan').equals('pro')).toExtend<FilterElement>();
    // @ts-expect-error -- no such value
    typed.where('data.plan').equals('prp');
    // @ts-expect-error -- no such field
    typed.where('data.paln');
    // @ts-expect-error -- a custom field needs its prefix
    typed.where('plan');
    typed.where('data.isAdmin').equals(true);
    typed.where('subscribed').equals(false);
  });

  it('allows each operator only on the types that it compares', () => {
    typed.where('data.seats').greaterThan(5);
    expectTypeOf(typed.where('data.plan')).not.toHaveProperty('greaterThan');
    typed.where('data.trialEnds').within(30, 'days');
    typed.where('createdAt').olderThan(30, 'days');
    expectTypeOf(typed.where('data.seats')).not.toHaveProperty('within');
    expectTypeOf(typed.where('data.trialEnds')).not.toHaveProperty('equals');
    // @ts-expect-error -- a span needs its unit
    typed.where('data.trialEnds').within(30);
  });

  it('takes any custom field without types', () => {
    where('data.anything').equals('x');
    where('data.anything').greaterThan(1);
    where('data.anything').within(1, 'days');
    where('email').equals('ann@example.com');
    expectTypeOf(where('email')).not.toHaveProperty('greaterThan');
  });

  it('makes conditions of segments', () => {
    const condition = and(where('data.a').equals(1), where('data.b').equals(2));
    expectTypeOf({ type: 'DYNAMIC', name: 'x', condition } as const).toExtend<SegmentCreate>();
  });
});
