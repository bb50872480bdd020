import { isRecord, type FieldObject } from '../../core/values.js';

/** The keys that the service silently drops from `data` (Custom fields, rule 5). */
export type ReservedKey =
  'id' | 'svc_id' | 'svc_email' | 'email' | 'unsubscribeUrl' | 'subscribeUrl' | 'manageUrl';

/** The reserved keys, each with the advice what to use instead. */
export const reservedKeys: Readonly<Record<ReservedKey, string>> = {
  id: "it is the contact's id",
  svc_id: 'the service uses it itself',
  svc_email: 'the service uses it itself',
  email: 'use the `email` field next to `data`',
  unsubscribeUrl: 'the service sets it',
  subscribeUrl: 'the service sets it',
  manageUrl: 'the service sets it',
};

/** Whether the service sets this key itself and ignores its value in `data`. */
export function isReserved(key: string): key is ReservedKey {
  return Object.hasOwn(reservedKeys, key);
}

// Written out, because a mapped type would cost the compiler a dozen instantiations in every program. A type alias,
// because it has no public name: the declarations of users then contain its structure.
/** Makes each reserved key a compile error, whose message says why. */
type NoReservedKeys = {
  readonly id?: 'the service sets `id`' & NoValue;
  readonly svc_id?: 'the service sets `svc_id`' & NoValue;
  readonly svc_email?: 'the service sets `svc_email`' & NoValue;
  readonly email?: 'use the field `email` next to `data`' & NoValue;
  readonly unsubscribeUrl?: 'the service sets `unsubscribeUrl`' & NoValue;
  readonly subscribeUrl?: 'the service sets `subscribeUrl`' & NoValue;
  readonly manageUrl?: 'the service sets `manageUrl`' & NoValue;
};

/** Makes a text a type without values: the compiler writes the text in its message. */
type NoValue = { readonly isReserved: true };

/** A value that is used for this email or event only and not stored on the contact. */
export interface Transient<Value extends DataValue = DataValue> {
  value: Value;
  persistent: false;
}

/**
 * A value of a custom field. `null` deletes the field; an empty string is ignored and keeps the
 * stored value; a `Date` becomes a full ISO 8601 string, as date filters require.
 */
export type DataValue =
  string | number | boolean | Date | null | readonly DataValue[] | DataRecord | DataObject;

/** Nested values. */
type DataRecord = NotTransient & { readonly [key: string]: DataValue | undefined };

/** Nested values typed by your interface or class. */
type DataObject = FieldObject & NotTransient;

type NotTransient = {
  readonly persistent?: string | number | true | null | undefined;
};

/**
 * Custom fields of an email or event. Only the keys that you send change. Reserved keys are a compile
 * error, because the service would silently drop them. Augment the interface to type your fields.
 */
export interface ContactData extends NoReservedKeys {
  readonly [key: string]: DataValue | Transient | undefined;
}

/** Custom fields to store on a contact: {@link ContactData} without `transient()` values. */
export interface PersistentData extends ContactData {
  readonly [key: string]: DataValue | undefined;
}

/** The custom fields of a contact, as the service returns them. */
export interface StoredData {
  [key: string]: unknown;
}

/** Custom fields to store. They have the types that the client was given; without these, any record or type. */
export type DataPatch<Fields extends object> = keyof Fields extends never
  ? PersistentData | (FieldObject & NoReservedKeys)
  : NoReservedKeys & { readonly [Key in keyof Fields]?: Written<Fields[Key]> | null | undefined };

/** Custom fields of an email or event, with the types that the client was given. */
export type MessageData<Fields extends object> = keyof Fields extends never
  ? ContactData | (FieldObject & NoReservedKeys)
  : NoReservedKeys & {
      readonly [Key in keyof Fields]?:
        | Written<Fields[Key]>
        | { value: Written<Fields[Key]>; persistent: false }
        | null
        | undefined;
    };

/** Custom fields as the service returns them, if the client was given their types. */
export type TypedData<Fields extends object> = { [Key in keyof Fields]?: Read<Fields[Key]> };

// The service stores dates as ISO 8601 strings.
type Written<Value> = Value extends Date ? Date | string : Value;
type Read<Value> = Value extends Date ? string : Value;

/** Marks a value as used for this email or event only: the contact does not keep it. */
export function transient<const Value extends DataValue>(value: Value): Transient<Value> {
  return { value, persistent: false };
}

/** Whether this has the form of a `transient()` value. */
export function isTransient(value: unknown): boolean {
  return isRecord(value) && value['persistent'] === false && 'value' in value;
}

/**
 * Returns the problem of a text that is a date with a time in another form than the service uses, such as
 * `2026-01-31 10:00:00+00` of Postgres. Returns `undefined` for a day without a time, which the service accepts as a
 * date, and for any other text.
 */
export function dateTextProblem(text: unknown): string | undefined {
  if (typeof text !== 'string' || !timeText.test(text) || serviceTime.test(text)) {
    return undefined;
  }
  return 'has a date in a form that no date filter finds: the service stores it as text, and the first value fixes the type of the field for the whole project. A `Date`, or a text such as `2026-01-31T10:00:00.000Z`, is stored as a date.';
}

const timeText = /^\s*\d{4}-\d{2}-\d{2}[Tt ]\d{1,2}:\d{2}/;
const serviceTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?Z$/;

/** Deletes a custom field: `data: { nickname: clear() }`. Returns `null`, by which the service deletes a field. */
export function clear(): null {
  return null;
}
