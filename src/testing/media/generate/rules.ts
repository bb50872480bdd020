import { Refusal } from '../../core/http/refusal.js';

/** What is wrong with a value, as the rest of a sentence; `undefined` when nothing is. */
type Check = (value: unknown) => string | undefined;

/** One row of a table of fields. */
export interface Rule {
  readonly check: Check;
  readonly isRequired?: boolean;
  readonly default?: unknown;
}

/** A table of fields, by their names on the wire. */
export type Rules = Readonly<Record<string, Rule>>;

/** The fields of a body. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reads the fields of a table out of a body, with the defaults filled in. Other fields are ignored. */
export function readFields(rules: Rules, body: unknown, place = ''): Fields {
  const given = asObject(body, place);
  const fields: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = given[name];
    if (value === undefined && rule.isRequired) {
      refuse(`${place}${name} is required.`);
    }
    const complaint = value === undefined ? undefined : rule.check(value);
    if (complaint !== undefined) {
      refuse(`${place}${name} ${complaint}.`);
    }
    const kept = value === undefined ? rule.default : value;
    if (kept !== undefined) {
      fields[name] = kept;
    }
  }
  return fields;
}

/** The document shows no status for rejections: 400. */
export function refuse(message: string): never {
  throw new Refusal(400, 'BAD_REQUEST', message);
}

function asObject(body: unknown, place: string): Fields {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isObject) {
    refuse(`${place === '' ? 'The body' : place.slice(0, -1)} must be an object.`);
  }
  return { ...body };
}

export const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a text that is not empty';

export const textOrNull: Check = (value) => (value === null ? undefined : text(value));

export const textUpTo =
  (limit: number): Check =>
  (value) =>
    typeof value === 'string' && Array.from(value).length > limit
      ? `must have at most ${limit} characters`
      : text(value);

export const flag: Check = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false';

export const numberFrom =
  (low: number, high: number): Check =>
  (value) =>
    typeof value === 'number' && value >= low && value <= high
      ? undefined
      : `must be a number from ${low} to ${high}`;

export const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.some((allowed) => allowed === value) ? undefined : `must be ${values.join(' or ')}`;

export const webAddress: Check = (value) =>
  typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value)
    ? undefined
    : 'must be a public URL';

export const listOf =
  (item: Check, limit = Infinity): Check =>
  (value) => {
    if (!Array.isArray(value)) {
      return 'must be an array';
    }
    if (value.length > limit) {
      return `must have at most ${limit} items`;
    }
    const complaint = value.map(item).find((found) => found !== undefined);
    return complaint && `has an item that ${complaint}`;
  };
