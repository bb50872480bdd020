import type { FieldObject, OpenInput, OpenRecord } from '../../core/values.js';

/** One comparison of a field with a value. */
export interface FilterElement {
  /** A standard field by its name, a custom field as `data.<key>`. */
  field: StandardField | `${string}.${string}`;
  /** `within` and `olderThan` need a field that holds full ISO 8601 strings. */
  operator: 'equals' | 'greaterThan' | 'within' | 'olderThan' | (string & {});
  value: string | number;
  /** The unit of `value` when it is a duration. */
  unit?: 'days' | (string & {}) | undefined;
}

/** Any structure larger than one comparison. The service does not document its fields. */
export interface FilterGroup extends OpenRecord {
  /** One comparison has a field; a group has comparisons. */
  field?: never;
}

/** Selects contacts: one comparison, or any larger structure that the service accepts. */
export type Filter = FilterElement | FilterGroup;

/** A filter to send, with the custom fields that the client was given. */
export type FilterInput<Fields extends object = object> = [keyof Fields] extends [never]
  ? Filter | (FieldObject & { readonly field?: never })
  : FieldFilter<Fields> | StandardFilter | BuiltFilter | FilterStructure;

type FilterStructure = OpenInput & { readonly field?: never };

declare const built: unique symbol;

/** One comparison that `where()` made: its field and value are checked there. */
export interface BuiltFilter extends FilterElement {
  /** Only in the type. */
  readonly [built]: true;
}

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
