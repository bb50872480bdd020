import * as z from 'zod/mini';
import type { SchemasFor } from '../core/call/route.js';
import {
  knownOf,
  makeLenient,
  limit,
  open,
  optionalEmail,
  subject,
} from './shared/values.schemas.js';
import type { routes, Template } from './templates.js';

const type = z.enum(['TRANSACTIONAL', 'MARKETING']);

const template = z.looseObject({
  id: z.string(),
  name: z.string(),
  subject: z.string(),
  body: z.string(),
  type: z.string(),
  from: z.optional(z.nullable(z.string())),
  createdAt: z.optional(z.string()),
});

const templateCreate = z.looseObject({
  name: z.string(),
  subject,
  body: z.string(),
  type,
  from: z.optional(optionalEmail),
});

const query = z.looseObject({
  limit: z.optional(limit),
  cursor: z.optional(z.string()),
  type: z.optional(type),
  search: z.optional(z.string()),
});

export const schemas = {
  list: { query, knownQuery: knownOf(query), returns: template },
  create: { body: templateCreate, returns: template },
  get: { returns: template },
  update: { body: z.partial(templateCreate), returns: makeLenient<Template>(template) },
  delete: { returns: open },
  duplicate: { returns: z.looseObject({ id: z.string() }) },
  usage: { returns: open },
} satisfies SchemasFor<typeof routes>;
