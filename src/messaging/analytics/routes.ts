import { of, route } from '../../core/route.js';
import type {
  AnalyticsQuery,
  CampaignBreakdown,
  Timeseries,
  TopCampaigns,
  TopEvents,
} from './types.js';

const query = of<AnalyticsQuery>();

export const routes = {
  timeseries: route('GET /analytics/timeseries', { query, returns: of<Timeseries>() }),
  topCampaigns: route('GET /analytics/top-campaigns', { query, returns: of<TopCampaigns>() }),
  campaignStats: route('GET /analytics/campaign-stats', {
    query,
    returns: of<CampaignBreakdown>(),
  }),
  topEvents: route('GET /analytics/top-events', { query, returns: of<TopEvents>() }),
};
