import type { OpenRecord } from '../../contract/records.js';
import type { PeriodQuery } from '../shared/query.js';

/** What a report is about. The names are not given by the service's document. */
export interface AnalyticsQuery extends PeriodQuery {
  /** How many entries a ranking has. */
  limit?: number | undefined;
}

/** Sends, opens and clicks over time. The service's document does not show the fields. */
export interface Timeseries extends OpenRecord {}

/** The best campaigns by a metric. The service's document does not show the fields. */
export interface TopCampaigns extends OpenRecord {}

/** The numbers of each campaign. The service's document does not show the fields. */
export interface CampaignBreakdown extends OpenRecord {}

/** The most frequent events. The service's document does not show the fields. */
export interface TopEvents extends OpenRecord {}
