import { isRecord } from '../../core/values.js';
import type { Wire } from '../core/service.js';
import { enveloped, encodeBody, withOwnIds, asJson } from '../wire/answer.js';
import { cutRefusal, errorAnswer } from '../wire/errors.js';
import type { FakeAnswer, FakeRequest } from '../core/types.js';
import type { MessagingBehavior } from '../behavior/messaging.js';
import type { MessagingWorld } from './state.js';
import { isList, isShown, isSilent, objectFields, optionalFields } from './shown.js';

/** Translates between the handlers, which follow the document, and the wire format of this world. */
export function messagingWire(world: () => MessagingWorld): Wire {
  const settings = () => world().settings;
  return {
    request: (request, endpoint) =>
      decodeRequest(withOwnIds(request, world().ids, settings().ids), endpoint, settings()),
    answer(answer, endpoint) {
      const shaped = applySettings(answer, endpoint, settings());
      const body = encodeBody(shaped.body, settings(), world().ids);
      return enveloped({ ...shaped, body }, settings());
    },
    refusal: (refusal, { path }, requestId) =>
      errorAnswer(settings(), {
        refusal,
        requestId,
        now: world().clock.now(),
        isLegacy: path === '/v1/send' || path === '/v1/verify',
      }),
    deliver: (response) => cutRefusal(response, settings()),
  };
}

/** Converts a handler's response to the form of this world. */
function applySettings(
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
function decodeRequest(
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
