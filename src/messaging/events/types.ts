import type { OpenInput, OpenRecord } from '../../core/values.js';
import type { MessageData } from '../shared/data.js';
import type { ListQuery, PeriodQuery } from '../shared/query.js';

/**
 * An event to track. The service does not document which fields are required; a call without `email` or
 * `event` is sent with a `warning`.
 */
export interface TrackRequest<Fields extends object = object> extends OpenInput {
  /** The contact's email; a contact is created if none has it. */
  email?: string | undefined;
  /** The name of the event, e.g. `order.paid`. Workflows that listen for it are started. */
  event?: string | undefined;
  /** The service does not document this name. */
  subscribed?: boolean | undefined;
  /** Only the keys that you send change; `null` deletes a key; an empty string is ignored. */
  data?: MessageData<Fields> | undefined;
}

/** The ids of a tracked event and its contact. */
export interface TrackResult {
  /** The id of the contact. */
  contact: string;
  /** The id of the event. */
  event: string;
  /** ISO 8601. */
  timestamp: string;
}

/** An event as it was tracked. The service does not document its fields. */
export interface TrackedEvent extends OpenRecord {}

/** Which events to list. The service does not document these names. */
export interface EventQuery extends ListQuery, PeriodQuery {}

/** Which events to count. The service does not document these names. */
export interface EventStatsQuery extends PeriodQuery {}

/** Event statistics. The service does not document its fields. */
export interface EventStats extends OpenRecord {}

/** The distinct names of events. The service does not document its fields. */
export interface EventNames extends OpenRecord {}

/** Where an event is used. The service does not document its fields. */
export interface EventUsage extends OpenRecord {}
