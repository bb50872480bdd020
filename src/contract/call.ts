import type { Outcome, PostreelError } from '../errors/index.js';

/** A call's result together with the HTTP response that brought it. */
export interface Answer<T> {
  readonly data: T;
  /** The response; its body has been read already. */
  readonly response: Response;
  readonly requestId: string | undefined;
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
  /** After an unknown outcome reads the result back where that is possible. */
  reconcile?: boolean | undefined;
  /**
   * Interactive calls go before bulk calls when the rate limit makes calls wait.
   * @default 'interactive'
   */
  priority?: 'interactive' | 'bulk' | undefined;
}

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /**
   * How many pages are requested before your loop needs them, up to 100; 0 requests each page when
   * its turn comes. More than one helps where the work on a page takes a different time for each.
   * @default 1 item by item, 0 with `pages()`
   */
  prefetch?: number | undefined;
  /**
   * `'allow'` takes a list as it is where the service announces more, but not how to get it.
   * Otherwise it ends in an `UnexpectedResponseError` with the code `LIST_INCOMPLETE`.
   */
  incomplete?: 'allow' | undefined;
}
