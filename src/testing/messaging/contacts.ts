import type { Handlers, FakeAnswer, FakeRequest } from '../core/types.js';
import { Refusal } from '../core/http.js';
import type { Scope, Contact, Job } from './state.js';
import { fieldHandlers } from './contact-fields.js';
import { importHandlers } from './contact-import.js';
import { findOwn } from './find.js';
import { listAnswer } from './lists.js';
import { readBody, type BodyFields } from './validate.js';
import {
  changeEmail,
  contactByEmail,
  patchData,
  removeContact,
  setSubscribed,
  upsertContact,
  setSubscribedQuietly,
} from './contact-store.js';
import { showJob, startJob } from './jobs.js';

export const handlers: Handlers<Scope> = {
  'GET /contacts': list,
  'POST /contacts': create,
  'GET /contacts/{id}': (request, scope) => ({ body: ownContact(scope, request) }),
  'PATCH /contacts/{id}': update,
  'DELETE /contacts/{id}': remove,
  'POST /contacts/lookup': lookup,
  ...fieldHandlers,
  ...importHandlers,
  'POST /contacts/bulk-subscribe': bulk('bulk-subscribe', (scope, contact) =>
    setSubscribedQuietly(scope, contact, true),
  ),
  'POST /contacts/bulk-unsubscribe': bulk('bulk-unsubscribe', (scope, contact) =>
    setSubscribedQuietly(scope, contact, false),
  ),
  'POST /contacts/bulk-delete': bulk('bulk-delete', (scope, contact) => {
    removeContact(scope, contact);
    return true;
  }),
  'GET /contacts/bulk/{jobId}': (request, scope) =>
    showJob(request, scope, ({ type }) => type !== 'import'),
};

/** messaging, Limits: contact lookup, emails per call. */
const lookupMax = 500;

function list(request: FakeRequest, scope: Scope): FakeAnswer {
  const search = (request.query.get('search') ?? '').toLowerCase();
  const contacts = [...scope.project.contacts.values()];
  const items = search === '' ? contacts : contacts.filter(({ email }) => email.includes(search));
  return listAnswer(scope, request, { items, name: 'contacts', style: 'cursor' });
}

function create(request: FakeRequest, scope: Scope): FakeAnswer {
  const { email, subscribed, data } = readBody(request, (fields) => ({
    email: fields.requiredEmail('email'),
    subscribed: fields.boolean('subscribed'),
    data: fields.record('data'),
  }));
  const { contact, isNew } = upsertContact(scope, email, {
    subscribed, // left out, a contact who is there keeps their state (not shown)
    data,
    defaultSubscribed: true,
    // messaging, Events 2 names only /v1/send and PATCH as sources of subscription events.
    emitSubscription: false,
  });
  const body = { ...contact, _meta: { isNew, isUpdate: !isNew } };
  return { status: isNew ? 201 : 200, body };
}

function update(request: FakeRequest, scope: Scope): FakeAnswer {
  const contact = ownContact(scope, request);
  const { email, subscribed, data } = readBody(request, (fields) => ({
    email: fields.email('email'),
    subscribed: fields.boolean('subscribed'),
    data: fields.record('data'),
  }));
  if (email !== undefined) {
    takeEmail(scope, contact, email);
  }
  patchData(scope, contact, data);
  contact.updatedAt = scope.world.clock.date().toISOString();
  if (subscribed !== undefined) {
    setSubscribed(scope, contact, subscribed);
  }
  return { body: contact };
}

function takeEmail(scope: Scope, contact: Contact, email: string): void {
  const holder = contactByEmail(scope, email);
  if (holder !== undefined && holder !== contact) {
    throw new Refusal(409, 'CONFLICT', `Another contact already uses ${email}.`);
  }
  changeEmail(scope, contact, email);
}

function remove(request: FakeRequest, scope: Scope): FakeAnswer {
  removeContact(scope, ownContact(scope, request));
  return { status: 204 };
}

/** The shape of the answer is not shown. */
function lookup(request: FakeRequest, scope: Scope): FakeAnswer {
  const emails = readBody(request, (fields) => fields.texts('emails', lookupMax));
  const isKnown = (email: string) => contactByEmail(scope, email.trim()) !== undefined;
  const found = emails.filter(isKnown);
  return { body: { found, notFound: emails.filter((email) => !isKnown(email)) } };
}

function ownContact(scope: Scope, request: FakeRequest): Contact {
  return findOwn(scope, (project) => project.contacts, request.params.id ?? '');
}

/** messaging, Limits: contact ids per call. */
const bulkMax = 1000;

/** `change` tells whether anything changed. */
function bulk(type: Job['type'], change: (scope: Scope, contact: Contact) => boolean) {
  return (request: FakeRequest, scope: Scope): FakeAnswer =>
    startJob(scope, {
      type,
      items: readBody(request, contactIds).map((contactId) => ({
        contactId,
        email: scope.project.contacts.get(contactId)?.email ?? null,
      })),
      handle: ({ contactId }) => {
        const contact = scope.project.contacts.get(contactId);
        if (contact === undefined) {
          throw new TypeError('Contact not found');
        }
        return change(scope, contact) ? 'success' : 'unchanged';
      },
      nameOf: (item) => item,
    });
}

/** The name of the field is not shown. */
function contactIds(fields: BodyFields): string[] {
  return fields.texts('contactIds', bulkMax);
}
