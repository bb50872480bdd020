import type { FakeAnswer } from '../../core/types.js';
import { asJson, isObject } from '../../wire/json.js';
import type { MessagingBehavior } from '../../behavior/messaging.js';
import { isList, isShown, isSilent, objectFields, optionalFields } from './shown.js';

/** An answer of a handler as a service of this world would give it. */
export function inWorld(
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

type Fields = Record<string, unknown>;

/** Changes the records of an answer: the answer itself, or what its envelope holds. */
function eachRecord(body: unknown, change: (record: Fields) => Fields): unknown {
  if (Array.isArray(body)) {
    return body.map((item: unknown) => (isObject(item) ? change(item) : item));
  }
  if (!isObject(body)) {
    return body;
  }
  if (body.success === true && 'data' in body) {
    return { ...body, data: eachRecord(body.data, change) };
  }
  return change(body);
}

/** The same for the items of a list, under whichever name. */
function eachItem(body: unknown, change: (record: Fields) => Fields): unknown {
  if (!isObject(body)) {
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
  if (behavior.emptyData !== 'object' && isObject(data) && Object.keys(data).length === 0) {
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
