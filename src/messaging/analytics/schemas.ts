import * as z from 'zod/mini';
import type { SchemasFor } from '../../core/route.js';
import { periodQuery } from '../shared/query-schema.js';
import { open } from '../shared/values-schema.js';
import type { routes } from './routes.js';

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
