import * as z from 'zod/mini';
import type { SchemasFor } from '../core/call/route.js';
import { listQuery, id, makeLenient, open } from './shared/values.schemas.js';
import type { routes, Domain } from './domains.js';

const domain = z.looseObject({ id: z.string() });

const domainCreate = z.looseObject({
  domain: z.optional(z.string()),
  projectId: z.optional(id),
});

export const schemas = {
  list: { query: listQuery, returns: domain },
  create: { body: domainCreate, returns: makeLenient<Domain>(domain) },
  verify: { returns: open },
  delete: { returns: open },
} satisfies SchemasFor<typeof routes>;
