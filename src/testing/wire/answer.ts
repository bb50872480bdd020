import { isRecord } from '../../core/values.js';
import type { FakeAnswer, FakeRequest } from '../core/types.js';
import type { BehaviorOf } from '../behavior/setting.js';
import type { sharedBehaviors } from '../behavior/shared.js';
import type { Ids, IdStyle } from '../core/ids.js';

/** The behavior that both services share. */
export type SharedBehavior = BehaviorOf<typeof sharedBehaviors>;

/** Writes the ids and additional fields of a response as the settings say. */
export function encodeBody(body: unknown, behavior: SharedBehavior, ids: Ids): unknown {
  if (behavior.ids === 'text' && behavior.extraFields === 'none') {
    return body;
  }
  const grown = withExtras(asJson(body), behavior.extraFields);
  return mapJson(grown, (value, name) =>
    typeof value === 'string' && !keepsText.test(name) ? ids.toWire(value, behavior.ids) : value,
  );
}

/** Wraps a response in the envelope, or unwraps it; a documented envelope stays. */
export function enveloped(
  answer: FakeAnswer,
  { envelopes }: Pick<SharedBehavior, 'envelopes'>,
): FakeAnswer {
  const { body } = answer;
  if (envelopes === 'documented' || body === undefined) {
    return answer;
  }
  const isEnveloped = isRecord(body) && body.success === true;
  if (envelopes === 'always') {
    return isEnveloped ? answer : { ...answer, body: { success: true, data: body } };
  }
  return isEnveloped && 'data' in body ? { ...answer, body: body.data } : answer;
}

/** The names of keys, addresses and times: their values are not ids. */
const keepsText = /key$|^token$|^url$|^download$|At$|_at$|^timestamp$/i;

/** Simulates a later version of the service, whose records have additional fields. */
function withExtras(body: unknown, style: SharedBehavior['extraFields']): unknown {
  if (style === 'none') {
    return body;
  }
  if (Array.isArray(body)) {
    return body.map((item: unknown) => withExtras(item, style));
  }
  if (!isRecord(body)) {
    return body;
  }
  // Do not extend the `data` of an envelope or a list: it belongs to the service.
  const isResource = 'id' in body || 'email' in body;
  const entries = Object.entries(body).map(([name, value]) => [
    name,
    isResource && isFree.has(name) ? value : withExtras(value, style),
  ]);
  const grown = Object.fromEntries(entries) as Record<string, unknown>; // entries lose their types
  return { ...grown, ...(style === 'flat' ? flat : nested) };
}

/** Fields that the caller wrote; they are returned unchanged. */
const isFree = new Set(['data', 'condition', 'audienceFilter', 'config', 'context', 'settings']);
const flat = { objectVersion: 7 };
const nested = {
  links: { self: { href: '/somewhere' } },
  objectVersion: { major: 1, minor: null },
};

/** Converts every id of a request to the world's form. */
export function withOwnIds(request: FakeRequest, ids: Ids, style: IdStyle): FakeRequest {
  if (style === 'text') {
    return request;
  }
  const own = (value: unknown) => ids.fromWire(value, style);
  const query = new URLSearchParams();
  for (const [name, value] of request.query) {
    query.append(name, isIdName(name) ? String(own(value)) : value);
  }
  const params = Object.entries(request.params).map(([name, value]) => [
    name,
    isIdName(name) ? String(own(value)) : value,
  ]);
  return {
    ...request,
    query,
    params: Object.fromEntries(params) as Record<string, string>, // entries lose their types
    body: mapJson(request.body, (value, name) => (isIdName(name) ? own(value) : value)),
  };
}

/** The names that ids go by in paths, queries and bodies; items of a list have the list's name. */
const isIdName = (name: string) => /^ids?$|Ids?$|^template$/.test(name);

/** A copy of a JSON value with each text, number, boolean and null replaced; items have the name of their list. */
export function mapJson(
  value: unknown,
  change: (leaf: unknown, name: string) => unknown,
  name = '',
): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => mapJson(item, change, name));
  }
  if (typeof value !== 'object' || value === null) {
    return change(value, name);
  }
  const entries = Object.entries(value).map(([key, part]) => [key, mapJson(part, change, key)]);
  return Object.fromEntries(entries);
}

/** Converts a value as JSON would: without `undefined`, with instances as plain objects. */
export function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
