import type { SchemasFor } from '../core/call/route.js';
import { open } from './shared/values.schemas.js';
import type { routes } from './config.js';

export const schemas = {
  get: { returns: open },
} satisfies SchemasFor<typeof routes>;
