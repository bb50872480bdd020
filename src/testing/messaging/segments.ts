import { Refusal } from '../core/http.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { isActiveCampaign } from './campaigns.js';
import { listAnswer } from './lists.js';
import type { Scope, Segment } from './state.js';
import { given, readBody, type BodyFields, invalidField, isEmail } from './validate.js';
import { findSegment } from './find.js';
import { computeMembership, refreshCount, membersOf } from './filters.js';
import { contactByEmail, upsertContact } from './contact-store.js';

export const handlers: Handlers<Scope> = {
  // messaging, Segments: no pagination.
  'GET /segments': (request, scope) => {
    const items = [...scope.project.segments.values()].map(view);
    return listAnswer(scope, request, { items, name: 'segments', style: 'array' });
  },

  'POST /segments': (request, scope) => {
    const segment = createSegment(scope, request);
    refreshCount(scope, segment);
    scope.project.segments.set(segment.id, segment);
    return { status: 201, body: view(segment) };
  },

  'GET /segments/{id}': (request, scope) => ({ body: view(findSegment(scope, request)) }),

  'PATCH /segments/{id}': (request, scope) => {
    const segment = findSegment(scope, request);
    const change = readBody(request, (fields) => readChange(fields, segment));
    Object.assign(segment, change, { updatedAt: scope.world.clock.date().toISOString() });
    if ('condition' in change) {
      refreshCount(scope, segment);
    }
    return { body: view(segment) };
  },

  'DELETE /segments/{id}': (request, scope) => {
    const { id } = findSegment(scope, request);
    const { campaigns, segments } = scope.project;
    // messaging, Errors: 409 while an active campaign uses it.
    if ([...campaigns.values()].some((one) => one.segmentId === id && isActiveCampaign(one))) {
      throw new Refusal(409, 'CONFLICT', 'The segment is used by an active campaign.');
    }
    segments.delete(id);
    return { status: 204 };
  },

  'POST /segments/{id}/compute': (request, scope) => {
    const segment = findSegment(scope, request);
    if (segment.type !== 'DYNAMIC' || !segment.trackMembership) {
      throw new Refusal(400, 'BAD_REQUEST', 'Only a tracked dynamic segment can be computed.');
    }
    return { body: computeMembership(scope, segment) };
  },

  'POST /segments/{id}/refresh': (request, scope) => ({
    body: { memberCount: refreshCount(scope, findSegment(scope, request)) },
  }),

  // Who is in a segment; the answers to changes are not shown.
  'GET /segments/{id}/contacts': (request, scope) => {
    const items = membersOf(scope, findSegment(scope, request));
    return listAnswer(scope, request, { items, name: 'contacts', style: 'page' });
  },

  'POST /segments/{id}/members': (request, scope) => {
    const segment = findStatic(scope, request);
    return { body: { ...addMembers(scope, request, segment), memberCount: segment.memberCount } };
  },

  'DELETE /segments/{id}/members': (request, scope) => {
    const segment = findStatic(scope, request);
    const emails = readBody(request, (fields) => fields.texts('emails'));
    const ids = emails.map((email) => contactByEmail(scope, email)?.id ?? '');
    const removed = ids.filter((id) => segment.members.delete(id)).length;
    return { body: { removed, memberCount: refreshCount(scope, segment) } };
  },
};

function createSegment({ world }: Scope, request: FakeRequest): Segment {
  const at = world.clock.date().toISOString();
  return readBody(request, (fields) => {
    const type = fields.requiredOneOf('type', ['DYNAMIC', 'STATIC']);
    const condition = readCondition(fields, type);
    if (type === 'DYNAMIC' && condition === undefined) {
      fields.add('condition', 'A DYNAMIC segment requires `condition`.', 'required');
    }
    return {
      id: world.id('seg'),
      type,
      name: fields.text('name') ?? '',
      ...given({ description: fields.text('description'), condition }),
      trackMembership: fields.boolean('trackMembership') ?? false,
      memberCount: 0,
      members: new Set<string>(),
      createdAt: at,
      updatedAt: at,
    };
  });
}

/** messaging, Segment: DYNAMIC requires a condition, STATIC rejects it. */
function readCondition(fields: BodyFields, type: string): unknown {
  const condition = fields.raw('condition') ?? undefined;
  if (condition !== undefined && type === 'STATIC') {
    fields.add('condition', 'A STATIC segment takes no `condition`.', 'not_allowed');
  }
  // Its structure is not shown beyond one filter element, so that a list is taken too.
  if (condition !== undefined && typeof condition !== 'object') {
    fields.add('condition', '`condition` must be an object.', 'invalid_type');
  }
  return condition;
}

/** messaging, Segments: name, description, condition (dynamic only), trackMembership. */
function readChange(fields: BodyFields, { type }: Segment): Record<string, unknown> {
  return given({
    name: fields.text('name'),
    description: fields.text('description'),
    condition: readCondition(fields, type),
    trackMembership: fields.boolean('trackMembership'),
  });
}

/** The members have an endpoint of their own. */
function view(segment: Segment) {
  return { ...segment, id: segment.id, members: undefined };
}

/** messaging, Segments: static only. */
function findStatic(scope: Scope, request: FakeRequest): Segment {
  const segment = findSegment(scope, request);
  if (segment.type === 'STATIC') {
    return segment;
  }
  throw new Refusal(400, 'BAD_REQUEST', 'The members of a DYNAMIC segment follow its condition.');
}

interface Added {
  added: number;
  created: number;
  /** Emails without a contact, when `createMissing` is not set. */
  readonly missing: string[];
}

function addMembers(scope: Scope, request: FakeRequest, segment: Segment): Added {
  const { emails, createMissing, subscribed } = readBody(request, (fields) => ({
    emails: fields.texts('emails'),
    createMissing: fields.boolean('createMissing') ?? false,
    // The state of created contacts; without it that of `POST /contacts` (not shown).
    subscribed: fields.boolean('subscribed') ?? true,
  }));
  if (!emails.every(isEmail)) {
    throw invalidField('emails', '`emails` must be email addresses.');
  }
  const result: Added = { added: 0, created: 0, missing: [] };
  for (const email of emails) {
    const known = contactByEmail(scope, email);
    if (known === undefined && !createMissing) {
      result.missing.push(email);
      continue;
    }
    result.created += Number(known === undefined);
    const { id } = known ?? upsertContact(scope, email, { defaultSubscribed: subscribed }).contact;
    result.added += Number(!segment.members.has(id));
    segment.members.add(id);
  }
  refreshCount(scope, segment);
  return result;
}
