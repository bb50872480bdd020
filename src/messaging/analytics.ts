import { ofType, route, type MethodsFor } from '../core/call/route.js';
import type { OpenRecord } from '../core/values.js';
import type { Call, RequestOptions } from '../core/types.js';
import type { Transport } from '../core/call/send.js';
import type { PeriodQuery } from './shared/values.js';

const query = ofType<AnalyticsQuery>();

export const routes = {
  timeseries: route('GET /analytics/timeseries', { query, returns: ofType<Timeseries>() }),
  topCampaigns: route('GET /analytics/top-campaigns', { query, returns: ofType<TopCampaigns>() }),
  campaignStats: route('GET /analytics/campaign-stats', {
    query,
    returns: ofType<CampaignBreakdown>(),
  }),
  topEvents: route('GET /analytics/top-events', { query, returns: ofType<TopEvents>() }),
};

/** The period and size of a report. The service does not document these names. */
export interface AnalyticsQuery extends PeriodQuery {
  /** The number of entries in a ranking. */
  limit?: number | undefined;
}

/** Sends, opens and clicks over time. The service does not document its fields. */
export interface Timeseries extends OpenRecord {}

/** The top campaigns by a metric. The service does not document its fields. */
export interface TopCampaigns extends OpenRecord {}

/** Metrics of each campaign. The service does not document its fields. */
export interface CampaignBreakdown extends OpenRecord {}

/** The most frequent events. The service does not document its fields. */
export interface TopEvents extends OpenRecord {}

/**
 * Reports about emails, campaigns and events.
 * @example
 * const startDate = new Date(Date.now() - 7 * 24 * 60 * 60 * 1000);
 * const week = await messaging.analytics.timeseries({ startDate });
 */
export class Analytics implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Gets sends, opens and clicks over time. */
  timeseries(query?: AnalyticsQuery, options?: RequestOptions): Call<Timeseries> {
    return this.#transport.send(routes.timeseries, { query }, options);
  }

  /** Gets the top campaigns by a metric. */
  topCampaigns(query?: AnalyticsQuery, options?: RequestOptions): Call<TopCampaigns> {
    return this.#transport.send(routes.topCampaigns, { query }, options);
  }

  /** Gets the metrics of every campaign. `campaigns.stats()` gets the metrics of one campaign. */
  campaignStats(query?: AnalyticsQuery, options?: RequestOptions): Call<CampaignBreakdown> {
    return this.#transport.send(routes.campaignStats, { query }, options);
  }

  /** Gets the names of the most frequent events. */
  topEvents(query?: AnalyticsQuery, options?: RequestOptions): Call<TopEvents> {
    return this.#transport.send(routes.topEvents, { query }, options);
  }
}
