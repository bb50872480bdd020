import { isRecord } from '../../core/values.js';
import { invalidRequest } from '../../core/errors.js';
import type { BuiltFilter, Filter, FilterElement, FilterGroup } from './filter.js';

// What is not exported here is an alias: the declarations of a user spell it out, and cannot name it.

type Unit = NonNullable<FilterElement['unit']>;

/** The fields that every contact has, with what they hold. */
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

/** Compares for equality. A date cannot be compared so: two of them are hardly ever equal. */
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
      /** The field is a date of the last so many days, or of another unit of the service. */
      within(value: number, unit: Unit): BuiltFilter;
      /** The field is a date longer ago than so many days. */
      olderThan(value: number, unit: Unit): BuiltFilter;
    };

/** For operators that the service's document does not show. */
type OtherComparison = {
  /** Compares by an operator of your choice. */
  operator(name: string, value: string | number, unit?: string): BuiltFilter;
};

/**
 * How filters are written where the service's document does not show it. The defaults are ours: they
 * are not given by the document.
 */
export interface FilterMapping {
  /** All of the filters must match. */
  readonly and: (filters: readonly Filter[]) => FilterGroup;
  /** At least one of the filters must match. */
  readonly or: (filters: readonly Filter[]) => FilterGroup;
  /** The document shows text and numbers as values: how a boolean is written. */
  readonly boolean: (value: boolean) => string | number | boolean;
}

/** The names that filters know a contact's fields by: custom fields have the prefix `data.`. */
type FilterFields<Fields> = StandardFields & {
  [Name in keyof Fields & string as `data.${Name}`]: NonNullable<Fields[Name]>;
};

/** Builds filters for segments and workflow conditions. */
export interface FilterBuilder<Fields = AnyFields> {
  /** Starts a comparison of one field: `where('data.seats').greaterThan(5)`. */
  readonly where: <Name extends keyof FilterFields<Fields> & string>(
    field: Name,
  ) => Comparisons<FilterFields<Fields>[Name]>;
  /** All of the filters must match. Throws without any: it would select everybody. */
  readonly and: (...filters: readonly Filter[]) => FilterGroup;
  /** At least one of the filters must match. Throws without any. */
  readonly or: (...filters: readonly Filter[]) => FilterGroup;
}

/** Custom fields of which nothing is known. */
type AnyFields = Record<string, string | number | boolean | Date>;

/** What is written where the document is silent, unless a mapping replaces it. */
export const defaultFilterMapping: FilterMapping = {
  and: (filters) => ({ and: [...filters] }),
  or: (filters) => ({ or: [...filters] }),
  boolean: String,
};

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
export function filters<Fields = AnyFields>(
  mapping: Partial<FilterMapping> = {},
): FilterBuilder<Fields> {
  const complete = { ...defaultFilterMapping, ...mapping };
  return {
    // Which comparisons a field allows is for the compiler: at run time each has them all.
    where: (field) => comparisons(field, complete.boolean),
    and: (...parts) => complete.and(notEmpty('and', parts)),
    or: (...parts) => complete.or(notEmpty('or', parts)),
  };
}

// Functions, and not the parts of one builder: what a program does not use is left out of its bundle.

/** Starts a comparison of a field of any type: `where('data.seats').greaterThan(5)`. */
export function where<Name extends keyof FilterFields<AnyFields>>(
  field: Name,
): Comparisons<FilterFields<AnyFields>[Name]> {
  return filters().where(field);
}

/** All of the filters must match. */
export function and(...parts: readonly Filter[]): FilterGroup {
  return filters().and(...parts);
}

/** At least one of the filters must match. */
export function or(...parts: readonly Filter[]): FilterGroup {
  return filters().or(...parts);
}

function notEmpty(name: 'and' | 'or', parts: readonly Filter[]): readonly Filter[] {
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

function comparisons(field: string, boolean: FilterMapping['boolean']) {
  const compare = (operator: string, value: unknown, unit?: string): BuiltFilter => {
    const written = typeof value === 'boolean' ? boolean(value) : value;
    const isValue = ['string', 'boolean'].includes(typeof written) || Number.isFinite(written);
    if (!isValue) {
      throw new TypeError(`The value of a filter on ${field} must be a string, number or boolean.`);
    }
    const element = { field, operator, value: written as string | number }; // as checked above
    const filter = unit === undefined ? element : { ...element, unit };
    return filter as BuiltFilter; // the mark is only in the type
  };
  return {
    equals: (value: string | number | boolean) => compare('equals', value),
    greaterThan: (value: number) => compare('greaterThan', value),
    within: (value: number, unit: Unit) => compare('within', value, unit),
    olderThan: (value: number, unit: Unit) => compare('olderThan', value, unit),
    operator: (name: string, value: string | number, unit?: string) => compare(name, value, unit),
  };
}
