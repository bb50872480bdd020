import type { DataOptions } from '../../core/types.js';
import { isRecord } from '../../core/values.js';
import { wireValue } from '../../core/body.js';

/** Which fields of a record do not go back to the service. */
interface BodyRules {
  /** Fields that only answers have. */
  readonly answerOnly: readonly string[];
  /** Fields that are left out when they are `null`; `'all'` where leaving out means the same. */
  readonly dropNull?: readonly string[] | 'all';
  /** Fields that are left out when they are `''`: some services spell unset fields that way. */
  readonly dropEmpty?: readonly string[];
  /** Fields that are left out of a returned record when it spells them `null` or `''`: unset. */
  readonly dropUnset?: readonly string[];
}

/** Makes a body of a record that a method returned: without what only answers have. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the row's own body
export function toRequestBody<Body>(body: unknown, back: BodyRules): Body {
  const given = body as Body; // fewer of its fields are left, or it is refused later
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

/** Is this a record that a method returned? */
export function isServiceRecord(body: unknown): boolean {
  return isRecord(body) && body['id'] !== undefined;
}

/** Turns empty strings in `data` into `null`, which deletes the fields, where that is wanted. */
export function withEmptyDeleted<Body>(body: Body, { emptyString }: DataOptions): Body {
  if (emptyString !== 'delete' || !isRecord(body)) {
    return body;
  }
  const given = fieldsOf(body);
  const fields = wireFields(given['data']);
  if (!isRecord(fields)) {
    return body; // refused, with its place, when the call is built
  }
  const entries = Object.entries(fields).map(([key, value]) => [key, value === '' ? null : value]);
  return { ...given, data: Object.fromEntries(entries) as unknown } as Body; // the same but for its data
}

/** The fields of an object as they are sent: an entity is what its `toJSON` returns, not its own fields. */
export function fieldsOf(body: Record<string, unknown>): Record<string, unknown> {
  const { toJSON } = body;
  const json: unknown = typeof toJSON === 'function' ? toJSON.call(body) : body;
  return isRecord(json) ? json : body;
}

// The same, and what is inside of them.
function wireFields(data: unknown): unknown {
  try {
    return wireValue(data);
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
