import { isRecord } from '../../core/values.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../core/types.js';
import { invalidParameter } from './lists.js';
import { notFound } from './resource.js';
import type { Contact, FieldType, Project, Scope } from './state.js';

export const fieldHandlers: Handlers<Scope> = {
  'GET /contacts/fields': inventory,
  'GET /contacts/fields/{field}/values': values,
  'GET /contacts/fields/{field}/usage': usage,
  'DELETE /contacts/fields/{field}': remove,
};

const prefix = 'data.';

const standardFields: Readonly<
  Record<string, { type: FieldType; read: (contact: Contact) => unknown }>
> = {
  email: { type: 'string', read: ({ email }) => email },
  subscribed: { type: 'boolean', read: ({ subscribed }) => subscribed },
  createdAt: { type: 'date', read: ({ createdAt }) => createdAt },
  updatedAt: { type: 'date', read: ({ updatedAt }) => updatedAt },
};

/** messaging, Custom fields 9. */
function inventory(_request: FakeRequest, { project }: Scope): FakeAnswer {
  const standard = Object.entries(standardFields).map(([field, { type }]) => ({
    field,
    type,
    isCustom: false,
    coverage: project.contacts.size === 0 ? 0 : 1,
  }));
  const counts = countKeys(project);
  const custom = [...project.fieldTypes].map(([key, type]) => ({
    field: prefix + key,
    type,
    isCustom: true,
    coverage: (counts.get(key) ?? 0) / Math.max(1, project.contacts.size),
  }));
  return { body: { fields: [...standard, ...custom] } };
}

function countKeys({ contacts }: Project): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { data } of contacts.values()) {
    for (const key of Object.keys(data)) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

/** messaging, Custom fields 10: the distinct values, in the order of the contacts. */
function values(request: FakeRequest, { project }: Scope): FakeAnswer {
  const field = fieldOf(request, project);
  const read = standardFields[field]?.read ?? (({ data }: Contact) => data[keyOf(field)]);
  const seen = new Set([...project.contacts.values()].map(read));
  seen.delete(undefined);
  return { body: { field, values: [...seen] } };
}

function usage(request: FakeRequest, { project }: Scope): FakeAnswer {
  const field = fieldOf(request, project);
  return { body: { field, ...usageOf(project, fieldReference(field)) } };
}

/** messaging, Custom fields 10: segments and workflows stay as they are. */
function remove(request: FakeRequest, { project }: Scope): FakeAnswer {
  const field = fieldOf(request, project);
  if (field in standardFields) {
    throw invalidParameter('field', `\`${field}\` is a standard field and cannot be deleted.`);
  }
  const key = keyOf(field);
  for (const { data } of project.contacts.values()) {
    Reflect.deleteProperty(data, key);
  }
  project.fieldTypes.delete(key);
  return { status: 204 };
}

/** The path names a custom field as the inventory does; the key without a prefix is accepted too. */
function fieldOf(request: FakeRequest, { fieldTypes }: Project): string {
  const field = request.params.field ?? '';
  if (Object.hasOwn(standardFields, field)) {
    return field;
  }
  if (!fieldTypes.has(keyOf(field))) {
    throw notFound(`The field ${field}`);
  }
  return prefix + keyOf(field);
}

const keyOf = (field: string) => (field.startsWith(prefix) ? field.slice(prefix.length) : field);

function fieldReference(field: string): Reference {
  return {
    inFilter: (element) => element.field === field,
    inText: new RegExp(`{{\\s*${escape(keyOf(field))}(?![\\w])`),
  };
}

const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The ways to detect a reference to an object. */
interface Reference {
  /** In a filter element, or in the configuration of a trigger or step. */
  inFilter(element: Readonly<Record<string, unknown>>): boolean;
  /** In the subject or body of a campaign. */
  readonly inText?: RegExp;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/**
 * The segments, campaigns and workflows that refer to an object; the document does not show the form of the
 * response.
 */
export function usageOf(project: Project, reference: Reference): Record<string, Named[]> {
  const refers = (value: unknown) => mentions(value, reference);
  return {
    segments: pick(project.segments, ({ condition }) => refers(condition)),
    campaigns: pick(
      project.campaigns,
      ({ audienceFilter, subject, body }) =>
        refers(audienceFilter) || reference.inText?.test(`${subject}\n${body}`) === true,
    ),
    workflows: pick(
      project.workflows,
      ({ triggerConfig, steps }) =>
        refers(triggerConfig) || [...steps.values()].some(({ config }) => refers(config)),
    ),
  };
}

function pick<Item extends Named>(
  items: ReadonlyMap<string, Item>,
  isWanted: (item: Item) => boolean,
): Named[] {
  return [...items.values()].filter(isWanted).map(({ id, name }) => ({ id, name }));
}

/** The structure of conditions is not shown, so this searches every level. */
function mentions(value: unknown, reference: Reference): boolean {
  if (Array.isArray(value)) {
    return value.some((part) => mentions(part, reference));
  }
  if (!isRecord(value)) {
    return false;
  }
  if (reference.inFilter(value)) {
    return true;
  }
  return Object.values(value).some((part) => mentions(part, reference));
}
