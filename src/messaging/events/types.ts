import type { OpenRecord } from '../../contract/records.js';
import type { ContactData } from '../shared/data.js';
import type { ListQuery, PeriodQuery } from '../shared/query.js';

/** Something that a contact did. */
export interface TrackRequest {
  /** The contact; one is made when none has this email. */
  email: string;
  /** The name of the event, e.g. `order.paid`. Workflows that listen to it are started. */
  event: string;
  /** Only the keys that are sent change; `null` deletes a key; an empty string is ignored. */
  data?: ContactData | undefined;
}

/** What was tracked. */
export interface TrackResult {
  /** The id of the contact. */
  contact: string;
  /** The id of the event. */
  event: string;
  /** ISO 8601. */
  timestamp: string;
}

/** An event as it was tracked. The service's document does not show its fields. */
export interface TrackedEvent extends OpenRecord {}

/** Which events to list. The names are not given by the service's document. */
export interface EventQuery extends ListQuery, PeriodQuery {}

/** Which events to count. The names are not given by the service's document. */
export interface EventStatsQuery extends PeriodQuery {}

/** Numbers about events. The service's document does not show the fields. */
export interface EventStats extends OpenRecord {}

/** The distinct names of events. The service's document does not show the fields. */
export interface EventNames extends OpenRecord {}

/** Where an event is used. The service's document does not show the fields. */
export interface EventUsage extends OpenRecord {}
