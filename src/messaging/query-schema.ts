import * as z from 'zod/mini';
import { limit } from './shapes-schema.js';
import { timestamp } from './timestamp-schema.js';

const period = { startDate: z.optional(timestamp), endDate: z.optional(timestamp) };

/** The query of a list whose parameters the document does not show. */
export const listQuery = z.looseObject({
  limit: z.optional(limit),
  cursor: z.optional(z.string()),
});

/** The query of a report. */
export const periodQuery = z.looseObject(period);

/** The query of a list over a span of time. */
export const periodListQuery = z.extend(listQuery, period);
