import * as z from 'zod/mini';
import type { SchemasFor } from '../../core/route.js';
import { listQuery } from '../shared/query-schema.js';
import { id, lenient, open } from '../shared/values-schema.js';
import type { routes } from './routes.js';
import type { Domain } from './types.js';

const domain = z.looseObject({ id: z.string() });

const domainCreate = z.looseObject({
  domain: z.optional(z.string()),
  projectId: z.optional(id),
});

export const schemas = {
  list: { query: listQuery, returns: domain },
  create: { body: domainCreate, returns: lenient<Domain>(domain) },
  verify: { returns: open },
  delete: { returns: open },
} satisfies SchemasFor<typeof routes>;
