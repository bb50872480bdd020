import type { SchemasFor } from '../../core/route.js';
import { periodListQuery, periodQuery } from '../shared/query-schema.js';
import { open } from '../shared/values-schema.js';
import type { routes } from './routes.js';

export const schemas = {
  list: { query: periodListQuery, returns: open },
  stats: { query: periodQuery, returns: open },
  recentCount: { query: periodQuery, returns: open },
  types: { returns: open },
  upcoming: { query: periodQuery, returns: open },
} satisfies SchemasFor<typeof routes>;
