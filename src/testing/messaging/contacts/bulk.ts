import type { FakeAnswer, FakeRequest, Handlers } from '../../core/types.js';
import { showJob, startJob } from '../jobs/jobs.js';
import type { Contact, Job, Scope } from '../state.js';
import { readBody, type Fields } from '../validate.js';
import { removeContact, setSubscribedQuietly } from './store.js';

/** messaging, Limits: contact ids per call. */
const bulkMax = 1000;

export const bulkHandlers: Handlers<Scope> = {
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

/** `change` tells whether anything changed. */
function bulk(type: Job['type'], change: (scope: Scope, contact: Contact) => boolean) {
  return (request: FakeRequest, scope: Scope): FakeAnswer =>
    startJob(scope, {
      type,
      items: readBody(request, contactIds),
      handle: (id) => {
        const contact = scope.project.contacts.get(id);
        if (contact === undefined) {
          throw new TypeError('Contact not found');
        }
        return change(scope, contact) ? 'success' : 'unchanged';
      },
      nameOf: (contactId) => ({ contactId }),
    });
}

/** The name of the field is not shown. */
function contactIds(fields: Fields): string[] {
  return fields.texts('contactIds', bulkMax);
}
