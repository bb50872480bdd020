import * as z from 'zod/mini';
import { limit } from './values-schema.js';
import { isDate, type Timestamp } from '../../core/values.js';

// The document does not show the form of the times of a report, so only an invalid `Date` is refused.
const time = z.custom<Timestamp>(
  (value) => !isDate(value) || !Number.isNaN(value.getTime()),
  'is not a date',
);
const period = { startDate: z.optional(time), endDate: z.optional(time) };

/** The query of a list whose parameters the document does not show. */
export const listQuery = z.looseObject({
  limit: z.optional(limit),
  cursor: z.optional(z.string()),
});

/** The query of a report. */
export const periodQuery = z.looseObject(period);

/** The query of a list over a span of time. */
export const periodListQuery = z.extend(listQuery, period);
