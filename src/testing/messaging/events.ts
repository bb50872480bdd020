import { email, filled, record, required } from '../core/checks.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../core/types.js';
import { eventData, upsertContact } from './contact-store.js';
import { usageOf } from './contact-fields.js';
import { listAnswer } from './lists.js';
import type { Scope, TrackedEvent } from './state.js';
import { recordEvent } from './record.js';
import { findOwn, readBody } from './resource.js';

export const handlers: Handlers<Scope> = {
  // messaging, General conventions: /v1/* is enveloped, dashboard endpoints are not.
  'POST /v1/track': (request, scope) => ({ body: { success: true, data: track(request, scope) } }),
  'POST /events/track': (request, scope) => ({ body: track(request, scope) }),
  'GET /events': (request, scope) => listEvents(request, scope, scope.project.events),
  'GET /events/contact/{contactId}': listForContact,
  'GET /events/names': (_request, scope) => ({ body: { names: [...countNames(scope).keys()] } }),
  'GET /events/stats': stats,
  'GET /events/{eventName}/usage': usage,
  'DELETE /events/{eventName}': remove,
};

/** Which fields are required is not shown: an event without one of these could not be told from others. */
function track(request: FakeRequest, scope: Scope) {
  const { event, data, ...sent } = readBody(request, {
    email: required(email),
    event: required(filled()),
    data: record,
  });
  // The document does not show the state of a contact created here: subscribed, as with POST /contacts.
  const { contact } = upsertContact(scope, sent.email, { data, defaultSubscribed: true });
  const { id } = recordEvent(scope, contact, event, eventData(data));
  return { contact: contact.id, event: id, timestamp: scope.world.clock.date().toISOString() };
}

/** Newest first; the shape of the list is not shown. */
function listEvents(request: FakeRequest, scope: Scope, events: readonly TrackedEvent[]) {
  return listAnswer(scope, request, {
    items: events.toReversed(),
    name: 'events',
    style: 'cursor',
  });
}

function listForContact(request: FakeRequest, scope: Scope): FakeAnswer {
  const { id } = findOwn(scope, ({ contacts }) => contacts, request.params.contactId);
  const own = scope.project.events.filter(({ contactId }) => contactId === id);
  return listEvents(request, scope, own);
}

function stats(_request: FakeRequest, scope: Scope): FakeAnswer {
  const { events } = scope.project;
  const byName = [...countNames(scope)].map(([name, count]) => ({ name, count }));
  const uniqueContacts = new Set(events.map(({ contactId }) => contactId)).size;
  return { body: { total: events.length, uniqueContacts, events: byName } };
}

function countNames({ project }: Scope): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of project.events) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Filters name an event as `event.<name>`, triggers and steps by `eventName` (neither is shown). */
function usage(request: FakeRequest, { project }: Scope): FakeAnswer {
  const eventName = request.params.eventName ?? '';
  const { segments, workflows } = usageOf(project, {
    inFilter: ({ field, eventName: waitsFor }) =>
      field === `event.${eventName}` || waitsFor === eventName,
  });
  return { body: { eventName, segments, workflows } };
}

function remove(request: FakeRequest, { project }: Scope): FakeAnswer {
  const kept = project.events.filter(({ name }) => name !== request.params.eventName);
  const deleted = project.events.length - kept.length;
  project.events.splice(0, project.events.length, ...kept);
  return { body: { deleted } };
}
