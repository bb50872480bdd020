import * as z from 'zod/mini';
import type { SchemasFor } from '../core/call/route.js';
import { periodQuery, open } from './shared/values.schemas.js';
import type { routes } from './analytics.js';

const report = {
  query: z.extend(periodQuery, { limit: z.optional(z.number()) }),
  returns: open,
};

export const schemas = {
  timeseries: report,
  topCampaigns: report,
  campaignStats: report,
  topEvents: report,
} satisfies SchemasFor<typeof routes>;
