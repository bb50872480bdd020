import type { SchemasFor } from '../core/call/route.js';
import { open } from './shared/values.schemas.js';
import type { routes } from './users.js';

export const schemas = {
  me: { returns: open },
} satisfies SchemasFor<typeof routes>;
