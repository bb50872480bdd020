import { anyList, of, route } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type {
  EventNames,
  EventQuery,
  EventStats,
  EventStatsQuery,
  EventUsage,
  TrackedEvent,
  TrackRequest,
  TrackResult,
} from './types.js';

const tracking = { body: of<TrackRequest>(), returns: of<TrackResult>() };
const list = { query: of<EventQuery>(), returns: anyList<TrackedEvent>('events') };

export const routes = {
  track: route('POST /events/track', tracking),
  list: route('GET /events', list),
  stats: route('GET /events/stats', {
    query: of<EventStatsQuery>(),
    returns: of<EventStats>(),
  }),
  listForContact: route('GET /events/contact/{contactId}', list),
  names: route('GET /events/names', { returns: of<EventNames>() }),
  usage: route('GET /events/{eventName}/usage', { returns: of<EventUsage>() }),
  delete: route('DELETE /events/{eventName}', { returns: of<Acknowledgement>() }),
};

/** The endpoint that frontends may call too: the client's own `track()`. */
export const trackingRoutes = {
  track: route('POST /v1/track', {
    ...tracking,
    key: 'public-or-secret', // Authentication, rule 3
  }),
};
