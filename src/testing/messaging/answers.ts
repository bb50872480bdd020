import { isRecord } from '../../core/values.js';
import { asJson } from '../core/wire.js';
import type { FakeAnswer, FakeRequest } from '../core/types.js';
import table from '../endpoints.json' with { type: 'json' };
import type { MessagingBehavior } from './settings.js';

/** Converts a handler's response to the form of this world. */
export function encodeAnswer(
  answer: FakeAnswer,
  endpoint: string,
  behavior: MessagingBehavior,
): FakeAnswer {
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

type RecordFields = Record<string, unknown>;

/** Changes the records of a response: the body itself, or the content of its envelope. */
function eachRecord(body: unknown, change: (record: RecordFields) => RecordFields): unknown {
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

/** Changes the items of a list, whatever the name of the list. */
function eachItem(body: unknown, change: (record: RecordFields) => RecordFields): unknown {
  if (!isRecord(body)) {
    return eachRecord(body, change);
  }
  const entries = Object.entries(body).map(([name, value]) => [
    name,
    Array.isArray(value) ? eachRecord(value, change) : value,
  ]);
  return Object.fromEntries(entries);
}

function reshaped(
  record: RecordFields,
  endpoint: string,
  behavior: MessagingBehavior,
): RecordFields {
  const nested = Object.entries(record).map(([name, value]) => [
    name,
    isGraph.has(name) ? eachRecord(value, (part) => reshaped(part, endpoint, behavior)) : value,
  ]);
  const whole = Object.fromEntries(nested) as RecordFields; // entries lose their types
  const filled = 'id' in record ? withUnset(whole, optionalFields(endpoint), behavior) : whole;
  return behavior.openFields === 'ours' ? filled : onlyShown(filled, endpoint);
}

const isGraph = new Set(['steps', 'transitions', 'outgoingTransitions', 'incomingTransitions']);

/** Optional fields without a value, and custom fields that were not set. */
function withUnset(
  record: RecordFields,
  names: readonly string[],
  behavior: MessagingBehavior,
): RecordFields {
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

function onlyShown(record: RecordFields, endpoint: string): RecordFields {
  const entries = Object.entries(record).filter(([name]) => isShown(endpoint, name));
  return Object.fromEntries(entries);
}

/** Turns a request into the form that the handlers read. */
export function decodeRequest(
  request: FakeRequest,
  endpoint: string,
  behavior: MessagingBehavior,
): FakeRequest {
  return isRecord(request.body)
    ? { ...request, body: withoutUnset(request.body, endpoint, behavior.unset) }
    : request;
}

/**
 * Removes `null` and empty strings that stand for no value: a service that returns them also accepts them.
 */
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

/** The response fields that the messaging document shows, or that a caller needs in any case. */
const contact = ['id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt', '_meta'];
const job = ['jobId', 'status', 'state', 'progress', 'result', 'failedReason'];
const campaign = [
  'id',
  'name',
  'description',
  'subject',
  'body',
  'from',
  'fromName',
  'replyTo',
  'audienceType',
  'segmentId',
  'audienceFilter',
  'status',
  'scheduledAt',
  'type',
];
const segment = [
  'id',
  'type',
  'name',
  'description',
  'condition',
  'trackMembership',
  'memberCount',
];
const graph = ['steps', 'transitions', 'outgoingTransitions', 'incomingTransitions'];
const workflow = ['id', 'triggerType', 'enabled', 'allowReentry', ...graph];
const account = ['id', 'secretKey', 'publicKey'];

/** By the first part of the path. */
const shown: Readonly<Record<string, readonly string[]>> = {
  contacts: [...contact, ...job, 'fields', 'field', 'type', 'isCustom', 'coverage'],
  templates: ['id', 'name', 'subject', 'body', 'type', 'createdAt', 'from'],
  campaigns: campaign,
  segments: [...segment, ...contact],
  workflows: [...workflow, 'type', 'branch', 'contactId', 'status'],
  events: ['id', 'contact', 'event', 'timestamp', 'names'],
  domains: ['id', 'status'],
  activity: ['id'],
  analytics: [],
  uploads: ['url'],
  config: [],
  auth: account,
  users: account,
  projects: [...account, 'userId'],
};

/** Optional fields that a record may have no value for, by the first part of the path. */
const optional: Readonly<Record<string, readonly string[]>> = {
  templates: ['from', 'fromName', 'replyTo'],
  campaigns: ['description', 'fromName', 'replyTo', 'segmentId', 'audienceFilter'],
  segments: ['description', 'condition'],
  workflows: ['description', 'name', 'branch'],
};

/** Objects have no empty string for a value. */
const objectFields: ReadonlySet<string> = new Set(['audienceFilter', 'condition']);

/**
 * True if the document shows this field in the responses of this endpoint. The public API is shown
 * completely.
 */
function isShown(endpoint: string, field: string): boolean {
  const names = shown[roomOf(endpoint)];
  return names === undefined || names.includes(field);
}

/** The optional fields of the records of this endpoint. */
function optionalFields(endpoint: string): readonly string[] {
  return optional[roomOf(endpoint)] ?? [];
}

/** True if the response of this endpoint is a list. */
function isList(endpoint: string): boolean {
  return lists.has(endpoint);
}

const lists = new Set(
  table.filter((row) => 'list' in row).map(({ method, path }) => `${method} ${path}`),
);

const roomOf = (endpoint: string) => /\/([\w-]+)/.exec(endpoint)?.[1] ?? '';

/** True for changes whose response the document does not show: no client could use it. */
function isSilent(endpoint: string): boolean {
  return endpoint.startsWith('DELETE ') || silent.has(endpoint);
}

const silent: ReadonlySet<string> = new Set([
  'PATCH /templates/{id}',
  'PUT /campaigns/{id}',
  'POST /campaigns/{id}/send',
  'POST /campaigns/{id}/cancel',
  'POST /campaigns/{id}/test',
  'PATCH /segments/{id}',
  'POST /segments/{id}/members',
  'POST /segments/{id}/compute',
  'POST /segments/{id}/refresh',
  'PATCH /workflows/{id}',
  'PATCH /workflows/{id}/steps/{stepId}',
  'POST /workflows/{id}/executions/cancel-all',
  'GET /auth/logout',
  'POST /auth/verify-email',
  'POST /auth/request-verification',
  'POST /auth/request-password-reset',
  'POST /auth/reset-password',
  'PATCH /users/@me/projects/{id}',
  'PUT /users/@me/projects/{id}/billing-limits',
  'POST /users/@me/projects/{id}/reset',
  'PATCH /projects/{id}/members/{userId}',
]);
