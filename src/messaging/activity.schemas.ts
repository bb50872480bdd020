import type { SchemasFor } from '../core/call/route.js';
import { periodListQuery, periodQuery, open } from './shared/values.schemas.js';
import type { routes } from './activity.js';

export const schemas = {
  list: { query: periodListQuery, returns: open },
  stats: { query: periodQuery, returns: open },
  recentCount: { query: periodQuery, returns: open },
  types: { returns: open },
  upcoming: { query: periodQuery, returns: open },
} satisfies SchemasFor<typeof routes>;
