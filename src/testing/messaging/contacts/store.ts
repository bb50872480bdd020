import { recordEvent } from '../events/record.js';
import type { Contact, Scope } from '../state.js';
import { emptyData, patchData } from './data.js';

export { patchData };

/** What an upsert may change. */
export interface ContactChange {
  subscribed?: boolean | undefined;
  data?: unknown;
  /** What a new contact is without `subscribed`. */
  defaultSubscribed: boolean;
  /** Fires `contact.subscribed` or `contact.unsubscribed` on a flip. @default true */
  emitSubscription?: boolean;
}

/** A contact after an upsert, and what templates see of it. */
export interface Upserted {
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
    contact.updatedAt = scope.world.clock.date();
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
 * whether it was another one.
 */
export function setSubscribedQuietly(scope: Scope, contact: Contact, subscribed: boolean): boolean {
  const isOther = contact.subscribed !== subscribed;
  if (isOther) {
    flip(scope, contact, subscribed);
  }
  return isOther;
}

/** Email is unique within a project; whether its case counts is not shown. */
export function contactByEmail(scope: Scope, email: string): Contact | undefined {
  const { contacts, contactIds } = scope.project;
  return contacts.get(contactIds.get(email.toLowerCase()) ?? '');
}

export function changeEmail(scope: Scope, contact: Contact, email: string): void {
  const { contactIds } = scope.project;
  contactIds.delete(contact.email.toLowerCase());
  contactIds.set(email.toLowerCase(), contact.id);
  contact.email = email;
}

/** Deletes a contact; its events stay, as records of the project. */
export function removeContact(scope: Scope, contact: Contact): void {
  const { project } = scope;
  project.contacts.delete(contact.id);
  project.contactIds.delete(contact.email.toLowerCase());
  for (const segment of project.segments.values()) {
    segment.members.delete(contact.id);
  }
}

function addContact(scope: Scope, email: string, subscribed: boolean): Contact {
  const { world, project } = scope;
  const now = world.clock.date();
  const contact: Contact = {
    id: world.id('con'),
    email,
    subscribed,
    data: emptyData(),
    createdAt: now,
    updatedAt: now,
  };
  project.contacts.set(contact.id, contact);
  project.contactIds.set(email.toLowerCase(), contact.id);
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
  contact.updatedAt = world.clock.date();
}
