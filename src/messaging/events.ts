import { anyList, ofType, route, type NamesOf } from '../core/call/route.js';
import type { Acknowledgement, OpenInput, OpenRecord } from '../core/values.js';
import type { Call, ListOptions, RequestOptions, Paginated, DataOptions } from '../core/types.js';
import type { Transport } from '../core/call/send.js';
import type { MessageData } from './shared/data.js';
import { normalizeEmailsIn, type ListQuery, type PeriodQuery } from './shared/values.js';
import { withEmptyDeleted } from './shared/request-body.js';

const tracking = {
  body: ofType<TrackRequest>(),
  returns: ofType<TrackResult>(),
  normalize: normalizeEmailsIn('email'),
};
const list = { query: ofType<EventQuery>(), returns: anyList<TrackedEvent>('events') };

export const routes = {
  track: route('POST /events/track', tracking),
  list: route('GET /events', list),
  stats: route('GET /events/stats', {
    query: ofType<EventStatsQuery>(),
    returns: ofType<EventStats>(),
  }),
  listForContact: route('GET /events/contact/{contactId}', list),
  names: route('GET /events/names', { returns: ofType<EventNames>() }),
  usage: route('GET /events/{eventName}/usage', { returns: ofType<EventUsage>() }),
  delete: route('DELETE /events/{eventName}', { returns: ofType<Acknowledgement>() }),
};

/** The endpoint of `messaging.track()`, which frontends may call too. */
export const trackingRoutes = {
  track: route('POST /v1/track', {
    ...tracking,
    key: 'public-or-secret', // Authentication, rule 3
  }),
};

/**
 * An event to track. The service does not document whether `email` is required: a call without it is sent with a
 * `warning`.
 */
export interface TrackRequest<Fields extends object = object> extends OpenInput {
  /** The contact's email; a contact is created if none has it. */
  email?: string | undefined;
  /** The name of the event, e.g. `order.paid`. Workflows that listen for it are started. */
  event: string;
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

/** A tracked event. The service does not document its fields. */
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

/**
 * Tracked events.
 * @example
 * for await (const event of messaging.events.listForContact('con_1')) console.log(event);
 * const usage = await messaging.events.usage('order.paid');
 */
export class Events<Fields extends object = object> implements NamesOf<typeof routes> {
  readonly #transport: Transport;

  readonly #rules: DataOptions;

  constructor(transport: Transport, rules: DataOptions = {}) {
    this.#transport = transport;
    this.#rules = rules;
  }

  /** Tracks an event as `messaging.track()` does, but with a secret key only. */
  track(body: TrackRequest<Fields>, options?: RequestOptions): Call<TrackResult> {
    const sent = withEmptyDeleted(body, this.#rules);
    return this.#transport.send(routes.track, { body: sent }, options);
  }

  /** Lists recent events. `await` it for one page, `for await` it for every event. */
  list(query?: EventQuery, options?: ListOptions): Paginated<TrackedEvent> {
    return this.#transport.pages(routes.list, { query }, options);
  }

  /** Gets event statistics. */
  stats(query?: EventStatsQuery, options?: RequestOptions): Call<EventStats> {
    return this.#transport.send(routes.stats, { query }, options);
  }

  /** Lists the events of one contact. */
  listForContact(
    contactId: string,
    query?: EventQuery,
    options?: ListOptions,
  ): Paginated<TrackedEvent> {
    return this.#transport.pages(routes.listForContact, { params: { contactId }, query }, options);
  }

  /** Gets the distinct names of events. */
  names(options?: RequestOptions): Call<EventNames> {
    return this.#transport.send(routes.names, {}, options);
  }

  /** Lists the segments, workflow triggers and conditions that use an event. */
  usage(eventName: string, options?: RequestOptions): Call<EventUsage> {
    return this.#transport.send(routes.usage, { params: { eventName } }, options);
  }

  /** Deletes every event of that name; `usage()` lists where it is used. */
  delete(eventName: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { eventName } }, options);
  }
}

/**
 * Event tracking with either kind of key.
 * @example
 * await messaging.track({ email: 'ann@example.com', event: 'order.paid', data: { total: 42 } });
 */
export class Tracking<Fields extends object = object> implements NamesOf<typeof trackingRoutes> {
  readonly #transport: Transport;

  readonly #rules: DataOptions;

  constructor(transport: Transport, rules: DataOptions = {}) {
    this.#transport = transport;
    this.#rules = rules;
  }

  /**
   * Tracks an event for a contact, who is created or updated, and starts the workflows that listen
   * for it. A public key is enough. The service does not document whether a contact that it creates is
   * subscribed: services of this kind subscribe it.
   */
  track(body: TrackRequest<Fields>, options?: RequestOptions): Call<TrackResult> {
    const sent = withEmptyDeleted(body, this.#rules);
    return this.#transport.send(trackingRoutes.track, { body: sent }, options);
  }
}
