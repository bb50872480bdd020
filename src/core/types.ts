import type { FieldError, Outcome, PostreelError } from './errors.js';
import type { JournalStore } from './once/journal.js';
import type { RateBudgetStore } from './limit/rate-store.js';

/** A call's result together with its HTTP response. */
export interface Answer<T> {
  readonly data: T;
  /** The response, whose body has been read; `undefined` if `replayed` is true. */
  readonly response: Response | undefined;
  readonly requestId: string | undefined;
  /** No request was sent: `data` is the result of an earlier call with the same `once`. */
  readonly replayed?: true | undefined;
}

/** The result of {@link Call.safe}: either `data` or `error`, never both. */
export type Safe<T> =
  | { readonly data: T; readonly error?: undefined }
  | { readonly data?: undefined; readonly error: PostreelError };

/** A running call. Await it for its result. */
export interface Call<T> extends Promise<T> {
  /** Resolves to the result with the HTTP response and the service's request id. */
  withResponse(): Promise<Answer<T>>;
  /**
   * Resolves to `{ data }`, or to `{ error }` if the call fails. An abort is an error with the code
   * `ABORTED` and the signal's reason as its `cause`.
   */
  safe(): Promise<Safe<T>>;
  /** Whether a failed or aborted call took effect; `undefined` while it runs or after success. */
  readonly outcome: Outcome | undefined;
}

/**
 * Headers as an object, a `Headers`, a `Map` or a list of pairs. A header that is `undefined` is left out.
 * Headers of the connection or the body, such as `Connection` and `Content-Length`, are rejected.
 */
export type HeadersInput =
  | Readonly<Record<string, string | undefined>>
  | Iterable<readonly [name: string, value: string | undefined]>;

/** Options of a single call. All times are in milliseconds. */
export interface RequestOptions {
  /** Ends the call at once, in every phase; it rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /**
   * The longest that one attempt may take, from connecting to the last byte of the response, in
   * milliseconds.
   * @default 30_000
   */
  timeout?: number | undefined;
  /** The longest that the whole call may take, including queueing and retries, in milliseconds. */
  deadline?: number | undefined;
  /** Additional headers for this call. The client sets `Authorization` and `Content-Type` itself. */
  headers?: HeadersInput | undefined;
  /**
   * How many times the call may be repeated if a repeat is safe; 0 turns retries off.
   * @default 2
   */
  retries?: number | undefined;
  /** Repeats this call even if its outcome is unknown: it may take effect twice. */
  retry?: { unknownOutcome?: boolean | undefined } | undefined;
  /**
   * Interactive calls go before bulk calls when the rate limit makes calls wait.
   * @default 'interactive'
   */
  priority?: 'interactive' | 'bulk' | undefined;
  /**
   * A key under which the call is made once, across crashes, restarts and hosts. A later call with the same
   * key resolves to the same result, and no request is sent. Requires a client with a `journal`. Only for
   * calls that would do harm if they were repeated. Using the key with other content is an error
   * (`ONCE_CONFLICT`), and so is repeating a call that may have happened (`OUTCOME_UNKNOWN`).
   */
  once?: string;
}

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /**
   * How many pages are requested before your loop needs them, up to 100. 0 requests each page when the loop
   * reaches it. More than 1 helps if some pages take much longer to process than others.
   * @default 1 item by item, 0 with `pages()`
   */
  prefetch?: number | undefined;
}

/** Checks of requests before they are sent, and of responses. */
export interface ValidationOptions {
  /**
   * `'throw'` rejects a request that the service would reject or misread.
   * @default 'throw'
   */
  requests?: 'throw' | 'off' | undefined;
  /**
   * How to treat a response that does not match the document: emit an event, throw an error, or ignore it.
   * With `'event'`, responses are checked only if there is a listener for `mismatch` or a `logger`.
   * @default 'event'
   */
  responses?: 'event' | 'throw' | 'off' | undefined;
}

/** How a client keeps to the service's rate limit. */
export interface RateLimitOptions {
  /** How many requests may be sent in a window. */
  limit?: number | undefined;
  /** The length of a window, in milliseconds. */
  windowMs?: number | undefined;
  /**
   * The share of the limit that is left to other processes, from 0 up to 1. Any share above 0 means that
   * there are other processes. Then at most 24 requests are in flight at once, because the service rejects
   * each of them if the others were faster.
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
  /** Shares the budget between several processes. Without a store each process has a separate budget. */
  store?: RateBudgetStore | undefined;
}

