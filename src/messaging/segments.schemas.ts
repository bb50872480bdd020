import * as z from 'zod/mini';
import type { SchemasFor } from '../core/call/route.js';
import { filterProblem, filterWarnings } from './shared/filters.js';
import { email, filter, knownOf, makeLenient, limit, open } from './shared/values.schemas.js';
import type { routes, Segment, SegmentCreate } from './segments.js';

const segment = z.looseObject({
  id: z.string(),
  type: z.string(),
  name: z.string(),
  description: z.optional(z.nullable(z.string())),
  condition: z.optional(z.nullable(filter)),
  trackMembership: z.optional(z.boolean()),
});

const content = {
  name: z.optional(z.string()),
  description: z.optional(z.nullable(z.string())),
  trackMembership: z.optional(z.boolean()),
};

// The hint for an empty condition: a campaign to everybody does not need a segment.
const everybody = "to mail all, use `audienceType: 'ALL'` of a campaign";

const segmentCreate = z
  .looseObject({
    ...content,
    type: z.enum(['DYNAMIC', 'STATIC']),
    condition: z.optional(z.nullable(filter)),
  })
  .check((context) => {
    const input = context.value;
    const message = conditionProblem(input.type, input.condition);
    if (message) {
      context.issues.push({ code: 'custom', path: ['condition'], message, input });
    }
  }) as unknown as z.ZodMiniType<SegmentCreate>; // its check() enforces the union

const segmentUpdate = z
  .looseObject({ ...content, condition: z.optional(z.nullable(filter)) })
  .check((context) => {
    const input = context.value;
    const { condition } = input;
    const isGiven = condition !== undefined && condition !== null;
    const message = isGiven ? filterProblem(condition, everybody) : undefined;
    if (message !== undefined) {
      context.issues.push({ code: 'custom', path: ['condition'], message, input });
    }
  });

const member = z.looseObject({
  id: z.string(),
  email: z.string(),
  subscribed: z.boolean(),
  data: z.nullable(z.record(z.string(), z.unknown())),
  createdAt: z.optional(z.string()),
  updatedAt: z.optional(z.string()),
});

const memberQuery = z.looseObject({
  page: z.optional(z.int()),
  pageSize: z.optional(limit),
  cursor: z.optional(z.string()),
});

const membersRemove = z.looseObject({ emails: z.array(email) });

const membersAdd = z.extend(membersRemove, {
  createMissing: z.optional(z.boolean()),
  subscribed: z.optional(z.boolean()),
});

export const schemas = {
  list: { returns: segment },
  create: {
    body: segmentCreate,
    returns: makeLenient<Segment>(segment),
    warnings: ({ condition }) => filterWarnings('condition', condition),
  },
  get: { returns: z.extend(segment, { memberCount: z.number() }) },
  update: {
    body: segmentUpdate,
    returns: makeLenient<Segment>(segment),
    warnings: ({ condition }) => filterWarnings('condition', condition),
  },
  delete: { returns: open },
  compute: { returns: open },
  refresh: { returns: open },
  members: {
    list: { query: memberQuery, knownQuery: knownOf(memberQuery), returns: member },
    add: { body: membersAdd, returns: open, known: knownOf(membersAdd) },
    remove: { body: membersRemove, returns: open, known: knownOf(membersRemove) },
  },
} satisfies SchemasFor<typeof routes>;

function conditionProblem(type: 'DYNAMIC' | 'STATIC', condition: unknown): string | undefined {
  const isGiven = condition !== undefined && condition !== null;
  if (type === 'DYNAMIC') {
    return isGiven ? filterProblem(condition, everybody) : 'is required for a DYNAMIC segment';
  }
  return isGiven ? 'must not be set for a STATIC segment' : undefined;
}
