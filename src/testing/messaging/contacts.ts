import type { Handlers, FakeAnswer, FakeRequest } from '../core/types.js';
import { email, flag, record, required, texts } from '../core/checks.js';
import { Refusal } from '../core/http.js';
import type { Scope, Contact, Job } from './state.js';
import { fieldHandlers } from './contact-fields.js';
import { importHandlers } from './contact-import.js';
import { crud, findOwn, readBody } from './resource.js';
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
  ...crud<Contact>({
    name: 'contacts',
    style: 'cursor',
    of: ({ contacts }) => contacts,
    filter: ({ query }) => {
      const search = (query.get('search') ?? '').toLowerCase();
      return (contact) => contact.email.includes(search);
    },
    change: update,
  }),
  'POST /contacts': create,
  'DELETE /contacts/{id}': (request, scope) => {
    removeContact(
      scope,
      findOwn(scope, ({ contacts }) => contacts, request.params.id),
    );
    return { status: 204 };
  },
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

const contactRules = { email: required(email), subscribed: flag, data: record };

function create(request: FakeRequest, scope: Scope): FakeAnswer {
  const { email: address, subscribed, data } = readBody(request, contactRules);
  const { contact, isNew } = upsertContact(scope, address, {
    subscribed, // if it is missing, an existing contact keeps its state (not shown)
    data,
    defaultSubscribed: true,
    // messaging, Events 2 names only /v1/send and PATCH as sources of subscription events.
    emitSubscription: false,
  });
  const body = { ...contact, _meta: { isNew, isUpdate: !isNew } };
  return { status: isNew ? 201 : 200, body };
}

/** Changes the contact by itself: each part has its own rules. */
function update(scope: Scope, request: FakeRequest, contact: Contact): object {
  const change = readBody(request, { ...contactRules, email });
  if (change.email !== undefined) {
    takeEmail(scope, contact, change.email);
  }
  patchData(scope, contact, change.data);
  if (change.subscribed !== undefined) {
    setSubscribed(scope, contact, change.subscribed);
  }
  return {};
}

function takeEmail(scope: Scope, contact: Contact, address: string): void {
  const holder = contactByEmail(scope, address);
  if (holder !== undefined && holder !== contact) {
    throw new Refusal(409, 'CONFLICT', `Another contact already uses ${address}.`);
  }
  changeEmail(scope, contact, address);
}

/** The shape of the answer is not shown. */
function lookup(request: FakeRequest, scope: Scope): FakeAnswer {
  const { emails } = readBody(request, { emails: required(texts(lookupMax)) });
  const isKnown = (address: string) => contactByEmail(scope, address.trim()) !== undefined;
  const found = emails.filter(isKnown);
  return { body: { found, notFound: emails.filter((address) => !isKnown(address)) } };
}

/** messaging, Limits: contact ids per call. */
const bulkMax = 1000;
/** The name of the field is not shown. */
const bulkRules = { contactIds: required(texts(bulkMax)) };

/** `change` tells whether anything changed. */
function bulk(type: Job['type'], change: (scope: Scope, contact: Contact) => boolean) {
  return (request: FakeRequest, scope: Scope): FakeAnswer =>
    startJob(scope, {
      type,
      items: readBody(request, bulkRules).contactIds.map((contactId) => ({
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
