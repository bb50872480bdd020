import type { FieldError, Outcome, PostreelError } from './errors.js';
import type { JournalStore } from './journal.js';
import type { RateBudgetStore } from './rate-store.js';

/** A call's result together with the HTTP response that brought it. */
export interface Answer<T> {
  readonly data: T;
  /** The response, whose body has been read; `undefined` where `replayed` is true. */
  readonly response: Response | undefined;
  readonly requestId: string | undefined;
  /** Nothing was sent: `data` is what the call was answered when it was made, under the same `once`. */
  readonly replayed?: true | undefined;
}

/** The result of {@link Call.safe}: either `data` or `error`, never both. */
export type Safe<T> =
  | { readonly data: T; readonly error?: undefined }
  | { readonly data?: undefined; readonly error: PostreelError };

/** A call that is under way. Await it for its result. */
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
 * Headers as an object, a `Headers`, a `Map` or a list of pairs. What is `undefined` is left out. What
 * belongs to the connection or the body, such as `Connection` and `Content-Length`, is refused.
 */
export type HeadersInput =
  | Readonly<Record<string, string | undefined>>
  | Iterable<readonly [name: string, value: string | undefined]>;

/** Options of a single call. All times are in milliseconds. */
export interface RequestOptions {
  /** Ends the call at once, in every phase; it rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /**
   * The longest that one attempt may take, from connecting to the last byte of the answer, in
   * milliseconds.
   * @default 30_000
   */
  timeout?: number | undefined;
  /** The longest that the whole call may take, queueing and retries included, in milliseconds. */
  deadline?: number | undefined;
  /** More headers for this call. `Authorization` and `Content-Type` are ours. */
  headers?: HeadersInput | undefined;
  /**
   * How many times the call may be repeated where that is safe; 0 turns retries off.
   * @default 2
   */
  retries?: number | undefined;
  /** Repeats this call even when its outcome is unknown: it may happen twice. */
  retry?: { unknownOutcome?: boolean | undefined } | undefined;
  /**
   * Interactive calls go before bulk calls when the rate limit makes calls wait.
   * @default 'interactive'
   */
  priority?: 'interactive' | 'bulk' | undefined;
  /**
   * A key under which the call is made once, across crashes, restarts and hosts: who makes it again gets
   * the same answer, and nothing is sent. It needs a client with a `journal`, and is for calls whose
   * repeat does harm. Other content under the same key is an error (`ONCE_CONFLICT`); a call that may have
   * happened is one, too (`OUTCOME_UNKNOWN`).
   */
  once?: string;
}

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /**
   * How many pages are requested before your loop needs them, up to 100; 0 requests each page when
   * its turn comes. More than one helps where the work on a page takes a different time for each.
   * @default 1 item by item, 0 with `pages()`
   */
  prefetch?: number | undefined;
}

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
  /** Where calls with `once` are written down, e.g. `fileJournal(path)` of postreel/node. */
  journal?: JournalStore | undefined;
  /**
   * How long the journal keeps the key of an answered call, in milliseconds. A call that is made again
   * later is sent.
   * @default 30 days; media: for ever, since a forgotten key costs money
   */
  keep?: number | undefined;
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

