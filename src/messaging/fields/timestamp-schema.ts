import * as z from 'zod/mini';
import type { Timestamp } from '../../contract/records.js';

// Date.parse() takes much that is no ISO 8601 date-time, and reads a time without a zone as local.
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)$/i;

/** A point in time, as a `Date` or as text. */
export const timestamp = z.custom<Timestamp>(
  (value) =>
    (value instanceof Date || (typeof value === 'string' && dateTime.test(value))) &&
    !Number.isNaN(msOf(value)),
  'must be a point in time: a `Date`, or ISO 8601 with date, time and zone such as 2026-11-21T09:30:00Z',
);

/** The milliseconds since 1970 of a point in time. */
export function msOf(time: Timestamp): number {
  return typeof time === 'string' ? Date.parse(time) : time.getTime();
}
