import { isRecord } from '../../core/values.js';
import type { FieldError } from './http.js';

/** What is wrong with a value, as the rest of a sentence about its field. */
export interface Complaint {
  readonly message: string;
  readonly code: string;
  /** The part of the value that is wrong, e.g. `.name` or `[0]`. @default the whole value */
  readonly at?: string;
}

/** One row of a table of fields. */
export interface Rule<Value = unknown> {
  readonly check: (value: unknown) => readonly Complaint[];
  readonly isRequired?: boolean;
  readonly default?: Value;
}

/** A table of fields, by their names on the wire. */
export type Rules = Readonly<Record<string, Rule>>;

type ValueOf<Row> = Row extends Rule<infer Value> ? Value : never;
type Always = { readonly isRequired: true } | { readonly default: unknown };

/** The fields of a body that a table allows. */
export type FieldsOf<Table extends Rules> = {
  [Name in keyof Table as Table[Name] extends Always ? Name : never]: ValueOf<Table[Name]>;
} & {
  [Name in keyof Table as Table[Name] extends Always ? never : Name]?: ValueOf<Table[Name]>;
};

/** Rules between fields. Called with the fields that satisfy their own rules. */
export type Between<Table extends Rules> = (fields: Partial<FieldsOf<Table>>) => FieldError[];

/** Reads the fields of a table out of a body, with the defaults filled in. Other fields are ignored. */
export function checkFields<Table extends Rules>(
  rules: Table,
  body: Readonly<Record<string, unknown>>,
  between: Between<Table> = () => [],
): { fields: FieldsOf<Table>; errors: FieldError[] } {
  const fields: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const [name, rule] of Object.entries(rules)) {
    const value = body[name];
    const isMissing = value === undefined || (value === null && rule.isRequired === true);
    const complaints = isMissing ? missing(rule) : rule.check(value);
    for (const { at = '', message, code } of complaints) {
      errors.push({ field: name + at, message, code });
    }
    const kept = isMissing ? rule.default : value;
    if (complaints.length === 0 && kept !== undefined) {
      fields[name] = kept;
    }
  }
  const checked = fields as FieldsOf<Table>; // as the rules have checked, unless there are errors
  const isNew = ({ field }: FieldError) => errors.every((error) => error.field !== field);
  errors.push(...between(checked).filter(isNew));
  return { fields: checked, errors };
}

function missing({ isRequired }: Rule): Complaint[] {
  return isRequired === true ? wrong('is required.', 'required') : [];
}

/** One complaint about a whole value. */
export const wrong = (message: string, code = 'invalid_value'): Complaint[] => [{ message, code }];

/** The rule, for a required field. */
export function required<Value>(rule: Rule<Value>): Rule<Value> & { readonly isRequired: true } {
  return { ...rule, isRequired: true };
}

/** The rule, for a field with a default. */
export function optional<Value>(
  rule: Rule<Value>,
  value: Value,
): Rule<Value> & { readonly default: Value } {
  return { ...rule, default: value };
}

/** A value of a type, perhaps with a further check. */
function typed<Value>(
  form: string,
  is: (value: unknown) => value is Value,
  check: (value: Value) => readonly Complaint[] = () => [],
): Rule<Value> {
  return {
    check: (value) => (is(value) ? check(value) : wrong(`must be ${form}.`, 'invalid_type')),
  };
}

const isText = (value: unknown) => typeof value === 'string';

export const anything: Rule = { check: () => [] };
export const text = typed('a string', isText);
export const flag = typed('a boolean', (value) => typeof value === 'boolean');
export const record = typed('an object', isRecord);

/** A text of 1 to `max` characters. */
export const filled = (max = Infinity): Rule<string> =>
  typed('a string', isText, (value) => {
    if (value === '') {
      return wrong('must not be empty.', 'too_short');
    }
    return value.length > max && Array.from(value).length > max
      ? wrong(`must have at most ${max} characters.`, 'too_long')
      : [];
  });

export const email: Rule<string> = typed('a string', isText, (value) =>
  isEmail(value) ? [] : wrong('must be an email address.', 'invalid_format'),
);

/** Email format as a service checks it: one @, no blanks, a domain with a dot. */
export function isEmail(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= 254 &&
    /^[^\s@<>(),;:"[\]\\]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value)
  );
}

export const webAddress: Rule<string> = typed('a string', isText, (value) =>
  /^https?:/.test(value) && URL.canParse(value) ? [] : wrong('must be a public URL.'),
);

export const oneOf = (...values: readonly string[]): Rule<string> =>
  typed('a string', isText, (value) =>
    values.includes(value) ? [] : wrong(`must be one of ${values.join(', ')}.`),
  );

export const numberFrom = (low: number, high: number): Rule<number> => {
  const isNumber = (value: unknown) => typeof value === 'number';
  const form = `a number from ${low} to ${high}`;
  return typed(form, isNumber, (value) =>
    value >= low && value <= high ? [] : wrong(`must be ${form}.`),
  );
};

/** The rule, which `null` satisfies too. */
export const orNull = <Value>(rule: Rule<Value>): Rule<Value | null> => ({
  check: (value) => (value === null ? [] : rule.check(value)),
});

/** An array of at most `max` items. A complaint about an item is at the item's index. */
export const listOf = <Value>(item: Rule<Value>, max = Infinity): Rule<readonly Value[]> => ({
  check(values) {
    if (!Array.isArray(values)) {
      return wrong('must be an array.', 'invalid_type');
    }
    const length = values.length > max ? wrong(`takes at most ${max} items.`, 'too_many') : [];
    const items = values.flatMap((value, index) =>
      item.check(value).map(({ at = '', ...rest }) => ({ at: `[${index}]${at}`, ...rest })),
    );
    return [...length, ...items];
  },
});

/** An array of at most `max` strings. */
export const texts = (max = Infinity): Rule<readonly string[]> =>
  typed('an array of strings', isTexts, (values) =>
    values.length > max ? wrong(`takes at most ${max} items.`, 'too_many') : [],
  );

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);
