import { isRecord } from '../validate.js';
import type { Contact, FieldType, Scope } from '../state.js';

/** messaging, Custom fields 5: silently dropped from any `data`. */
const reservedKeys = new Set([
  'id',
  'svc_id',
  'svc_email',
  'email',
  'unsubscribeUrl',
  'subscribeUrl',
  'manageUrl',
]);

/** An empty `data` object; without a prototype, so that every key is just a key. */
export function emptyData(): Record<string, unknown> {
  // Object.create() answers any.
  return Object.create(null) as Record<string, unknown>;
}

/**
 * Writes to a contact's `data` as a patch (messaging, Custom fields 1 to 6). The answer is what
 * templates see: all that is stored, and the values that were sent for this call only.
 */
export function patchData(scope: Scope, contact: Contact, data: unknown): Record<string, unknown> {
  const transient = emptyData();
  for (const [key, sent] of entriesOf(data)) {
    const { value, isStored } = readValue(sent);
    if (value === '') {
      continue;
    }
    if (!isStored) {
      transient[key] = value;
    } else if (value === null) {
      Reflect.deleteProperty(contact.data, key);
    } else {
      store({ scope, contact }, key, value);
    }
  }
  return { ...contact.data, ...transient };
}

/** What an event keeps of its `data`: the plain values, those for one call included. */
export function eventData(data: unknown): Record<string, unknown> {
  const kept = emptyData();
  for (const [key, sent] of entriesOf(data)) {
    const { value } = readValue(sent);
    if (value !== '' && value !== null) {
      kept[key] = value;
    }
  }
  return kept;
}

/** messaging, Custom fields 3: the type of a key, told by the first value seen. */
export function inferType(value: unknown): FieldType {
  if (typeof value === 'number') {
    return 'number';
  }
  if (typeof value === 'boolean') {
    return 'boolean';
  }
  return typeof value === 'string' && isDate(value) ? 'date' : 'string';
}

function entriesOf(data: unknown): [string, unknown][] {
  if (!isRecord(data)) {
    return [];
  }
  return Object.entries(data).filter(([key]) => !reservedKeys.has(key));
}

/** messaging, Custom fields 2; `persistent: true` is not shown and means the value alone. */
function readValue(sent: unknown): { value: unknown; isStored: boolean } {
  if (isRecord(sent) && 'value' in sent && typeof sent.persistent === 'boolean') {
    return { value: sent.value, isStored: sent.persistent };
  }
  return { value: sent, isStored: true };
}

function store(
  { scope, contact }: { readonly scope: Scope; readonly contact: Contact },
  key: string,
  value: unknown,
): void {
  const { fieldTypes } = scope.project;
  // The type stays fixed; a value of another type is stored all the same.
  if (!fieldTypes.has(key)) {
    fieldTypes.set(key, inferType(value));
  }
  contact.data[key] = value;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?Z)?$/.test(text);
}
