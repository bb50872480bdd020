import { readOptions } from '../options.js';

/** One event from a page. Only these fields are sent to the service. */
export interface ProxiedEvent {
  readonly event: string;
  /** The contact that the page names. Do not trust it: a caller can name any address. */
  readonly email?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of {@link createTrackProxy}. */
export interface TrackProxyOptions {
  /** The key of the project, secret or public: it stays on the server. */
  readonly apiKey: string;
  /** Address of the service. */
  readonly baseUrl: string;
  /**
   * Decides what is sent to the service: the event, the event with the contact of your session, or `null`,
   * which rejects it with a 403. The tracker then keeps its events and pauses until the next page. An error
   * counts as a 503.
   */
  readonly authorize?: (
    request: Request,
    event: ProxiedEvent,
  ) => ProxiedEvent | null | Promise<ProxiedEvent | null>;
  /**
   * Names the caller of a request, such as its address or session, for `perCaller`. Read only values that a
   * client cannot choose, such as a header that your front server sets. Requests without a name share one
   * limit. An error counts as a 503.
   */
  readonly callerOf?: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Maximum number of events per minute of one caller; more get a 429. Needs `callerOf`. @default 60 */
  readonly perCaller?: number;
  /** Maximum number of events per minute of all callers, out of the project's 1000 requests. @default 500 */
  readonly perMinute?: number;
  /**
   * The origins of your pages. Needed if a front server rewrites `Host` without `X-Forwarded-Host`. By
   * default a page must come from the host that the request names.
   */
  readonly origins?: readonly string[];
  /**
   * Time limit for the response to the page in milliseconds, including the time to read the body and to wait
   * for the service. A request to the service may continue for a minute. @default 10000
   */
  readonly timeout?: number;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Checks the options; throws a `TypeError` that names the invalid one. */
export function checkProxyOptions(given: TrackProxyOptions): TrackProxyOptions {
  const options = readOptions(given, {
    apiKey: 'string',
    baseUrl: 'string',
    authorize: 'function',
    callerOf: 'function',
    perCaller: 'number',
    perMinute: 'number',
    origins: 'object',
    timeout: 'number',
    fetch: 'function',
  });
  // An environment variable may be unset.
  for (const name of ['apiKey', 'baseUrl'] as const) {
    if (!options[name]) {
      throw new TypeError(`${name} is missing: createTrackProxy() needs it; is its variable set?`);
    }
  }
  if (options.origins && !Array.isArray(options.origins)) {
    throw new TypeError('origins must be a list');
  }
  if (options.perCaller !== undefined && !options.callerOf) {
    throw new TypeError('perCaller needs callerOf, which names the caller of a request');
  }
  return options;
}
