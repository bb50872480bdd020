import { isRecord } from '../../core/values.js';
import type { Refusal } from '../core/http.js';
import type { Wire } from '../core/service.js';
import { enveloped, written, withOwnIds, asJson, mapJson } from '../wire/answer.js';
import { delivery } from '../wire/delivery.js';
import { errorAnswer } from '../wire/errors.js';
import type { FakeAnswer, FakeRequest } from '../core/types.js';
import type { MessagingBehavior } from '../behavior/messaging.js';
import type { MessagingSettings } from './settings.js';
import type { MessagingWorld } from './state.js';
import { isList, isShown, isSilent, objectFields, optionalFields } from './shown.js';

/** What lies between the handlers, which keep to the document, and the wire of this world. */
export function messagingWire(world: () => MessagingWorld): Wire {
  const settings = () => world().settings;
  return {
    request: (request, endpoint) =>
      understood(
        withOwnWords(withOwnIds(request, world().ids, settings().ids), endpoint, settings()),
        endpoint,
        settings(),
      ),
    answer(answer, endpoint) {
      const shaped = inWorld(answer, endpoint, settings());
      const worded = withWords(shaped.body, endpoint, settings());
      const body = written(worded, settings(), world().ids);
      return enveloped({ ...shaped, body }, settings());
    },
    refusal: (refusal, { path }, requestId) =>
      errorAnswer(settings(), {
        refusal: withStatus(refusal, settings()),
        requestId,
        now: world().clock.now(),
        isLegacy: path === '/v1/send' || path === '/v1/verify',
      }),
    deliver: delivery(settings),
  };
}

/** The status of what the document forbids without naming one. */
function withStatus(refusal: Refusal, settings: MessagingSettings): Refusal {
  const statuses: Readonly<Record<string, number>> = {
    VALIDATION_ERROR: settings.invalidStatus,
    PUBLIC_KEY: settings.publicKeyStatus,
  };
  const status = statuses[refusal.code];
  return status === undefined ? refusal : refusal.withStatus(status);
}

/** An answer of a handler as a service of this world would give it. */
function inWorld(answer: FakeAnswer, endpoint: string, behavior: MessagingBehavior): FakeAnswer {
  if (isSilent(endpoint)) {
    return acknowledged(answer, behavior.acknowledgements);
  }
  const status = answer.status === 201 ? behavior.created : answer.status;
  const { unset, emptyData, openFields } = behavior;
  if (unset === 'missing' && emptyData === 'object' && openFields === 'ours') {
    return { ...answer, ...(status !== undefined && { status }) };
  }
  const each = isList(endpoint) ? eachItem : eachRecord;
  const body = each(asJson(answer.body), (record) => reshaped(record, endpoint, behavior));
  return { ...answer, ...(status !== undefined && { status }), body };
}

const acknowledgements: Readonly<Record<string, FakeAnswer>> = {
  success: { body: { success: true } },
  empty: { status: 200 },
  'no-content': { status: 204 },
  true: { body: true },
};

function acknowledged(
  answer: FakeAnswer,
  style: MessagingBehavior['acknowledgements'],
): FakeAnswer {
  const { headers } = answer;
  const plain = acknowledgements[style];
  return plain === undefined ? answer : { ...plain, ...(headers && { headers }) };
}

type Fields = Record<string, unknown>;

/** Changes the records of an answer: the answer itself, or what its envelope holds. */
function eachRecord(body: unknown, change: (record: Fields) => Fields): unknown {
  if (Array.isArray(body)) {
    return body.map((item: unknown) => (isRecord(item) ? change(item) : item));
  }
  if (!isRecord(body)) {
    return body;
  }
  if (body.success === true && 'data' in body) {
    return { ...body, data: eachRecord(body.data, change) };
  }
  return change(body);
}

/** The same for the items of a list, under whichever name. */
function eachItem(body: unknown, change: (record: Fields) => Fields): unknown {
  if (!isRecord(body)) {
    return eachRecord(body, change);
  }
  const entries = Object.entries(body).map(([name, value]) => [
    name,
    Array.isArray(value) ? eachRecord(value, change) : value,
  ]);
  return Object.fromEntries(entries);
}

