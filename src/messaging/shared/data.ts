/** The keys that the service silently drops from `data` (Custom fields, rule 5). */
export type ReservedKey =
  'id' | 'svc_id' | 'svc_email' | 'email' | 'unsubscribeUrl' | 'subscribeUrl' | 'manageUrl';

/** A value that is used for this email only and not stored on the contact. */
export interface Transient<Value extends DataValue = DataValue> {
  value: Value;
  persistent: false;
}

/**
 * A value of a custom field. `null` deletes the field; an empty string is ignored and keeps the
 * stored value; a `Date` becomes a full ISO 8601 string, as date filters need it.
 */
export type DataValue =
  | string
  | number
  | boolean
  | Date
  | null
  | readonly DataValue[]
  | { readonly [key: string]: DataValue | undefined };

/**
 * Custom fields to write. Only the keys that you send change. Reserved keys are an error, since the
 * service would silently drop them. Augment the interface to type your own fields.
 */
export interface ContactData extends Readonly<Partial<Record<ReservedKey, never>>> {
  readonly [key: string]: DataValue | Transient | undefined;
}

/** Custom fields as they are stored on a contact. */
export interface StoredData {
  [key: string]: unknown;
}

/** Marks a value as used for this email only: templates see it, the contact does not keep it. */
export function transient<Value extends DataValue>(value: Value): Transient<Value> {
  return { value, persistent: false };
}
