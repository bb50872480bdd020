import type { Scope } from '../state.js';

interface ConditionField {
  readonly field: string;
  readonly type: string;
  readonly isCustom: boolean;
}

/** messaging, Workflows: the contact and event fields that CONDITION filters can use. */
export function conditionFields({ project }: Scope): ConditionField[] {
  const custom = [...project.fieldTypes].map(([key, type]) => field(`data.${key}`, type, true));
  const ofEvents = new Map<string, string>();
  for (const { data } of project.events) {
    for (const [key, value] of Object.entries(data)) {
      if (!ofEvents.has(key)) {
        ofEvents.set(key, plainType(value));
      }
    }
  }
  // How a condition names an event's field is not shown: with the prefix `event.`.
  const events = [...ofEvents].map(([key, type]) => field(`event.${key}`, type, true));
  return [...standardFields, ...custom, field('event.name', 'string', false), ...events];
}

const standardFields: readonly ConditionField[] = [
  field('email', 'string', false),
  field('subscribed', 'boolean', false),
  field('createdAt', 'date', false),
  field('updatedAt', 'date', false),
];

function field(name: string, type: string, isCustom: boolean): ConditionField {
  return { field: name, type, isCustom };
}

function plainType(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'string';
}
