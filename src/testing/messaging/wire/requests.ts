import type { FakeRequest } from '../../core/types.js';
import type { MessagingBehavior } from '../../behavior/messaging.js';
import { isObject } from '../../wire/json.js';
import { objectFields, optionalFields } from './shown.js';

/** A request as the handlers know it, from what a service of this world takes. */
export function understood(
  request: FakeRequest,
  endpoint: string,
  behavior: MessagingBehavior,
): FakeRequest {
  if (!isObject(request.body)) {
    return request;
  }
  const named =
    behavior.requestNames === 'other' ? withOurNames(request.body, endpoint) : request.body;
  return { ...request, body: withoutUnset(named, endpoint, behavior.unset) };
}

/** What such a service calls the fields that the document does not show. */
export const otherNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'POST /contacts/lookup': { addresses: 'emails' },
  'POST /contacts/bulk-subscribe': { ids: 'contactIds' },
  'POST /contacts/bulk-unsubscribe': { ids: 'contactIds' },
  'POST /contacts/bulk-delete': { ids: 'contactIds' },
  'POST /workflows/{id}/executions': { subscriberId: 'contactId' },
  'POST /workflows/{id}/transitions': { sourceId: 'fromStepId', targetId: 'toStepId' },
  'POST /domains': { name: 'domain' },
  'POST /auth/login': { login: 'email', secret: 'password' },
  'POST /auth/signup': { login: 'email', secret: 'password' },
  'POST /auth/verify-email': { code: 'token' },
  'POST /auth/reset-password': { code: 'token', newPassword: 'password' },
  'POST /projects/{id}/members': { address: 'email' },
};

function withOurNames(body: Record<string, unknown>, endpoint: string): Record<string, unknown> {
  const names = otherNames[endpoint] ?? {};
  const ours = new Set(Object.values(names));
  const entries = Object.entries(body)
    .filter(([name]) => !ours.has(name))
    .map(([name, value]) => [names[name] ?? name, value]);
  return Object.fromEntries(entries) as Record<string, unknown>; // entries lose their types
}

/** Who answers `null` or an empty string for no value takes it back as no value. */
function withoutUnset(
  body: Record<string, unknown>,
  endpoint: string,
  unset: MessagingBehavior['unset'],
): Record<string, unknown> {
  if (unset === 'missing') {
    return body;
  }
  const optional = optionalFields(endpoint);
  const isUnset = (name: string, value: unknown) =>
    value === null ? unset === 'null' || objectFields.has(name) : unset === 'empty' && value === '';
  const kept = Object.entries(body).filter(
    ([name, value]) => !(optional.includes(name) && isUnset(name, value)),
  );
  return Object.fromEntries(kept);
}