/** The options of both clients. All times are in milliseconds. */
export interface ClientOptions {
  /** The service's address, e.g. `https://api.example.com`. */
  baseUrl?: string | undefined;
  /** A `fetch` to use instead of the global one. */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * The longest that one attempt may take, from connecting to the last byte of the response, in
   * milliseconds.
   * @default 30_000
   */
  timeout?: number | undefined;
  /**
   * How many times a call may be repeated if a repeat is safe.
   * @default 2
   */
  retries?: number | undefined;
  /** The rate limit of the client. `false` leaves the rate limit to you. */
  rateLimit?: RateLimitOptions | false | undefined;
  validation?: ValidationOptions | undefined;
  /** Additional headers for every call. */
  headers?: HeadersInput | undefined;
  logger?: Logger | undefined;
  /** The store that records calls with `once`, e.g. `fileJournal(path)` of postreel/node. */
  journal?: JournalStore | undefined;
  /**
   * How long the journal keeps the key of an answered call, in milliseconds. After that, a call with the
   * same key is sent again.
   * @default 30 days; media: for ever, since a forgotten key costs money
   */
  keep?: number | undefined;
  /** Allows a secret key in a browser, where every visitor can read it. Think twice. */
  dangerouslyAllowSecretKeyInBrowser?: boolean | undefined;
  /** Allows a secret key over plain http to another machine, where others can read it. */
  dangerouslyAllowPlainHttp?: boolean | undefined;
}

/** How to treat custom fields that the service would silently ignore. */
export interface DataOptions {
  /**
   * A reserved key in `data`, which the service drops. `'warn'` sends it with a `warning`, `'throw'` rejects
   * the call, `'send'` sends it without a warning.
   * @default 'warn'
   */
  reserved?: 'warn' | 'throw' | 'send' | undefined;
  /**
   * An empty string in `data`, which the service ignores. `'warn'` sends it with a `warning`, `'throw'`
   * rejects the call, `'delete'` sends `null` instead, which deletes the field, `'send'` sends it without a
   * warning.
   * @default 'warn'
   */
  emptyString?: 'warn' | 'throw' | 'delete' | 'send' | undefined;
}

