import type { OpenRecord } from '../../contract/records.js';

/** One comparison of a field with a value. */
export interface FilterElement {
  /** A standard field by its name, a custom field as `data.<key>`. */
  field: 'email' | 'subscribed' | 'createdAt' | 'updatedAt' | `data.${string}` | (string & {});
  /** `within` and `olderThan` need a field that holds full ISO 8601 strings. */
  operator: 'equals' | 'greaterThan' | 'within' | 'olderThan' | (string & {});
  value: string | number;
  /** The unit of a span of time. */
  unit?: 'days' | (string & {}) | undefined;
}

/** Anything larger than one comparison. The service's document does not show its fields. */
export interface FilterGroup extends OpenRecord {}

/** Picks contacts: one comparison, or whatever larger structure the service takes. */
export type Filter = FilterElement | FilterGroup;
