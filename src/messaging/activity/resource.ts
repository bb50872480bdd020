import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type {
  ActivityCount,
  ActivityEntry,
  ActivityPeriod,
  ActivityQuery,
  ActivityStats,
  ActivityTypes,
  UpcomingActivity,
} from './types.js';

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
