import type { HeadersInput } from './call.js';
import type { Logger } from './events.js';
import type { RateBudgetStore } from './rate-budget-store.js';

/** Checks of requests before they are sent, and of answers after they came. */
export interface ValidationOptions {
  /**
   * `'throw'` refuses a request that the service would reject or misread.
   * @default 'throw'
   */
  requests?: 'throw' | 'off' | undefined;
  /**
   * What happens when an answer does not match the document: an event, an error, nothing.
   * With `'event'`, answers are checked once something listens for `mismatch` or a `logger` is set.
   * @default 'event'
   */
  responses?: 'event' | 'throw' | 'off' | undefined;
}

/** How a client keeps to the service's rate limit. */
export interface RateLimitOptions {
  /** How many requests may be made in a window. */
  limit?: number | undefined;
  /** The length of a window, in milliseconds. */
  windowMs?: number | undefined;
  /**
   * The share of the limit that is left to other processes, from 0 up to 1. Any share at all says
   * that there are others: then no more than two dozen requests are under way at once, since each
   * of them is refused when the others were faster.
   * @default 0
   */
  headroom?: number | undefined;
  /** A name for the project: clients with the same name share one budget, whatever their keys. */
  group?: string | undefined;
  /**
   * The longest that a call may wait for the limit, in milliseconds.
   * @default Infinity
   */
  maxQueueMs?: number | undefined;
  /** Keeps the budget for several processes; without it each process keeps its own. */
  store?: RateBudgetStore | undefined;
}

/** What both clients take. All times are in milliseconds. */
export interface ClientOptions {
  /** The service's address, e.g. `https://api.example.com`. */
  baseUrl?: string | undefined;
  /** A `fetch` to use instead of the runtime's own. */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * The longest that one attempt may take, from connecting to the last byte of the answer, in
   * milliseconds.
   * @default 30_000
   */
  timeout?: number | undefined;
  /**
   * How many times a call may be repeated where that is safe.
   * @default 2
   */
  retries?: number | undefined;
  /** `false` leaves the rate limit to you. */
  rateLimit?: RateLimitOptions | false | undefined;
  validation?: ValidationOptions | undefined;
  /** More headers for every call. */
  headers?: HeadersInput | undefined;
  logger?: Logger | undefined;
  /** Allows a secret key in a browser, where every visitor can read it. Think twice. */
  dangerouslyAllowSecretKeyInBrowser?: boolean | undefined;
  /** Allows a secret key over plain http to another machine, where others can read it. */
  dangerouslyAllowPlainHttp?: boolean | undefined;
}

/** What happens to custom fields that the service would ignore in silence. */
export interface DataOptions {
  /**
   * A reserved key in `data`, which the service drops: `'warn'` sends it with a `warning`, `'throw'`
   * refuses the call, `'send'` sends it without a warning.
   * @default 'warn'
   */
  reserved?: 'warn' | 'throw' | 'send' | undefined;
  /**
   * An empty string in `data`, which the service ignores: `'warn'` sends it with a `warning`,
   * `'throw'` refuses the call, `'delete'` sends `null` instead, which deletes the field, `'send'`
   * sends it without a warning.
   * @default 'warn'
   */
  emptyString?: 'warn' | 'throw' | 'delete' | 'send' | undefined;
}
