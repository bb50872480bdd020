import { type FieldObject, type OpenInput, type OpenRecord, isRecord } from '../../core/values.js';
import { invalidRequest } from '../../core/errors.js';
import { findSimilar } from '../../core/typos.js';

/** One comparison of a field with a value. */
export interface FilterElement {
  /** A standard field by its name, a custom field as `data.<key>`. */
  field: StandardField | `data.${string}` | `${string}.${string}`;
  /** `within` and `olderThan` need a field that holds full ISO 8601 strings. */
  operator: 'equals' | 'greaterThan' | 'within' | 'olderThan' | (string & {});
  value: string | number;
  /** The unit of `value` when it is a duration. */
  unit?: 'days' | (string & {}) | undefined;
}

/** A group of comparisons, in any structure. The service does not document its fields. */
export interface FilterGroup extends OpenRecord {
  /** One comparison has a field; a group has comparisons. */
  field?: never;
}

/** Selects contacts: one comparison, or a group of comparisons that the service accepts. */
export type Filter = FilterElement | FilterGroup;

/** A filter to send, with the custom fields that the client was given. */
export type FilterInput<Fields extends object = object> = [keyof Fields] extends [never]
  ? Filter | (FieldObject & { readonly field?: never })
  : FieldFilter<Fields> | StandardFilter | BuiltFilter | FilterStructure;

type FilterStructure = OpenInput & { readonly field?: never };

declare const built: unique symbol;

/** One comparison that `where()` has made and checked. */
export interface BuiltFilter extends FilterElement {
  field: CheckedField;
  /** A mark that exists only in the type, not at run time. */
  readonly [built]: true;
}

/** A field that `where()` has checked. No text has this type: the compiler's messages then list the client's fields. */
type CheckedField = FilterElement['field'] & { readonly [built]: true };

/** A filter that the service returned. */
export type StoredFilter<Fields extends object = object> = [keyof Fields] extends [never]
  ? Filter
  : FilterInput<Fields>;

/** One comparison of a custom field, with a value of the field's type. */
type FieldFilter<Fields extends object> = {
  [Key in keyof Fields & string]: {
    field: `data.${Key}`;
    /** `within` and `olderThan` need a field that holds full ISO 8601 strings. */
    operator: FilterOperator;
    value: Comparable<Fields[Key]>;
    /** The unit of `value` when it is a duration. */
    unit?: FilterUnit | undefined;
  };
}[keyof Fields & string];

/** One comparison of a field that every contact has. */
export interface StandardFilter extends FilterElement {
  field: StandardField;
}

/** The fields that every contact has. */
type StandardField = 'id' | 'email' | 'subscribed' | 'createdAt' | 'updatedAt';

/** How a field is compared. The service does not document every operator. */
export type FilterOperator = FilterElement['operator'];

/** The unit of a duration. The service does not document every unit. */
export type FilterUnit = NonNullable<FilterElement['unit']>;

// Dates are compared with a number of days, or with an ISO 8601 string.
type Comparable<Value> = Value extends Date ? string | number : Value;

// The types below that are not exported are aliases, because declarations of users cannot name them: an alias is
// replaced by its structure there.

/** The fields that every contact has, with the types of their values. */
type StandardFields = {
  email: string;
  subscribed: boolean;
  createdAt: Date;
  updatedAt: Date;
};

/** The comparisons that a field's type allows. */
export type Comparisons<Value> = EqualsComparison<Value> &
  OrderComparison<Value> &
  AgeComparison<Value> &
  OtherComparison;

/** Compares for equality. Dates have no such comparison, because two dates are hardly ever equal. */
type EqualsComparison<Value> = [Value] extends [Date]
  ? unknown
  : {
      /** The field has this value. */
      equals(value: Extract<Value, string | number | boolean>): BuiltFilter;
    };

/** Compares numbers. */
type OrderComparison<Value> = [Extract<Value, number>] extends [never]
  ? unknown
  : {
      /** The field is a number above this one. */
      greaterThan(value: number): BuiltFilter;
    };

/** Compares dates with the present. */
type AgeComparison<Value> = [Extract<Value, Date>] extends [never]
  ? unknown
  : {
      /** The field is a date within the last `value` days, or another unit of the service. */
      within(value: number, unit: FilterUnit): BuiltFilter;
      /** The field is a date more than `value` days ago, or another unit of the service. */
      olderThan(value: number, unit: FilterUnit): BuiltFilter;
    };

