import type { Transient } from './types.js';

/** Marks a value as meant for this event only: the contact does not keep it. */
export const transient = <Value>(value: Value): Transient<Value> => ({ value, persistent: false });

/**
 * Makes a deep copy that later changes to the original do not affect, also of the proxies of state libraries
 * (Vue, Pinia, MobX). A `Date` stays a `Date`, for `beforeSend`; any other object with a `toJSON()` becomes
 * the result of that method, as in JSON.
 */
export const copyOf = (value: unknown): unknown => {
  if (value instanceof Date) {
    return new Date(value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') {
    return copyOf(toJSON.call(value));
  }
  return Array.isArray(value)
    ? value.map(copyOf)
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copyOf(item)]));
};

/** Makes a plain copy of the data as it will be sent. Throws if a field is reserved or not finite. */
export const snapshot = <Data extends object | undefined>(data: Data): Data =>
  // as: JSON keeps the shape of event data; a `Date` has become a string
  data &&
  (JSON.parse(
    JSON.stringify(data, function (this: Record<string, unknown>, key, value: unknown) {
      // messaging, Custom fields 5: the service silently drops these fields at the top level.
      if (this === data && /^((svc_)?(id|email)|(un)?subscribeUrl|manageUrl)$/.test(key)) {
        throw new TypeError(`Reserved: ${key}`);
      }
      // Read the value from `this`: `value` is already the result of `toJSON()`. JSON turns NaN, infinities
      // and invalid dates into `null`, which would delete the field.
      if (this[key] !== null && JSON.stringify(this[key]) === 'null') {
        throw new TypeError(`Not finite: ${key}`);
      }
      return value;
    }),
  ) as Data);
