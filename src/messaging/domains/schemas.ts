import * as z from 'zod/mini';
import type { SchemasFor } from '../../contract/schemas.js';
import { listQuery } from '../shared/query-schema.js';
import { open } from '../shared/values-schema.js';
import type { routes } from './routes.js';

const domain = z.looseObject({ id: z.string() });

const domainCreate = z.looseObject({
  domain: z.optional(z.string()),
  projectId: z.optional(z.string()),
});

export const schemas = {
  list: { query: listQuery, returns: domain },
  create: { body: domainCreate, returns: domain },
  verify: { returns: open },
  delete: {},
} satisfies SchemasFor<typeof routes>;
