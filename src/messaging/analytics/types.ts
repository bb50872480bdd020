import type { OpenRecord } from '../../core/values.js';
import type { PeriodQuery } from '../shared/query.js';

/** What a report covers. The service does not document these names. */
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
