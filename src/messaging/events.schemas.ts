import * as z from 'zod/mini';
import type { DataOptions } from '../core/types.js';
import type { SchemasFor } from '../core/call/route.js';
import { contactData, dataWarnings } from './shared/data.schemas.js';
import { periodListQuery, periodQuery, email, knownOf, open } from './shared/values.schemas.js';
import type { routes, trackingRoutes, TrackRequest } from './events.js';

const trackBody = z.looseObject({
  email: z.optional(email),
  event: z.string().check(z.minLength(1)),
  subscribed: z.optional(z.boolean()),
  data: z.optional(contactData),
});

const track = {
  body: trackBody,
  known: {
    ...knownOf(trackBody),
    aliases: { name: 'event', eventName: 'event', properties: 'data' }, // the names in other services
    custom: 'data',
  },
  returns: z.looseObject({ contact: z.string(), event: z.string(), timestamp: z.string() }),
  warnings: (body: TrackRequest, rules?: DataOptions) => [
    ...missingWarnings(body),
    ...dataWarnings(body.data, rules),
  ],
};

export const schemas = {
  track,
  list: { query: periodListQuery, returns: open },
  stats: { query: periodQuery, returns: open },
  listForContact: { query: periodListQuery, returns: open },
  names: { returns: open },
  usage: { returns: open },
  delete: { returns: open },
} satisfies SchemasFor<typeof routes>;

export const trackingSchemas = { track } satisfies SchemasFor<typeof trackingRoutes>;

// The service does not document whether `email` is required, so a missing one is only a warning.
function missingWarnings({ email: given }: TrackRequest): readonly string[] {
  return given === undefined ? ['`email` is missing. The service may reject the event.'] : [];
}