function reshaped(record: Fields, endpoint: string, behavior: MessagingBehavior): Fields {
  const nested = Object.entries(record).map(([name, value]) => [
    name,
    isGraph.has(name) ? eachRecord(value, (part) => reshaped(part, endpoint, behavior)) : value,
  ]);
  const whole = Object.fromEntries(nested) as Fields; // entries lose their types
  const filled = 'id' in record ? withUnset(whole, optionalFields(endpoint), behavior) : whole;
  return behavior.openFields === 'ours' ? filled : onlyShown(filled, endpoint);
}

const isGraph = new Set(['steps', 'transitions', 'outgoingTransitions', 'incomingTransitions']);

/** Optional fields without a value, and custom fields that were not set. */
function withUnset(record: Fields, names: readonly string[], behavior: MessagingBehavior): Fields {
  const result = { ...record };
  for (const name of names) {
    if (behavior.unset !== 'missing' && result[name] === undefined) {
      result[name] = behavior.unset === 'null' || objectFields.has(name) ? null : '';
    }
  }
  const { data } = result;
  if (behavior.emptyData !== 'object' && isRecord(data) && Object.keys(data).length === 0) {
    result.data = null;
    if (behavior.emptyData === 'missing') {
      delete result.data;
    }
  }
  return result;
}

function onlyShown(record: Fields, endpoint: string): Fields {
  const entries = Object.entries(record).filter(([name]) => isShown(endpoint, name));
  return Object.fromEntries(entries);
}

/** A request as the handlers know it, from what a service of this world takes. */
export function understood(
  request: FakeRequest,
  endpoint: string,
  behavior: MessagingBehavior,
): FakeRequest {
  if (!isRecord(request.body)) {
    return request;
  }
  const named =
    behavior.requestNames === 'other' ? withOurNames(request.body, endpoint) : request.body;
  return { ...request, body: withoutUnset(named, endpoint, behavior.unset) };
}

/** What such a service calls the fields that the document does not show. */
const otherNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
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

/** An answer with the states and types that the document does not show, in this world's words. */
function withWords(body: unknown, endpoint: string, behavior: MessagingBehavior): unknown {
  const { stateWords, eventNames } = behavior;
  if (stateWords === 'upper' && eventNames === 'dotted') {
    return body;
  }
  return mapJson(asJson(body), (value, name) => {
    const kind = kindOf(endpoint, name);
    return kind === undefined || typeof value !== 'string' ? value : say(value, kind, behavior);
  });
}

/** The same words in the filters of a query, as the handlers know them. */
function withOwnWords(
  request: FakeRequest,
  endpoint: string,
  behavior: MessagingBehavior,
): FakeRequest {
  const query = new URLSearchParams();
  for (const [name, value] of request.query) {
    const kind = kindOf(endpoint, name);
    query.append(name, kind === undefined ? value : ownWord(value, kind, behavior));
  }
  return { ...request, query };
}

type Kind = 'state' | 'event';

function kindOf(endpoint: string, name: string): Kind | undefined {
  if (name === 'status' && /\/(campaigns|workflows|activity|analytics)/.test(endpoint)) {
    return 'state';
  }
  return /^types?$/.test(name) && endpoint.startsWith('GET /activity') ? 'event' : undefined;
}

function say(word: string, kind: Kind, behavior: MessagingBehavior): string {
  if (kind === 'state') {
    return stateWord(word, behavior.stateWords);
  }
  return behavior.eventNames === 'snake_case' ? word.replaceAll('.', '_') : word;
}

/** Only the states beyond those that the document names. */
function stateWord(word: string, style: MessagingBehavior['stateWords']): string {
  const other = others[word];
  if (other === undefined || style === 'upper') {
    return word;
  }
  return style === 'lower' ? word.toLowerCase() : other;
}

const others: Readonly<Record<string, string | undefined>> = {
  SENT: 'DELIVERED',
  CANCELLED: 'CANCELED',
  RUNNING: 'ACTIVE',
  WAITING: 'PAUSED',
  COMPLETED: 'DONE',
  FAILED: 'ERROR',
};

const eventTypes = [
  'event.tracked',
  'email.sent',
  'email.opened',
  'email.clicked',
  'email.bounced',
];

function ownWord(value: string, kind: Kind, behavior: MessagingBehavior): string {
  const known = kind === 'state' ? Object.keys(others) : eventTypes;
  return known.find((word) => say(word, kind, behavior) === value) ?? value;
}
