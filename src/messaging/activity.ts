import { anyList, ofType, route, type MethodsFor } from '../core/call/route.js';
import type { OpenRecord } from '../core/values.js';
import type { Call, ListOptions, RequestOptions, Paginated } from '../core/types.js';
import type { Transport } from '../core/call/send.js';
import type { ListQuery, PeriodQuery } from './shared/values.js';

const query = ofType<ActivityPeriod>();

export const routes = {
  list: route('GET /activity', {
    query: ofType<ActivityQuery>(),
    returns: anyList<ActivityEntry>('activities'),
  }),
  stats: route('GET /activity/stats', { query, returns: ofType<ActivityStats>() }),
  recentCount: route('GET /activity/recent-count', { query, returns: ofType<ActivityCount>() }),
  types: route('GET /activity/types', { returns: ofType<ActivityTypes>() }),
  upcoming: route('GET /activity/upcoming', { query, returns: ofType<UpcomingActivity>() }),
};

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

/**
 * The activity of a project: sends, opens, clicks, bounces, complaints, inbound emails.
 * @example
 * const page = await messaging.activity.list({ limit: 50 });
 * const upcoming = await messaging.activity.upcoming();
 */
export class Activity implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists activity. `await` it for one page, `for await` it for everything. */
  list(query?: ActivityQuery, options?: ListOptions): Paginated<ActivityEntry> {
    return this.#transport.pages(routes.list, { query }, options);
  }

  /** Gets activity counts. */
  stats(query?: ActivityPeriod, options?: RequestOptions): Call<ActivityStats> {
    return this.#transport.send(routes.stats, { query }, options);
  }

  /** Counts recent activity. */
  recentCount(query?: ActivityPeriod, options?: RequestOptions): Call<ActivityCount> {
    return this.#transport.send(routes.recentCount, { query }, options);
  }

  /** Gets the distinct types of activity. */
  types(options?: RequestOptions): Call<ActivityTypes> {
    return this.#transport.send(routes.types, {}, options);
  }

  /** Gets upcoming scheduled sends and active executions. */
  upcoming(query?: ActivityPeriod, options?: RequestOptions): Call<UpcomingActivity> {
    return this.#transport.send(routes.upcoming, { query }, options);
  }
}
