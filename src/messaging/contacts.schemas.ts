import * as z from 'zod/mini';
import type { FileInput } from '../core/values.js';
import type { SchemasFor } from '../core/call/route.js';
import { limits } from './limits.js';
import { contactData, storedDataWarnings } from './shared/data.schemas.js';
import { emailProblem, idProblem, normalizeEmail } from './shared/values.js';
import { email, knownOf, limit, open } from './shared/values.schemas.js';
import type { routes } from './contacts.js';
import type { ContactLookup, ContactSelection } from './contacts.types.js';

const contact = z.looseObject({
  id: z.string(),
  email: z.string(),
  subscribed: z.boolean(),
  data: z.nullable(z.record(z.string(), z.unknown())),
  createdAt: z.optional(z.string()),
  updatedAt: z.optional(z.string()),
});

const upsertedContact = z.extend(contact, {
  _meta: z.looseObject({ isNew: z.boolean(), isUpdate: z.boolean() }),
});

const contactCreate = z.looseObject({
  email,
  subscribed: z.optional(z.boolean()),
  data: z.optional(z.nullable(contactData)),
});

const known = { ...knownOf(contactCreate), aliases: { status: 'subscribed' }, custom: 'data' };

const contactUpdate = z.partial(contactCreate);

const emailList = {
  max: limits.lookupEmails,
  items: 'email addresses',
  itemProblem: (item: unknown) => emailProblem(normalizeEmail(item)),
  hint: 'Use `contacts.lookupAll()`',
};
const lookup = listBody<ContactLookup>('emails', emailList);
const idList = {
  max: limits.bulkContacts,
  items: 'ids',
  itemProblem: idProblem,
};
const selectionFor = (all: string) =>
  listBody<ContactSelection>('contactIds', { ...idList, hint: `Use \`contacts.${all}()\`` });
const started = z.looseObject({ jobId: z.string() });

const field = z.looseObject({
  field: z.string(),
  type: z.string(),
  isCustom: z.boolean(),
  coverage: z.number(),
});

const query = z.looseObject({
  limit: z.optional(limit),
  cursor: z.optional(z.string()),
  search: z.optional(z.string()),
});

export const schemas = {
  list: { query, knownQuery: knownOf(query), returns: contact },
  create: {
    body: contactCreate,
    returns: upsertedContact,
    known,
    warnings: ({ data }, rules) => storedDataWarnings(data, rules),
  },
  get: { returns: contact },
  update: {
    body: contactUpdate,
    returns: contact,
    known,
    warnings: ({ data }, rules) => storedDataWarnings(data, rules),
  },
  delete: { returns: open },
  lookup: { body: lookup, returns: open },
  import: { body: z.custom<FileInput>(), returns: started },
  getImport: { returns: open },
  bulkSubscribe: { body: selectionFor('subscribeAll'), returns: started },
  bulkUnsubscribe: { body: selectionFor('unsubscribeAll'), returns: started },
  bulkDelete: { body: selectionFor('deleteAll'), returns: started },
  getBulkJob: { returns: open },
  fields: {
    list: { returns: z.looseObject({ fields: z.array(field) }) },
    values: { returns: open },
    usage: { returns: open },
    delete: { returns: open },
  },
} satisfies SchemasFor<typeof routes>;

interface ListRule {
  readonly max: number;
  /** The name of the items in error messages. */
  readonly items: string;
  readonly itemProblem: (item: unknown) => string | undefined;
  /** The method to call instead if there are too many items. */
  readonly hint?: string;
}

// The service does not document the name of the list, so a caller may use another name. A list must be present
// under some name, and must be within the limit.
function listBody<Body extends object>(name: keyof Body & string, rule: ListRule) {
  return z.looseObject({}).check((context) => {
    const input = context.value;
    const lists = Object.entries(input).filter(([, value]) => Array.isArray(value));
    if (lists.length === 0) {
      const [given = name, ...others] = Object.keys(input);
      const field = others.length === 0 ? given : name;
      lists.push([field, input[field]]);
    }
    for (const [field, value] of lists) {
      for (const { path, message } of listProblems(value, rule)) {
        context.issues.push({ code: 'custom', path: [field, ...path], message, input });
      }
    }
  }) as unknown as z.ZodMiniType<Body>;
}

interface ListProblem {
  readonly path: readonly number[];
  readonly message: string;
}

function listProblems(
  value: unknown,
  { max, items, itemProblem, hint }: ListRule,
): readonly ListProblem[] {
  if (!Array.isArray(value)) {
    return [{ path: [], message: `must be an array of ${items}` }];
  }
  if (value.length > max) {
    const problem = `takes at most ${max} items; got ${value.length}`;
    return [{ path: [], message: hint === undefined ? problem : `${problem}. ${hint}` }];
  }
  return value.flatMap((item, index) => {
    const message = itemProblem(item);
    return message === undefined ? [] : [{ path: [index], message }];
  });
}
