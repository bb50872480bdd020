import type { OpenRecord } from '../../contract/records.js';
import type { ListQuery, PeriodQuery } from '../shared/query.js';

/**
 * Something that happened in a project: a send, an open, a click, a bounce, a complaint, an inbound
 * email. The service's document does not show its fields.
 */
export interface ActivityEntry extends OpenRecord {}

/** Which activity to list. The names are not given by the service's document. */
export interface ActivityQuery extends ListQuery, PeriodQuery {}

/** The span of time to look at. The names are not given by the service's document. */
export interface ActivityPeriod extends PeriodQuery {}

/** Numbers about the activity. The service's document does not show the fields. */
export interface ActivityStats extends OpenRecord {}

/** How much happened lately. The service's document does not show the fields. */
export interface ActivityCount extends OpenRecord {}

/** The distinct types of activity. The service's document does not show the fields. */
export interface ActivityTypes extends OpenRecord {}

/**
 * Scheduled sends that are to come and executions that are active. The service's document does not
 * show the fields.
 */
export interface UpcomingActivity extends OpenRecord {}
