import type { Transient } from './types.js';

/** Marks a value as meant for this event only: the contact does not keep it. */
export const transient = <Value>(value: Value): Transient<Value> => ({ value, persistent: false });

/**
 * A copy that later changes do not reach, also of the proxies that stores make (Vue, Pinia, MobX). A `Date`
 * stays one, for `beforeSend`; what else has a `toJSON()` becomes what that returns, as in JSON.
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

/** A plain copy of the data as it will be sent, so that later changes do not reach it. */
export const snapshot = <Data extends object | undefined>(data: Data): Data =>
  // JSON keeps the shape of event data; a Date has become its text.
  data &&
  (JSON.parse(
    JSON.stringify(data, function (this: Record<string, unknown>, key, value: unknown) {
      // messaging, Custom fields 5: the service drops these in silence, at the top level.
      if (this === data && /^((svc_)?(id|email)|(un)?subscribeUrl|manageUrl)$/.test(key)) {
        throw new TypeError(`Reserved: ${key}`);
      }
      // `this` holds `key`: `value` has gone through `toJSON` already. JSON turns NaN, infinities
      // and invalid dates into `null`, which would delete the field.
      if (this[key] !== null && JSON.stringify(this[key]) === 'null') {
        throw new TypeError(`Not finite: ${key}`);
      }
      return value;
    }),
  ) as Data);
