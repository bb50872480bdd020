import type { DataOptions } from '../../core/types.js';
import { isRecord } from '../../core/values.js';
import { toJsonValue } from '../../core/call/body.js';

/** The fields of a returned record that are not sent back to the service. */
interface BodyRules {
  /** Fields that only responses have. */
  readonly answerOnly: readonly string[];
  /** Fields that are left out if they are `null`; `'all'` if `null` and a missing field mean the same. */
  readonly dropNull?: readonly string[] | 'all';
  /** Fields that are left out if they are `''`: some services use it for fields that are not set. */
  readonly dropEmpty?: readonly string[];
  /** Fields that are left out of a returned record if they are `null` or `''`, which means not set. */
  readonly dropUnset?: readonly string[];
}

/** Makes a request body of a record that a method returned, without the fields that only responses have. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the row's own body
export function toRequestBody<Body>(body: unknown, back: BodyRules): Body {
  const given = body as Body; // an invalid body is rejected later, when the call is built
  if (!isRecord(body)) {
    return given;
  }
  const fields = Object.entries(fieldsOf(body));
  const unset = isServiceRecord(body) ? (back.dropUnset ?? []) : [];
  const isUnset = (name: string, value: unknown) =>
    unset.includes(name) && (value === null || value === '');
  const kept = fields.filter(
    ([name, value]) => !isUnset(name, value) && !isDropped(name, value, back),
  );
  return kept.length === fields.length ? given : (Object.fromEntries(kept) as Body);
}

/** Whether this is a record that a method returned. */
export function isServiceRecord(body: unknown): boolean {
  return isRecord(body) && body['id'] !== undefined;
}

/** Replaces empty strings in `data` by `null`, which deletes the fields, if `emptyString` is `'delete'`. */
export function withEmptyDeleted<Body>(body: Body, { emptyString }: DataOptions): Body {
  if (emptyString !== 'delete' || !isRecord(body)) {
    return body;
  }
  const given = fieldsOf(body);
  const fields = toWireFields(given['data']);
  if (!isRecord(fields)) {
    return body; // the call rejects it, with the name of the field, when its request body is built
  }
  const entries = Object.entries(fields).map(([key, value]) => [key, value === '' ? null : value]);
  return { ...given, data: Object.fromEntries(entries) as unknown } as Body; // only `data` has changed
}

/** Returns the fields of an object as they are sent: an object with `toJSON` is sent as its return value. */
export function fieldsOf(body: Record<string, unknown>): Record<string, unknown> {
  const { toJSON } = body;
  const json: unknown = typeof toJSON === 'function' ? toJSON.call(body) : body;
  return isRecord(json) ? json : body;
}

// As `fieldsOf()`, at any depth. Returns `undefined` if a value cannot be converted.
function toWireFields(data: unknown): unknown {
  try {
    return toJsonValue(data);
  } catch {
    return undefined;
  }
}

function isDropped(
  name: string,
  value: unknown,
  { answerOnly, dropNull = [], dropEmpty = [] }: BodyRules,
): boolean {
  if (answerOnly.includes(name)) {
    return true;
  }
  if (value === null) {
    return dropNull === 'all' || dropNull.includes(name);
  }
  return value === '' && dropEmpty.includes(name);
}
