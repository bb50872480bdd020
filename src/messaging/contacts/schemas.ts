import * as z from 'zod/mini';
import type { FileInput } from '../../contract/records.js';
import type { SchemasFor } from '../../contract/schemas.js';
import { largestPage } from '../../contract/limits.js';
import { contactData, dataWarnings } from '../data-schema.js';
import { email, open } from '../shapes-schema.js';
import type { routes } from './routes.js';

/** The document's limits of one call. */
const maxLookup = 500;
const maxBulk = 1000;

const contact = z.looseObject({
  id: z.string(),
  email: z.string(),
  subscribed: z.boolean(),
  data: z.nullable(z.record(z.string(), z.unknown())),
  createdAt: z.string(),
  updatedAt: z.string(),
});

const upsertedContact = z.extend(contact, {
  _meta: z.looseObject({ isNew: z.boolean(), isUpdate: z.boolean() }),
});

const contactCreate = z.looseObject({
  email,
  subscribed: z.optional(z.boolean()),
  data: z.optional(contactData),
});

const contactUpdate = z.partial(contactCreate);

const lookup = z.looseObject({
  emails: z.array(z.string()).check(
    z.refine((emails) => emails.length <= maxLookup, {
      error: ({ input }) =>
        `takes at most ${maxLookup} emails; got ${(input as unknown[]).length}. Use \`contacts.lookupAll()\``, // the schema's own array
    }),
  ),
});

const selection = z.looseObject({ contactIds: z.array(z.string()).check(z.maxLength(maxBulk)) });
const started = z.looseObject({ jobId: z.string() });

const field = z.looseObject({
  field: z.string(),
  type: z.string(),
  isCustom: z.boolean(),
  coverage: z.number(),
});

const query = z.looseObject({
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(largestPage))),
  cursor: z.optional(z.string()),
  search: z.optional(z.string()),
});

export const schemas = {
  list: { query, returns: contact },
  create: {
    body: contactCreate,
    returns: upsertedContact,
    warnings: ({ data }) => dataWarnings(data),
  },
  get: { returns: contact },
  update: { body: contactUpdate, returns: contact, warnings: ({ data }) => dataWarnings(data) },
  delete: {},
  lookup: { body: lookup, returns: open },
  import: { body: z.custom<FileInput>(), returns: started },
  getImport: { returns: open },
  bulkSubscribe: { body: selection, returns: started },
  bulkUnsubscribe: { body: selection, returns: started },
  bulkDelete: { body: selection, returns: started },
  getBulkJob: { returns: open },
  fields: {
    list: { returns: z.looseObject({ fields: z.array(field) }) },
    values: { returns: open },
    usage: { returns: open },
    delete: {},
  },
} satisfies SchemasFor<typeof routes>;