/** The facts of a call that every event holds. */
export interface CallEvent {
  /** The number of the call, the same in all of its events. */
  readonly callId: number;
  readonly method: string;
  /** The path with the names of its parameters; `undefined` for a call of `request()`. */
  readonly route: string | undefined;
  /** The path below the base address, without the query. */
  readonly path: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** Runs a request, e.g. with a span as the active one. */
export type RunRequest = <T>(request: () => T) => T;

/** An attempt is about to be sent. */
export interface RequestEvent extends CallEvent {
  /** Runs the request inside the given function: `event.within((request) => request())`. */
  readonly within: (run: RunRequest) => void;
}

/** An attempt has ended: with a response, without one, or by an abort. */
export interface ResponseEvent extends CallEvent {
  /** The HTTP status; `undefined` if there was no response. */
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly requestId: string | undefined;
  /** Set when the attempt failed. */
  readonly outcome: Outcome | undefined;
}

/** A failed attempt will be repeated. */
export interface RetryEvent extends CallEvent {
  /** How long until the next attempt, in milliseconds. The rate limit may make it longer. */
  readonly delayMs: number;
  readonly error: Error;
}

/** A call waits for the rate limit, or the service asked to wait. */
export interface ThrottledEvent {
  readonly reason: 'limit' | 'service' | 'status-counts';
  /** How long the wait is expected to take, in milliseconds. */
  readonly waitMs: number;
  /** How many calls wait, including this one. */
  readonly queued: number;
}

/** A response does not match the document. The call still returns it, unless `responses` is `'throw'`. */
export interface MismatchEvent {
  readonly method: string;
  readonly path: string;
  readonly issues: readonly FieldError[];
}

/**
 * Part of a request will have no effect, or the client continues without something it needs, e.g. a store.
 */
export interface WarningEvent {
  readonly method: string;
  readonly path: string;
  readonly message: string;
  /** A stable code for programs, if one is promised: `UNKNOWN_OUTCOMES`. */
  readonly code?: string | undefined;
}

/** A call has started. It may wait for the rate limit before its first attempt. */
export interface CallStartEvent extends Omit<CallEvent, 'attempt'> {
  /** The service's address. */
  readonly baseUrl: string;
}

/** A call has ended, with or without success. */
export interface CallEndEvent extends Omit<CallEvent, 'attempt'> {
  readonly durationMs: number;
  /** Whether a failed or aborted call took effect; `undefined` after success. */
  readonly outcome: Outcome | undefined;
  /** The error that the call rejected with. The reason of an abort may be any value. */
  readonly error?: unknown;
}

/** The events that clients emit. */
export interface ClientEvents {
  'call:start': CallStartEvent;
  'call:end': CallEndEvent;
  request: RequestEvent;
  response: ResponseEvent;
  retry: RetryEvent;
  throttled: ThrottledEvent;
  mismatch: MismatchEvent;
  warning: WarningEvent;
}

/** Where a client logs its work, e.g. `console`. Keys and bodies are never logged. */
export interface Logger {
  /** Requests and responses. */
  debug?(message: string, facts?: object): void;
  /** Retries, and waits for the rate limit. */
  info?(message: string, facts?: object): void;
  /** Fields that the service ignores, and work that continues without something it needs. */
  warn?(message: string, facts?: object): void;
  /** A listener that failed. */
  error?(message: string, facts?: object): void;
}

/** A list whose pages are requested on demand. */
export interface Paginated<T> extends PromiseLike<Page<T>>, AsyncIterable<T> {
  /** Every item, in pages of 100 unless `limit` was given, with one page requested in advance. */
  [Symbol.asyncIterator](): ItemIterator<T>;
  /** Page by page. */
  pages(): AsyncIterableIterator<Page<T>>;
  /** All items in an array. Stops at `max` items, without an error. */
  toArray(options?: { max?: number | undefined }): Promise<T[]>;
  /** The first item, or `undefined` if the list is empty. */
  first(): Promise<T | undefined>;
}

/** An iterator over items, with a cursor to resume from. */
export interface ItemIterator<T> extends AsyncIterableIterator<T> {
  /**
   * The cursor to resume from with `list({ cursor })`: it starts at the page that holds the next item. If
   * you stop between two pages, no item is repeated; inside a page, its first items are repeated.
   */
  readonly cursor: string | undefined;
}

/** One page of a list. Iterating over it continues with the pages after it. */
export interface Page<T> extends AsyncIterable<T> {
  readonly items: readonly T[];
  /** How many items the whole list has; `undefined` if the service did not report it. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
  /** Where the next page starts, for `list({ cursor })`; `undefined` on the last page. */
  readonly cursor: string | undefined;
  /** The page after this one, or `undefined` on the last page. */
  nextPage(): Promise<Page<T> | undefined>;
}

/** The query parameter that marks an address as signed for a single callback. */
export const signatureParameter = 'postreel_signature';

/** The result of a file, as a callback reported it. */
export interface WebhookResult {
  readonly fileId: string;
  readonly status: 'success' | 'error';
  /** The address to download the file from; `undefined` if its generation failed. */
  readonly url?: string | undefined;
  /** The callback's body as the service sent it. */
  readonly raw: unknown;
}

/** The part of a callback receiver that a wait for a file needs. */
export interface Inbox {
  /** Resolves to the callback of a file, even if it has already arrived. */
  wait(fileId: string, options?: { signal?: AbortSignal | undefined }): Promise<WebhookResult>;
}

/** An API key, a function that fetches one, or `null` for a client without a key. */
export type ApiKey = string | null | (() => string | Promise<string>);

/** The input of a call to an endpoint that has no method. */
export interface FreeInput {
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Sent as JSON; a `FormData` is sent as a form. */
  body?: unknown;
}

/** The current state of a client's rate budget. */
export interface RateLimitState {
  /** How many requests may be sent in a window. */
  readonly limit: number;
  /** How many of them are used. */
  readonly used: number;
  /** How many calls wait. */
  readonly queued: number;
  /** When the next request may be sent, if all are used or the service asked to wait. */
  readonly resetsAt: Date | undefined;
}

/** The rate budget of a client. */
export interface RateLimit {
  /** The budget right now; `undefined` with `rateLimit: false` or before the first key is known. */
  state(): RateLimitState | undefined;
}
