import { anyList, of, route } from '../../core/route.js';
import type {
  ActivityCount,
  ActivityEntry,
  ActivityPeriod,
  ActivityQuery,
  ActivityStats,
  ActivityTypes,
  UpcomingActivity,
} from './types.js';

const query = of<ActivityPeriod>();

export const routes = {
  list: route('GET /activity', {
    query: of<ActivityQuery>(),
    returns: anyList<ActivityEntry>('activities'),
  }),
  stats: route('GET /activity/stats', { query, returns: of<ActivityStats>() }),
  recentCount: route('GET /activity/recent-count', { query, returns: of<ActivityCount>() }),
  types: route('GET /activity/types', { returns: of<ActivityTypes>() }),
  upcoming: route('GET /activity/upcoming', { query, returns: of<UpcomingActivity>() }),
};
