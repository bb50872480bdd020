import { isRecord } from '../../core/values.js';
import { recordEvent } from './record.js';
import type { Contact, Scope, FieldType } from './state.js';

/** The fields that an upsert may change. */
interface ContactChange {
  subscribed?: boolean | undefined;
  data?: unknown;
  /** The value of `subscribed` for a new contact without one. */
  defaultSubscribed: boolean;
  /** Fires `contact.subscribed` or `contact.unsubscribed` on a flip. @default true */
  emitSubscription?: boolean;
}

/** A contact after an upsert, and what templates see of it. */
interface Upserted {
  readonly contact: Contact;
  readonly isNew: boolean;
  readonly variables: Record<string, unknown>;
}

/** Creates or updates a contact by its email; an existing one keeps its state when none is sent. */
export function upsertContact(scope: Scope, email: string, change: ContactChange): Upserted {
  const known = contactByEmail(scope, email);
  // A new contact has no state to flip, so that its creation fires no subscription event.
  const contact = known ?? addContact(scope, email, change.subscribed ?? change.defaultSubscribed);
  const variables = patchData(scope, contact, change.data);
  if (known !== undefined) {
    contact.updatedAt = scope.world.clock.date().toISOString();
    changeSubscription(scope, contact, change);
  }
  return { contact, isNew: known === undefined, variables };
}

/** Fires `contact.subscribed` or `contact.unsubscribed` on a flip (messaging, Contact subscription). */
export function setSubscribed(scope: Scope, contact: Contact, subscribed: boolean): void {
  if (contact.subscribed === subscribed) {
    return;
  }
  flip(scope, contact, subscribed);
  recordEvent(scope, contact, subscribed ? 'contact.subscribed' : 'contact.unsubscribed');
}

/**
 * Sets the state without an event, as bulk jobs and `POST /contacts` do (not shown to fire any). Returns
 * whether the state changed.
 */
export function setSubscribedQuietly(scope: Scope, contact: Contact, subscribed: boolean): boolean {
  const isOther = contact.subscribed !== subscribed;
  if (isOther) {
    flip(scope, contact, subscribed);
  }
  return isOther;
}

/** Email is unique within a project, in any spelling. */
export function contactByEmail(scope: Scope, email: string): Contact | undefined {
  const { contacts, contactIds } = scope.project;
  return contacts.get(contactIds.get(keptEmail(email)) ?? '');
}

export function changeEmail(scope: Scope, contact: Contact, email: string): void {
  const { contactIds } = scope.project;
  contactIds.delete(contact.email);
  contact.email = keptEmail(email);
  contactIds.set(contact.email, contact.id);
}

/** Normalizes an email as services of this kind store and return it. */
function keptEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** Deletes a contact; its events stay, as records of the project. */
export function removeContact(scope: Scope, contact: Contact): void {
  const { project } = scope;
  project.contacts.delete(contact.id);
  project.contactIds.delete(contact.email);
  for (const segment of project.segments.values()) {
    segment.members.delete(contact.id);
  }
}

function addContact(scope: Scope, email: string, subscribed: boolean): Contact {
  const { world, project } = scope;
  const now = world.clock.date().toISOString();
  const contact: Contact = {
    id: world.id('con'),
    email: keptEmail(email),
    subscribed,
    data: emptyData(),
    createdAt: now,
    updatedAt: now,
  };
  project.contacts.set(contact.id, contact);
  project.contactIds.set(contact.email, contact.id);
  return contact;
}

function changeSubscription(
  scope: Scope,
  contact: Contact,
  { subscribed, emitSubscription = true }: ContactChange,
): void {
  if (subscribed === undefined) {
    return;
  }
  const set = emitSubscription ? setSubscribed : setSubscribedQuietly;
  set(scope, contact, subscribed);
}

function flip({ world }: Scope, contact: Contact, subscribed: boolean): void {
  contact.subscribed = subscribed;
  contact.updatedAt = world.clock.date().toISOString();
}

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

/** An empty `data` object; without a prototype, so that `__proto__` and the like are ordinary keys. */
export function emptyData(): Record<string, unknown> {
  // as: `Object.create()` returns `any`
  return Object.create(null) as Record<string, unknown>;
}

/**
 * Writes to a contact's `data` as a patch (messaging, Custom fields 1 to 6). Returns the
 * data for templates: all stored values, and the values that were sent for this call only.
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

/** The data that an event keeps: the plain values, including those for one call. */
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

/** messaging, Custom fields 3: the type of a key, inferred from the first value. */
function inferType(value: unknown): FieldType {
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

/** messaging, Custom fields 2; `persistent: true` is not shown: it is read like the value alone. */
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
  // The type stays fixed; a value of another type is stored anyway.
  if (!fieldTypes.has(key)) {
    fieldTypes.set(key, inferType(value));
  }
  contact.data[key] = value;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{3})?Z)?$/.test(text);
}
