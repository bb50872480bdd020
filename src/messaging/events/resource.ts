import type {
  Call,
  ListOptions,
  RequestOptions,
  Paginated,
  DataOptions,
} from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { withEmptyDeleted } from '../shared/request-body.js';
import { routes } from './routes.js';
import type {
  EventNames,
  EventQuery,
  EventStats,
  EventStatsQuery,
  EventUsage,
  TrackedEvent,
  TrackRequest,
  TrackResult,
} from './types.js';

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

  /** Deletes every event of that name; `usage()` says what listens for it. */
  delete(eventName: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { eventName } }, options);
  }
}
