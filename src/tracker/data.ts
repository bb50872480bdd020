import type { EventData, Transient } from './types.js';

/** Marks a value as meant for this event only: the contact does not keep it. */
export const transient = <Value>(value: Value): Transient<Value> => ({ value, persistent: false });

/** A plain copy of the data as it will be sent, so that later changes do not reach it. */
export const snapshot = (data: EventData | undefined): EventData | undefined =>
  // JSON keeps the shape of event data; a Date has become its text.
  data && (JSON.parse(JSON.stringify(data, refuseLostValues)) as EventData);

/** JSON turns NaN, infinities and invalid dates into `null`, which would delete the field. */
function refuseLostValues(this: unknown, key: string, value: unknown): unknown {
  // `this` is the object that holds `key`: `value` has gone through `toJSON` already.
  const original = (this as Record<string, unknown>)[key];
  if (original !== null && JSON.stringify(original) === 'null') {
    throw new TypeError(`Not finite: ${key}`);
  }
  return value;
}