/** Compares by an operator that the service does not document; it is sent with a `warning`. */
type OtherComparison = {
  /** Compares by an operator of your choice. */
  operator(name: string, value: string | number, unit?: string): BuiltFilter;
};

/** The names of a contact's fields in filters: custom fields have the prefix `data.`. */
type FilterFields<Fields> = StandardFields & {
  [Name in keyof Fields & string as `data.${Name}`]: NonNullable<Fields[Name]>;
};

/** Builds filters for segments and workflow conditions. */
export interface FilterBuilder<Fields = AnyFields> {
  /** Starts a comparison of one field: `where('data.seats').greaterThan(5)`. */
  readonly where: <Name extends keyof FilterFields<Fields> & string>(
    field: Name,
  ) => Comparisons<FilterFields<Fields>[Name]>;
  /** All of the filters must match. Throws without filters: the group would select everybody. */
  readonly and: (...filters: readonly Filter[]) => FilterGroup;
  /** At least one of the filters must match. Throws without filters. */
  readonly or: (...filters: readonly Filter[]) => FilterGroup;
}

/** Custom fields whose names and types are not known. */
type AnyFields = Record<string, string | number | boolean | Date>;

/**
 * Makes a filter builder typed by your custom fields.
 * @example
 * const { where, and } = filters<{ seats: number; trialEnds: Date }>();
 * await messaging.segments.create({
 *   name: 'Large trials',
 *   type: 'DYNAMIC',
 *   condition: and(where('data.seats').greaterThan(5), where('data.trialEnds').within(30, 'days')),
 * });
 */
export function filters<Fields = AnyFields>(): FilterBuilder<Fields> {
  return {
    // Only the compiler restricts the comparisons of a field: at run time every field has all of them.
    where: (field) => comparisons(field),
    and,
    or,
  };
}

// Separate functions, not methods of one builder, so that bundlers can remove the unused ones.

/** Starts a comparison of a field of any type: `where('data.seats').greaterThan(5)`. */
export function where<Name extends keyof FilterFields<AnyFields>>(
  field: Name,
): Comparisons<FilterFields<AnyFields>[Name]> {
  return comparisons(field);
}

/** All of the filters must match. The service does not document how filters are joined. */
export function and(...parts: readonly Filter[]): FilterGroup {
  return { and: [...requireFilters('and', parts)] };
}

/** At least one of the filters must match. The service does not document how filters are joined. */
export function or(...parts: readonly Filter[]): FilterGroup {
  return { or: [...requireFilters('or', parts)] };
}

function requireFilters(name: 'and' | 'or', parts: readonly Filter[]): readonly Filter[] {
  if (parts.length === 0) {
    const message = `\`${name}()\` needs at least one filter: an empty one may select everybody`;
    throw invalidRequest([{ field: '', message }]);
  }
  if (!parts.every(isRecord)) {
    const message = `\`${name}()\` takes filters, such as \`where('data.plan').equals('pro')\``;
    throw invalidRequest([{ field: '', message }]);
  }
  return parts;
}

function comparisons(field: string) {
  const problem = fieldProblem(field);
  if (problem !== undefined) {
    throw invalidRequest([{ field: 'field', message: problem }]);
  }
  const compare = (operator: string, value: unknown, unit?: string): BuiltFilter => {
    // A boolean is sent as text: the document shows only strings and numbers as values.
    const written = typeof value === 'boolean' ? String(value) : value;
    const isValue = typeof written === 'string' || Number.isFinite(written);
    if (!isValue) {
      throw new TypeError(`The value of a filter on ${field} must be a string, number or boolean.`);
    }
    const element = { field, operator, value: written as string | number }; // as checked above
    const filter = unit === undefined ? element : { ...element, unit };
    return filter as BuiltFilter; // the mark `built` exists only in the type
  };
  return {
    equals: (value: string | number | boolean) => compare('equals', value),
    greaterThan: (value: number) => compare('greaterThan', value),
    within: (value: number, unit: FilterUnit) => compare('within', value, unit),
    olderThan: (value: number, unit: FilterUnit) => compare('olderThan', value, unit),
    operator: (name: string, value: string | number, unit?: string) => compare(name, value, unit),
  };
}