/** What every event holds about its call. */
export interface CallEvent {
  /** The number of the call: the same in all of its events. */
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

/** An attempt leaves for the service. */
export interface RequestEvent extends CallEvent {
  /** Lets the request run inside of this function: `event.within((request) => request())`. */
  readonly within: (run: RunRequest) => void;
}

/** An attempt has ended: with an answer, without one, or by an abort. */
export interface ResponseEvent extends CallEvent {
  /** `undefined` when no answer came. */
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly requestId: string | undefined;
  /** Set when the attempt failed. */
  readonly outcome: Outcome | undefined;
}

/** A failed attempt will be repeated. */
export interface RetryEvent extends CallEvent {
  /** How long until the next attempt, in milliseconds; the rate limit may make it longer. */
  readonly delayMs: number;
  readonly error: Error;
}

/** A call waits for the rate limit, or the service asked to wait. */
export interface ThrottledEvent {
  readonly reason: 'limit' | 'service' | 'status-counts';
  /** How long the wait is expected to take, in milliseconds. */
  readonly waitMs: number;
  /** How many calls wait, this one included. */
  readonly queued: number;
}

/** An answer that does not match the document. It is handed on all the same, unless `responses` is `'throw'`. */
export interface MismatchEvent {
  readonly method: string;
  readonly path: string;
  readonly issues: readonly FieldError[];
}

/** Something in a request will have no effect, or goes on without what it should have, e.g. a store. */
export interface WarningEvent {
  readonly method: string;
  readonly path: string;
  readonly message: string;
  /** A word for programs, where one is promised: `UNKNOWN_OUTCOMES`. */
  readonly code?: string | undefined;
}

/** A call has begun. It may wait for the rate limit before its first attempt. */
export interface CallStartEvent extends Omit<CallEvent, 'attempt'> {
  /** The service's address. */
  readonly baseUrl: string;
}

/** A call is over, whatever its attempts came to. */
export interface CallEndEvent extends Omit<CallEvent, 'attempt'> {
  readonly durationMs: number;
  /** Whether a failed or aborted call took effect; `undefined` after success. */
  readonly outcome: Outcome | undefined;
  /** What the call rejected with; an abort's reason may be any value. */
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

/** Where a client writes what it does. `console` will do. Keys and bodies are never written. */
export interface Logger {
  /** Requests and answers. */
  debug?(message: string, facts?: object): void;
  /** Retries, and waits for the rate limit. */
  info?(message: string, facts?: object): void;
  /** What the service ignores, and what goes on without what it should have. */
  warn?(message: string, facts?: object): void;
  /** A listener that failed. */
  error?(message: string, facts?: object): void;
}

/** A list that has not been asked for yet. */
export interface Paginated<T> extends PromiseLike<Page<T>>, AsyncIterable<T> {
  /** Every item, in pages of 100 unless `limit` was given, one page ahead. */
  [Symbol.asyncIterator](): ItemIterator<T>;
  /** Page by page. */
  pages(): AsyncIterableIterator<Page<T>>;
  /** All items in an array; `max` stops there, without an error. */
  toArray(options?: { max?: number | undefined }): Promise<T[]>;
  /** The first item, or `undefined` when there is none. */
  first(): Promise<T | undefined>;
}

/** An iterator over items, with the cursor of its place. */
export interface ItemIterator<T> extends AsyncIterableIterator<T> {
  /**
   * Where to resume with `list({ cursor })`: at the page that holds the next item. Between two
   * pages nothing comes twice; inside a page its first items come again.
   */
  readonly cursor: string | undefined;
}

/** One page of a list. Iterating it goes on to the pages after it. */
export interface Page<T> extends AsyncIterable<T> {
  readonly items: readonly T[];
  /** How many items the whole list has; `undefined` where the service did not tell. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
  /** Where the next page starts, for `list({ cursor })`; `undefined` on the last page. */
  readonly cursor: string | undefined;
  /** The page after this one, or `undefined` when there is none. */
  nextPage(): Promise<Page<T> | undefined>;
}

/** The query parameter that marks an address as signed for a single callback. */
export const signatureParameter = 'postreel_signature';

/** The result that a callback brought for a file. */
export interface WebhookResult {
  readonly fileId: string;
  readonly status: 'success' | 'error';
  /** Where to download the file; `undefined` when its generation failed. */
  readonly url?: string | undefined;
  /** The callback's body as the service sent it. */
  readonly raw: unknown;
}

/** Where callbacks arrive, as far as a wait for a file needs it. */
export interface Inbox {
  /** Resolves with the callback of a file, also when it has already arrived. */
  wait(fileId: string, options?: { signal?: AbortSignal | undefined }): Promise<WebhookResult>;
}

/** A key, a function that fetches one, or `null` for a client without any. */
export type ApiKey = string | null | (() => string | Promise<string>);

/** What a call to an endpoint without a method of its own sends. */
export interface FreeInput {
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Sent as JSON, a `FormData` as it is. */
  body?: unknown;
}

/** The current state of a client's rate budget. */
export interface RateLimitState {
  /** How many requests may be made in a window. */
  readonly limit: number;
  /** How many of them are taken. */
  readonly used: number;
  /** How many calls wait. */
  readonly queued: number;
  /** When the next request becomes free, if all are taken or the service asked to wait. */
  readonly resetsAt: Date | undefined;
}

/** The rate budget of a client. */
export interface RateLimit {
  /** The budget right now; `undefined` with `rateLimit: false` or before the first key is known. */
  state(): RateLimitState | undefined;
}
