import { Refusal } from '../../core/http/refusal.js';
import type { FakeRequest, Handlers } from '../../core/types.js';
import { isActiveCampaign } from '../campaigns/campaign.js';
import { listAnswer } from '../lists.js';
import type { Scope, Segment } from '../state.js';
import { given, readBody, type Fields } from '../validate.js';
import { findSegment } from '../find.js';
import { handlers as memberHandlers } from './member-handlers.js';
import { computeMembership, refreshCount } from './members.js';

export const handlers: Handlers<Scope> = {
  ...memberHandlers,

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
    Object.assign(segment, change, { updatedAt: scope.world.clock.date() });
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
};

function createSegment({ world }: Scope, request: FakeRequest): Segment {
  const at = world.clock.date();
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
function readCondition(fields: Fields, type: string): unknown {
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
function readChange(fields: Fields, { type }: Segment): Record<string, unknown> {
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
