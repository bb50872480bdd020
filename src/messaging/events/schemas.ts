import * as z from 'zod/mini';
import type { SchemasFor } from '../../contract/schemas.js';
import { contactData, dataWarnings } from '../shared/data-schema.js';
import { periodListQuery, periodQuery } from '../shared/query-schema.js';
import { email, open } from '../shared/values-schema.js';
import type { routes, trackingRoutes } from './routes.js';
import type { TrackRequest } from './types.js';

const track = {
  body: z.looseObject({
    email,
    event: z.string().check(z.minLength(1)),
    data: z.optional(contactData),
  }),
  returns: z.looseObject({ contact: z.string(), event: z.string(), timestamp: z.string() }),
  warnings: ({ data }: TrackRequest) => dataWarnings(data),
};

export const schemas = {
  track,
  list: { query: periodListQuery, returns: open },
  stats: { query: periodQuery, returns: open },
  listForContact: { query: periodListQuery, returns: open },
  names: { returns: open },
  usage: { returns: open },
  delete: {},
} satisfies SchemasFor<typeof routes>;

export const trackingSchemas = { track } satisfies SchemasFor<typeof trackingRoutes>;
