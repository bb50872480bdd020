import {
  flag,
  isEmail,
  oneOf,
  optional,
  required,
  text,
  texts,
  wrong,
  type Rule,
} from '../core/checks.js';
import { Refusal } from '../core/http.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { isActiveCampaign } from './campaigns.js';
import { contactByEmail, upsertContact } from './contact-store.js';
import { computeMembership, membersOf, refreshCount } from './filters.js';
import { listAnswer } from './lists.js';
import { bodyOf, crud, findOwn, invalidField, readBody, stamps } from './resource.js';
import type { Project, Scope, Segment } from './state.js';

const ofProject = ({ segments }: Project) => segments;

export const handlers: Handlers<Scope> = {
  ...crud<Segment>({
    name: 'segments',
    style: 'array', // messaging, Segments: no pagination
    of: ofProject,
    // The members have a separate endpoint.
    listed: (segment) => ({ ...segment, id: segment.id, members: undefined }),
    create: createSegment,
    change: changeSegment,
    checkUnused({ project }, { id }) {
      // messaging, Errors: 409 while an active campaign uses it.
      const campaigns = [...project.campaigns.values()];
      if (campaigns.some((one) => one.segmentId === id && isActiveCampaign(one))) {
        throw new Refusal(409, 'CONFLICT', 'The segment is used by an active campaign.');
      }
    },
  }),

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

  // The members of a segment; the responses to changes are not shown.
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
    const { emails } = readBody(request, { emails: required(texts()) });
    const ids = emails.map((email) => contactByEmail(scope, email)?.id ?? '');
    const removed = ids.filter((id) => segment.members.delete(id)).length;
    return { body: { removed, memberCount: refreshCount(scope, segment) } };
  },
};

function findSegment(scope: Scope, request: FakeRequest): Segment {
  return findOwn(scope, ofProject, request.params.id);
}

/** messaging, Segments: the fields of an update; a creation has the same ones. */
const changeRules = (isStatic: boolean) => ({
  name: text,
  description: text,
  condition: isStatic ? noCondition : condition,
  trackMembership: flag,
});

/** The document shows only a single filter element, so a list of elements is accepted too. */
const condition: Rule<object | null> = {
  check: (value) => (typeof value === 'object' ? [] : wrong('must be an object.', 'invalid_type')),
};

/** messaging, Segment: STATIC rejects a condition. */
const noCondition: Rule<object | null> = {
  check: (value) => (value === null ? [] : wrong('is not for a STATIC segment.', 'not_allowed')),
};

function createSegment(scope: Scope, request: FakeRequest): Segment {
  const isStatic = bodyOf(request).type === 'STATIC';
  const rules = {
    type: required(oneOf('DYNAMIC', 'STATIC')),
    ...changeRules(isStatic),
  };
  const {
    name = '',
    trackMembership = false,
    condition: filter,
    ...rest
  } = readBody(request, rules, (fields) =>
    // messaging, Segment: DYNAMIC requires a condition.
    fields.type === 'DYNAMIC' && !fields.condition
      ? [{ field: 'condition', message: 'is required for DYNAMIC.', code: 'required' }]
      : [],
  );
  const segment: Segment = {
    ...rest,
    ...(filter && { condition: filter }),
    id: scope.world.id('seg'),
    name,
    trackMembership,
    memberCount: 0,
    members: new Set<string>(),
    ...stamps(scope),
  };
  refreshCount(scope, segment);
  return segment;
}

function changeSegment(scope: Scope, request: FakeRequest, segment: Segment): object {
  const { condition: filter, ...change } = readBody(
    request,
    changeRules(segment.type === 'STATIC'),
  );
  if (filter) {
    segment.condition = filter;
    refreshCount(scope, segment);
  }
  return change;
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
  const { emails, createMissing, subscribed } = readBody(request, {
    emails: required(texts()),
    createMissing: optional(flag, false),
    // The state of created contacts; without it that of `POST /contacts` (not shown).
    subscribed: optional(flag, true),
  });
  if (!emails.every(isEmail)) {
    throw invalidField('emails', 'must be email addresses.');
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