const standardFields = new Set(['id', 'email', 'subscribed', 'createdAt', 'updatedAt']);

/** Returns the problem of a field without the prefix of custom fields: it would select nobody. */
function fieldProblem(field: unknown): string | undefined {
  const isPlain = typeof field === 'string' && !field.includes('.');
  return isPlain && !standardFields.has(field)
    ? `"${field}" is not a field of a contact: a custom field is \`data.${field}\``
    : undefined;
}

/**
 * Returns warnings about operators and units that the document does not show: the service may know them, or may
 * select nobody. `field` is the name of the filter in its request body.
 */
export function filterWarnings(field: string, filter: unknown): readonly string[] {
  if (typeof filter !== 'object' || filter === null) {
    return [];
  }
  const { field: compared, operator, unit } = filter as Readonly<Record<string, unknown>>; // any object can be read by name
  const parts = Object.values(filter).flatMap((part) => filterWarnings(field, part));
  return typeof compared === 'string' && typeof operator === 'string'
    ? [
        ...undocumented(field, compared, ['operator', operator, operators, operatorAliases]),
        ...undocumented(field, compared, ['unit', unit, ['days'], {}]),
      ]
    : [...new Set(parts)];
}

const operators = ['equals', 'greaterThan', 'within', 'olderThan'];

// The operators of other services and languages, for the hint in the warning.
const operatorAliases: Readonly<Record<string, string>> = {
  eq: 'equals',
  is: 'equals',
  '=': 'equals',
  '==': 'equals',
  gt: 'greaterThan',
  '>': 'greaterThan',
};

function undocumented(
  field: string,
  compared: string,
  [kind, given, names, aliases]: readonly [
    kind: string,
    given: unknown,
    names: readonly string[],
    aliases: Readonly<Record<string, string>>,
  ],
): readonly string[] {
  if (typeof given !== 'string' || names.includes(given)) {
    return [];
  }
  const suggestion = Object.hasOwn(aliases, given) ? aliases[given] : findSimilar(given, names);
  const hint = suggestion === undefined ? '' : ` Did you mean "${suggestion}"?`;
  return [
    `\`${field}\` compares \`${compared}\` by the ${kind} "${given}", which is not documented: it may select nobody.${hint}`,
  ];
}

/**
 * Returns the reason why a filter selects nobody, or everybody; `undefined` if the filter may be right. `everybody` is
 * the hint for a filter that may select everybody.
 */
export function filterProblem(filter: unknown, everybody: string): string | undefined {
  return isEmptyFilter(filter)
    ? `must not be empty: it may select everybody; ${everybody}`
    : problemIn(filter);
}

function problemIn(part: unknown): string | undefined {
  if (Array.isArray(part)) {
    return part.map(problemIn).find((problem) => problem !== undefined);
  }
  if (!isRecord(part)) {
    return undefined;
  }
  if (typeof part['field'] !== 'string' || typeof part['operator'] !== 'string') {
    return problemIn(Object.values(part));
  }
  const value = part['value'];
  const hasNoValue =
    operators.includes(part['operator']) && (value === undefined || value === null || value === '');
  return (
    fieldProblem(part['field']) ??
    (hasNoValue ? `\`${part['field']}\` is compared with no value: it selects nobody` : undefined)
  );
}

/**
 * Whether a filter, or a part of it, has no comparison: a service may then select everybody. The structure of groups
 * is not documented, so every list and every object in a group counts as a part.
 */
function isEmptyFilter(filter: unknown): boolean {
  if (!isRecord(filter) || typeof filter['field'] === 'string') {
    return false;
  }
  const values = Object.values(filter).filter((value) => value !== undefined && value !== null);
  const parts = values.filter((value) => typeof value === 'object');
  if (parts.length === 0) {
    return values.length === 0;
  }
  return parts.every(isEmptyPart) || parts.some(hasEmptyItem);
}

function isEmptyPart(part: unknown): boolean {
  return Array.isArray(part) ? part.length === 0 : isEmptyFilter(part);
}

function hasEmptyItem(part: unknown): boolean {
  return Array.isArray(part) && part.some(isEmptyFilter);
}
