import type { SchemasFor } from '../../core/route.js';
import { open } from '../shared/values-schema.js';
import type { routes } from './routes.js';

export const schemas = {
  me: { returns: open },
} satisfies SchemasFor<typeof routes>;
