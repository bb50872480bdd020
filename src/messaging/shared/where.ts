import { isRecord } from '../../core/values.js';
import { invalidRequest } from '../../core/errors.js';
import { fieldProblem } from './filter-problems.js';
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
    // Which comparisons a field allows is for the compiler: at run time each has them all.
    where: (field) => comparisons(field),
    and,
    or,
  };
}

// Functions, and not the parts of one builder: what a program does not use is left out of its bundle.

/** Starts a comparison of a field of any type: `where('data.seats').greaterThan(5)`. */
export function where<Name extends keyof FilterFields<AnyFields>>(
  field: Name,
): Comparisons<FilterFields<AnyFields>[Name]> {
  return comparisons(field);
}

/** All of the filters must match. How they are joined is not given by the service's document. */
export function and(...parts: readonly Filter[]): FilterGroup {
  return { and: [...notEmpty('and', parts)] };
}

/** At least one of the filters must match. How they are joined is not given by the service's document. */
export function or(...parts: readonly Filter[]): FilterGroup {
  return { or: [...notEmpty('or', parts)] };
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

function comparisons(field: string) {
  const problem = fieldProblem(field);
  if (problem !== undefined) {
    throw invalidRequest([{ field: 'field', message: problem }]);
  }
  const compare = (operator: string, value: unknown, unit?: string): BuiltFilter => {
    // The document shows text and numbers as values.
    const written = typeof value === 'boolean' ? String(value) : value;
    const isValue = typeof written === 'string' || Number.isFinite(written);
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
