import { readOptions } from '../options.js';

/** One event as a page hands it in, of which only these fields go on to the service. */
export interface ProxiedEvent {
  readonly event: string;
  /** The contact that the page names: a caller can name any address. */
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
   * Decides what goes on to the service: the event, one with the contact of your session, or
   * `null`, which refuses it with a 403. The tracker then keeps its events and pauses until the
   * next page. An error counts as a 503.
   */
  readonly authorize?: (
    request: Request,
    event: ProxiedEvent,
  ) => ProxiedEvent | null | Promise<ProxiedEvent | null>;
  /**
   * Names the caller of a request, such as its address or session, for `perCaller`. Read only what
   * a client cannot choose: a header that your own front server sets. Requests without a name share
   * one allowance. An error counts as a 503.
   */
  readonly callerOf?: (request: Request) => string | undefined | Promise<string | undefined>;
  /** Events a minute of one caller; more get a 429. Needs `callerOf`. @default 60 */
  readonly perCaller?: number;
  /** Events a minute of all callers, of the 1000 requests of the project. @default 500 */
  readonly perMinute?: number;
  /**
   * Origins of your pages, where a front server rewrites `Host` without `X-Forwarded-Host`. By
   * default a page must come from the host that the request names.
   */
  readonly origins?: readonly string[];
  /**
   * Milliseconds until the page is answered, reading the body and waiting for the service included.
   * A request to the service may go on for a minute. @default 10000
   */
  readonly timeout?: number;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** The options as they were given, or a `TypeError` that names the one that does not fit. */
export function checkedOptions(given: TrackProxyOptions): TrackProxyOptions {
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
  // An environment variable may not be set.
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
