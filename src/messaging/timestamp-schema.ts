import * as z from 'zod/mini';
import type { Timestamp } from '../contract/records.js';

// Date.parse() alone takes "1" and much else that ISO 8601 does not know.
const isoForm = /^\d{4}-\d{2}-\d{2}([T ]|$)/;

/** A point in time, as a `Date` or as text. */
export const timestamp = z.custom<Timestamp>(
  (value) =>
    (value instanceof Date || (typeof value === 'string' && isoForm.test(value))) &&
    !Number.isNaN(msOf(value)),
  'must be a date: a `Date` or a full ISO 8601 string',
);

/** The milliseconds since 1970 of a point in time. */
export function msOf(time: Timestamp): number {
  return typeof time === 'string' ? Date.parse(time) : time.getTime();
}
