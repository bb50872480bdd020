import type { OpenRecord } from '../../core/values.js';
import type { ListQuery, PeriodQuery } from '../shared/query.js';

/**
 * One activity of a project: a send, an open, a click, a bounce, a complaint, an inbound email. The
 * service does not document its fields.
 */
export interface ActivityEntry extends OpenRecord {}

/** Which activity to list. The service does not document these names. */
export interface ActivityQuery extends ListQuery, PeriodQuery {}

/** The period to cover. The service does not document these names. */
export interface ActivityPeriod extends PeriodQuery {}

/** Activity counts. The service does not document its fields. */
export interface ActivityStats extends OpenRecord {}

/** The number of recent events. The service does not document its fields. */
export interface ActivityCount extends OpenRecord {}

/** The distinct types of activity. The service does not document its fields. */
export interface ActivityTypes extends OpenRecord {}

/**
 * Upcoming scheduled sends and active executions. The service does not document its
 * fields.
 */
export interface UpcomingActivity extends OpenRecord {}
