import type { OpenRecord } from '../../contract/records.js';

/** One comparison of a field with a value. */
export interface FilterElement {
  /** A standard field by its name, a custom field as `data.<key>`. */
  field: 'email' | 'subscribed' | 'createdAt' | 'updatedAt' | `data.${string}` | (string & {});
  /** `within` and `olderThan` need a field that holds full ISO 8601 strings. */
  operator: 'equals' | 'greaterThan' | 'within' | 'olderThan' | (string & {});
  value: string | number;
  /** The unit of `value` when it is a duration. */
  unit?: 'days' | (string & {}) | undefined;
}

/** Any structure larger than one comparison. The service does not document its fields. */
export interface FilterGroup extends OpenRecord {}

/** Selects contacts: one comparison, or any larger structure that the service accepts. */
export type Filter = FilterElement | FilterGroup;
