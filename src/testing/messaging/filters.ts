import { isRecord } from '../../core/values.js';
import type { Contact, Scope, Segment } from './state.js';
import { recordEvent } from './record.js';

/** Reads a field of whatever is filtered: a contact, or a contact and an event. */
type ReadField = (field: string) => unknown;

/** messaging, Custom fields 8: does the contact meet a filter element or a group of them? */
export function matches(scope: Scope, contact: Contact, condition: unknown): boolean {
  return meets(scope.world, (field) => contactField(contact, field), condition);
}

type World = Scope['world'];

/**
 * Like `matches()`, for any reader of fields. The form of groups is a free choice, since the document does
 * not show it.
 */
export function meets(world: World, read: ReadField, condition: unknown): boolean {
  if (Array.isArray(condition)) {
    return condition.every((part) => meets(world, read, part));
  }
  if (!isRecord(condition)) {
    return false;
  }
  const { and: every, or: some } = condition;
  if (Array.isArray(every)) {
    return meets(world, read, every);
  }
  if (Array.isArray(some)) {
    return some.some((part) => meets(world, read, part));
  }
  return meetsElement(world, read, condition);
}

/** messaging, Custom fields 8: custom fields carry the prefix `data.`, standard ones do not. */
export function contactField(contact: Contact, field: string): unknown {
  if (field.startsWith('data.')) {
    return dottedValue(contact.data, field.slice('data.'.length));
  }
  return standardField.has(field) ? dottedValue({ ...contact }, field) : undefined;
}

/** `profile.tier` in `{ profile: { tier } }`; a key with a dot in its name wins. */
export function dottedValue(record: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(record, path)) {
    return record[path];
  }
  let value: unknown = record;
  for (const key of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) {
      return undefined;
    }
    value = value[key];
  }
  return value;
}

const standardField = new Set(['id', 'email', 'subscribed', 'createdAt', 'updatedAt']);

/** An element as it arrives: nothing about its values is certain. */
interface Comparison {
  readonly value: unknown;
  readonly unit: unknown;
  readonly now: number;
}

/** The first four are shown by the document; their counterparts are a free choice. */
const operators: Readonly<Record<string, (actual: unknown, wanted: Comparison) => boolean>> = {
  equals: isEqual,
  greaterThan: (actual, { value }) => compare(actual, value, (a, b) => a > b),
  within: (actual, wanted) => ageCompare(actual, wanted, (age, span) => age >= 0 && age <= span),
  olderThan: (actual, wanted) => ageCompare(actual, wanted, (age, span) => age > span),
  notEquals: (actual, wanted) => !isEqual(actual, wanted),
  lessThan: (actual, { value }) => compare(actual, value, (a, b) => a < b),
  contains: (actual, { value }) => typeof actual === 'string' && actual.includes(String(value)),
  exists: () => true,
};

function meetsElement(
  { clock }: World,
  read: ReadField,
  element: Record<string, unknown>,
): boolean {
  const { field, operator, value, unit } = element;
  if (typeof field !== 'string' || typeof operator !== 'string') {
    return false;
  }
  const actual = read(field);
  // messaging, Custom fields 10: a condition on a deleted field matches nothing, whatever it asks.
  if (actual === undefined || actual === null) {
    return false;
  }
  const holds = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
  return holds?.(actual, { value, unit, now: clock.now() }) ?? false;
}

function isEqual(actual: unknown, { value }: Comparison): boolean {
  // A filter's value is a string or a number, so that a boolean is compared by its name.
  return typeof actual === 'boolean' ? String(actual) === String(value) : actual === value;
}

function compare<Value extends string | number>(
  actual: unknown,
  value: unknown,
  holds: (a: Value, b: Value) => boolean,
): boolean {
  const comparable = typeof actual === 'number' || typeof actual === 'string';
  // Both are of one comparable type here, which the compiler cannot express for a union.
  return comparable && typeof actual === typeof value && holds(actual as Value, value as Value);
}

function ageCompare(
  actual: unknown,
  { value, unit, now }: Comparison,
  holds: (ageMs: number, spanMs: number) => boolean,
): boolean {
  // messaging, Custom fields 4: date-aware operators need full ISO 8601 strings.
  if (!isFullDate(actual) || typeof value !== 'number') {
    return false;
  }
  return holds(now - Date.parse(actual), value * unitMs(unit));
}

/** The members as of now: live for dynamic segments, those added for static ones. */
export function membersOf(scope: Scope, segment: Segment): Contact[] {
  const contacts = [...scope.project.contacts.values()];
  return segment.type === 'DYNAMIC'
    ? contacts.filter((contact) => matches(scope, contact, segment.condition))
    : contacts.filter(({ id }) => segment.members.has(id));
}

/** Recounts the members, with no events and no writes to the membership. */
export function refreshCount(scope: Scope, segment: Segment): number {
  segment.memberCount = membersOf(scope, segment).length;
  return segment.memberCount;
}

/** messaging, Segments: recomputes the membership, and fires an event for each contact that came or went. */
export function computeMembership(scope: Scope, segment: Segment): object {
  const now = new Set(membersOf(scope, segment).map(({ id }) => id));
  const exited = [...segment.members].filter((id) => !now.has(id));
  const entered = [...now].filter((id) => !segment.members.has(id));
  segment.members.clear();
  for (const id of now) {
    segment.members.add(id);
  }
  segment.memberCount = now.size;
  fire(scope, segment, { kind: 'exit', contactIds: exited });
  fire(scope, segment, { kind: 'entry', contactIds: entered });
  return { memberCount: now.size, entered: entered.length, exited: exited.length };
}

/** The names of these events are not shown. */
function fire(
  scope: Scope,
  { id, name }: Segment,
  change: { readonly kind: 'entry' | 'exit'; readonly contactIds: readonly string[] },
): void {
  for (const contactId of change.contactIds) {
    const contact = scope.project.contacts.get(contactId);
    if (contact === undefined) {
      continue;
    }
    recordEvent(scope, contact, `segment.${id}.${change.kind}`, { segmentId: id, segment: name });
  }
}

const fullDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** messaging, Custom fields 4: a full ISO 8601 string, with its time. */
function isFullDate(value: unknown): value is string {
  return typeof value === 'string' && fullDate.test(value) && !Number.isNaN(Date.parse(value));
}

/** Only `days` is shown; the other units are a free choice. */
const units: Readonly<Record<string, number>> = {
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
};

/** The length of a unit such as `days`; without one, a day. */
export function unitMs(unit: unknown): number {
  if (unit === undefined || unit === null) {
    return units.days ?? Number.NaN;
  }
  return (typeof unit === 'string' ? units[unit] : undefined) ?? Number.NaN;
}
