import type { Contact, Filter, FilterElement, SegmentCreate, SegmentMember } from 'postreel';
import { expectTypeOf } from 'vitest';
import type { SegmentMembers, Segments } from 'postreel/messaging';

expectTypeOf<Segments['members']>().toEqualTypeOf<SegmentMembers>();

// Members are contacts: what takes a contact takes a member.
expectTypeOf<SegmentMember>().toExtend<Contact>();

const condition: FilterElement = {
  field: 'data.lastSeen',
  operator: 'within',
  value: 30,
  unit: 'days',
};

export const filters: Filter[] = [
  condition,
  { field: 'email', operator: 'endsWith', value: '@example.com' },
  { or: [condition, { and: [condition] }] },
];
// @ts-expect-error -- a comparison is with a text or a number
export const withObject: FilterElement = { field: 'data.plan', operator: 'equals', value: {} };
// @ts-expect-error -- a comparison has an operator
export const withoutOperator: FilterElement = { field: 'data.plan', value: 'pro' };

export const segments: SegmentCreate[] = [
  { type: 'STATIC', name: 'Friends' },
  { type: 'DYNAMIC', name: 'Recent', condition, trackMembership: true },
];
// @ts-expect-error -- a dynamic segment has a condition
export const withoutCondition: SegmentCreate = { type: 'DYNAMIC', name: 'Recent' };
// @ts-expect-error -- a static segment has none
export const withCondition: SegmentCreate = { type: 'STATIC', name: 'Friends', condition };
// @ts-expect-error -- there is no such type
export const withOddType: SegmentCreate = { type: 'SMART', condition };

export function calls(resource: Segments) {
  void resource.members.list('seg_1', { page: 2, pageSize: 50 });
  void resource.members.remove('seg_1', { emails: ['ann@example.com'] as const });
  // @ts-expect-error -- members are added by email
  void resource.members.add('seg_1', { contactIds: ['c_1'] });
  // @ts-expect-error -- whom to remove must be said
  void resource.members.remove('seg_1');
  // @ts-expect-error -- removing knows no such option
  void resource.members.remove('seg_1', { emails: [], createMissing: true });
  // @ts-expect-error -- a segment keeps its type
  void resource.update('seg_1', { type: 'STATIC' });
  // @ts-expect-error -- the list comes whole
  void resource.list({ limit: 10 });
}
