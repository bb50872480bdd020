import type { SchemasFor } from '../../contract/schemas.js';
import { open } from '../shared/values-schema.js';
import type { routes } from './routes.js';

export const schemas = {
  me: { returns: open },
} satisfies SchemasFor<typeof routes>;
