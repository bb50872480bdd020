import * as z from 'zod/mini';
import { isRecord, type OpenRecord } from '../core/values.js';
import type { SchemasFor } from '../core/call/route.js';
import { listQuery, email, makeLenient, open } from './shared/values.schemas.js';
import type { routes, Project } from './projects.js';

// A body that may be left out. A custom check, because it must accept `undefined` too.
const optionalBody = z.custom<OpenRecord>(
  (value: unknown) => value === undefined || isRecord(value),
  'must be an object',
);

const project = z.looseObject({ id: z.string() });
const memberInvite = z.looseObject({ email: z.optional(email), role: z.optional(z.string()) });

export const schemas = {
  list: { query: listQuery, returns: project },
  create: {
    body: z.looseObject({ name: z.optional(z.string()) }),
    returns: makeLenient<Project>(project),
  },
  update: { body: open, returns: makeLenient<Project>(project) },
  delete: { returns: open },
  regenerateKeys: { returns: open },
  securityReport: { returns: open },
  reset: { body: optionalBody, returns: open },
  setupState: { returns: open },
  securityState: { returns: open },
  billing: {
    createCheckout: { body: optionalBody, returns: open },
    createPortal: { body: optionalBody, returns: open },
    getLimits: { returns: open },
    setLimits: { body: open, returns: open },
    consumption: { returns: open },
    invoices: { query: listQuery, returns: open },
  },
  members: {
    list: { query: listQuery, returns: open },
    invite: { body: memberInvite, returns: open },
    updateRole: { body: z.looseObject({ role: z.optional(z.string()) }), returns: open },
    remove: { returns: open },
  },
} satisfies SchemasFor<typeof routes>;
