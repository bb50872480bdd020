import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type {
  AnalyticsQuery,
  CampaignBreakdown,
  Timeseries,
  TopCampaigns,
  TopEvents,
} from './types.js';

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

  /** Gets the metrics of every campaign. `campaigns.stats()` gets those of one. */
  campaignStats(query?: AnalyticsQuery, options?: RequestOptions): Call<CampaignBreakdown> {
    return this.#transport.send(routes.campaignStats, { query }, options);
  }

  /** Gets the names of the most frequent events. */
  topEvents(query?: AnalyticsQuery, options?: RequestOptions): Call<TopEvents> {
    return this.#transport.send(routes.topEvents, { query }, options);
  }
}
