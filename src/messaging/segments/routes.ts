import { numberedPage, of, wholeList, route } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type {
  CountedSegment,
  Segment,
  SegmentComputation,
  SegmentCreate,
  SegmentMember,
  SegmentMemberQuery,
  SegmentMembersAdd,
  SegmentMembersChange,
  SegmentMembersRemove,
  SegmentRefresh,
  SegmentUpdate,
} from './types.js';

export const routes = {
  list: route('GET /segments', { returns: wholeList<Segment>('segments') }),
  create: route('POST /segments', { body: of<SegmentCreate>(), returns: of<Segment>() }),
  get: route('GET /segments/{id}', { returns: of<CountedSegment>() }),
  update: route('PATCH /segments/{id}', {
    body: of<SegmentUpdate>(),
    returns: of<Segment>(),
  }),
  delete: route('DELETE /segments/{id}', { returns: of<Acknowledgement>() }),
  compute: route('POST /segments/{id}/compute', { returns: of<SegmentComputation>() }),
  refresh: route('POST /segments/{id}/refresh', {
    returns: of<SegmentRefresh>(),
    repeatable: true, // only recounts; fires no events
  }),
  members: {
    list: route('GET /segments/{id}/contacts', {
      query: of<SegmentMemberQuery>(),
      returns: numberedPage<SegmentMember>('pageSize', 'contacts'),
    }),
    add: route('POST /segments/{id}/members', {
      body: of<SegmentMembersAdd>(),
      returns: of<SegmentMembersChange>(),
      repeatable: true, // the same members twice
    }),
    remove: route('DELETE /segments/{id}/members', {
      body: of<SegmentMembersRemove>(),
      returns: of<SegmentMembersChange>(),
    }),
  },
};
