import { emptyData, patchData } from '../contacts/data.js';
import type { Contact, Scope } from '../state.js';
import { pick, times } from './making.js';

const hourMs = 3_600_000;
const firstNames = ['Ada', 'Ben', 'Chloe', 'Dan', 'Eva', 'Finn', 'Grace', 'Hugo', 'Ida', 'Jon'];
const locales = ['en', 'de', 'fr'];

/** The plans of seeded contacts. */
export const plans: readonly string[] = ['free', 'starter', 'pro'];

/** Contacts that have joined one per hour, the last one just now. */
export function seedContacts(scope: Scope, count: number): Contact[] {
  const { contacts, contactIds } = scope.project;
  const now = scope.world.clock.now();
  // A second seed goes on counting, since an email is unique within a project.
  const known = contacts.size;
  return times(count, (index) => {
    const joinedAt = new Date(now - (count - index - 1) * hourMs).toISOString();
    const contact = makeContact(scope.world.id('con'), known + index + 1, joinedAt);
    patchData(scope, contact, customFields(known + index, joinedAt));
    contacts.set(contact.id, contact);
    contactIds.set(contact.email, contact.id);
    return contact;
  });
}

function makeContact(id: string, number: number, joinedAt: string): Contact {
  return {
    id,
    email: `contact-${number}@example.com`,
    subscribed: number % 10 !== 0,
    data: emptyData(),
    createdAt: joinedAt,
    updatedAt: joinedAt,
  };
}

function customFields(index: number, joinedAt: string): Record<string, unknown> {
  return {
    name: pick(firstNames, index),
    plan: pick(plans, index),
    locale: pick(locales, index),
    orders: index % 7,
    isBeta: index % 4 === 0,
    joinedAt,
  };
}
