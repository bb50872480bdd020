// The public types, which each entry point of the tracker exports.

/** Names that the service drops in silence from any event data: here they are a type error. */
type ReservedField =
  'id' | 'svc_id' | 'svc_email' | 'email' | 'unsubscribeUrl' | 'subscribeUrl' | 'manageUrl';

/** A value for this event only: workflows see it, the contact does not keep it. */
export interface Transient<Value = unknown> {
  readonly value: Value;
  readonly persistent: false;
}

/**
 * One value of event data. A `Date` is sent as a full ISO string, `null` deletes the field from
 * the contact, an empty string leaves it as it is. An event with `NaN`, an infinity or an invalid date
 * is dropped, with a warning.
 */
export type FieldValue =
  | string
  | number
  | boolean
  | Date
  | null
  | undefined
  | Transient
  | readonly FieldValue[]
  | { readonly [key: string]: FieldValue };

/** Event data: stored on the contact as custom fields, except what is {@link Transient}. */
export type EventData = { readonly [field: string]: FieldValue } & {
  readonly [Reserved in ReservedField]?: never;
};

/** What a typed event map must look like: interfaces are fine, reserved names are not. */
export type EventMap<Events> = {
  [Name in keyof Events]: {
    [Field in keyof Events[Name]]: Field extends ReservedField
      ? never
      : Sendable<Events[Name][Field]>;
  };
};

/** A value as it is where JSON can carry it: interfaces at any depth, but no functions. */
type Sendable<Value> = Value extends FieldValue
  ? Value
  : Value extends (...parameters: never[]) => unknown
    ? never
    : Value extends object
      ? { readonly [Field in keyof Value]: Sendable<Value[Field]> }
      : never;

/** Any event name with any data: the map of a tracker without one. */
export type AnyEvents = Record<string, EventData>;

/**
 * Where an event ended: `queued` means kept, to be sent later. `unconfirmed` means handed over, and no
 * answer was seen: nearly all of them arrived.
 */
export type OutcomeStatus = 'delivered' | 'queued' | 'unconfirmed' | 'dropped';

/**
 * Why an event was dropped.
 *
 * - `rejected`: the service refused it (400, 422 and the like).
 * - `expired`: older than `maxAge`. `overflow`: the queue was full. `reset`: erased by `reset()`.
 * - `cleared`: others removed it from localStorage before it was sent.
 * - `denied`: consent was denied, here or in another tab. `gpc`, `filtered` (by `beforeSend`), `invalid`
 *   (its name, contact or data cannot be sent), `server`: never taken in.
 */
export type DropReason =
  | 'rejected'
  | 'expired'
  | 'overflow'
  | 'reset'
  | 'cleared'
  | 'denied'
  | 'gpc'
  | 'filtered'
  | 'invalid'
  | 'server';

/** The end of one event, as far as this page will know it. */
export interface Outcome {
  readonly status: OutcomeStatus;
  /** Why it was `dropped`; absent where React has no `TrackerProvider`. */
  readonly reason?: DropReason | undefined;
}

/** How many events were taken into the queue, delivered, left unconfirmed, and dropped for each reason. */
export type TrackerStats = {
  [What in 'taken' | 'delivered' | 'unconfirmed' | DropReason]?: number;
};

/** What `track()` returns at once. */
export interface TrackedEvent {
  /** The id of the event, the same in every notice about it. */
  readonly id: string;
  /** Never rejects and never hangs: a wait without a known end resolves to `queued`. */
  readonly outcome: Promise<Outcome>;
}

/** An event as `beforeSend` and the notices see it. */
export interface PendingEvent {
  readonly id: string;
  readonly event: string;
  /** Absent until `identify()` was called. */
  readonly email?: string | undefined;
  readonly data?: EventData | undefined;
  /** In `beforeSend`: when it was tracked, in milliseconds since 1970. */
  readonly at?: number | undefined;
}

/** The notices of a tracker and what each carries. */
export interface TrackerNotices {
  /** The service confirmed it. */
  delivered: PendingEvent;
  /**
   * It was handed over, and no answer was seen: at the end of a page, for a minute, or three times.
   * Nearly all of them arrived; `no-duplicates` does not send it again.
   */
  unconfirmed: PendingEvent;
  /** Not taken this time; sent again after `delayMs`. `status` is 0 without an answer. */
  retry: PendingEvent & { readonly status: number; readonly delayMs: number };
  /** It was not delivered and will not be sent. */
  dropped: PendingEvent & { readonly reason?: DropReason | undefined };
  /**
   * 401, 403, 404 or a redirect (`status` is 302 for any): the key, the address or a login is
   * wrong. Everything is kept until `resume()` or the next page.
   */
  paused: { readonly status: number };
  /** No answer twice in a row: one quiet try every five minutes from now on. */
  blocked: { readonly delayMs: number };
  /** Something failed, or has to be mended in the page's code: what it means, once for each page. */
  warning: { readonly message: string };
}

/** Options of `createTracker`. Times are in milliseconds. */
export interface TrackerOptions {
  /** The public key (`pk_`). Required unless `proxy` is set; a secret key is refused. */
  readonly publicKey?: string | undefined;
  /**
   * `baseUrl` is a proxy route of your own: no `Authorization` is sent and each body carries the
   * event's id. @default false
   */
  readonly proxy?: boolean;
  /** Address of the service, or of your proxy route; `/v1/track` is appended. */
  readonly baseUrl: string;
  /**
   * Name of this queue in the origin's storage. By default each public key (or proxy address) has
   * a queue of its own; set it to keep waiting events when the key is rotated.
   */
  readonly namespace?: string;
  /** The contact the events belong to; the same as calling `identify()` first. */
  readonly email?: string | undefined;
  /**
   * What happens to an event that was handed over and whose answer no page has seen: `no-duplicates`
   * ends it as `unconfirmed`, `no-loss` sends it again on the next visit.
   * @default 'no-duplicates'
   */
  readonly delivery?: 'no-duplicates' | 'no-loss';
  /**
   * Whether `no-duplicates` tries again when the service may have taken the event: after no answer or a
   * 5xx other than 503, three tries in all; after a 408, which browsers repeat themselves, two. `false` ends
   * it as `unconfirmed` at once.
   * @default true
   */
  readonly retryAmbiguous?: boolean;
  /**
   * `memory` writes no event to disk: undelivered events end with the page. What `consent.deny()` and
   * `reset()` decide still holds for all tabs and visits. @default 'durable'
   */
  readonly storage?: 'durable' | 'memory';
  /** Events of this tab kept at most; more are dropped. @default 500 */
  readonly maxQueue?: number;
  /** Characters kept at most in the origin's localStorage. @default 262144 */
  readonly maxBytes?: number;
  /** An event older than this, in milliseconds, is dropped. @default 86400000 */
  readonly maxAge?: number;
  /**
   * What this page starts with. `pending` keeps events in memory until `consent.grant()`, and calls
   * `beforeSend` then; `denied` takes none in, erases those that are stored, and writes nothing. After a
   * `consent.deny()`, on this
   * visit or an earlier one, `granted` is not enough: only `consent.grant()` undoes it.
   * @default 'granted'
   */
  readonly consent?: 'granted' | 'pending' | 'denied';
  /** Drop everything when the browser sends Global Privacy Control. @default true */
  readonly honorGpc?: boolean;
  /** Pace of this tab; events above it wait. @default { perSecond: 5, burst: 20 } */
  readonly limit?: { readonly perSecond: number; readonly burst: number };
  /**
   * Changes an event before it is stored; called once there is consent. `null` drops it as `filtered`.
   * Whatever else is no event, a promise or nothing, drops it too, with a warning; an error as well.
   */
  readonly beforeSend?: (event: PendingEvent) => PendingEvent | null;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** What else `track` takes. */
export interface TrackOptions {
  /** The contact of this event alone. */
  readonly email?: string;
}

/** `data` may be left out where no field is required. */
type TrackArguments<Data> =
  Partial<Data> extends Data
    ? [data?: OrTransient<Data>, options?: TrackOptions]
    : [data: OrTransient<Data>, options?: TrackOptions];

/** One event of a map, as a list of arguments: its name, its data, its options. */
export type EventArguments<Events> = {
  [Name in keyof Events & string]: [event: Name, ...rest: TrackArguments<Events[Name]>];
}[keyof Events & string];

/** The same fields, each of which may be meant for one event only. */
type OrTransient<Data> = {
  readonly [Field in keyof Data]: Data[Field] | Transient<Data[Field]>;
};

/** A tracker of one page. */
export interface Tracker<Events extends EventMap<Events> = AnyEvents> {
  /** Events of this tab that are not yet delivered or dropped. */
  readonly pending: number;
  readonly consent: {
    /**
     * Stores and sends the events that were held, here and in the tabs that are open at this moment, and
     * ends a denial, for all tabs and later visits. It is not remembered as consent: a page that starts
     * with `consent: 'pending'` later needs its own `grant()`.
     */
    grant(): void;
    /**
     * Drops what waits and what comes, erases every stored event of all tabs, until `grant()`. The other
     * tabs obey as soon as the browser tells them, later visits as long as localStorage or an open tab
     * remembers it. All of that is done when it returns.
     */
    deny(): Promise<void>;
  };
  /**
   * Sets the contact of all events from now on, and of those held back without one. What is no email
   * address is told in the console, and events wait for the next call. Each page has to call it anew.
   */
  identify(email: string): void;
  /** Takes an event in, synchronously. Never throws: what cannot be sent is told in the console. */
  track<Name extends keyof Events & string>(
    event: Name,
    ...rest: TrackArguments<Events[Name]>
  ): TrackedEvent;
  /**
   * Tries at once; true when nothing is left. Gives up after `timeout` ms, and earlier where waiting can
   * send nothing: without a contact, without consent, while paused. @default 5000
   */
  flush(options?: { readonly timeout?: number }): Promise<boolean>;
  /**
   * Forgets the contact and erases every stored event, of all tabs: call it on logout, after
   * `flush()`. The other tabs forget their contact too and wait for `identify()`. All of that is done
   * when it returns.
   */
  reset(): Promise<void>;
  /** What has become of the events of this page, and of those that it took over from others. */
  stats(): TrackerStats;
  /** Stops sending; events are still taken in. */
  pause(): void;
  /** Sends again, also after `paused`. */
  resume(): void;
  /** Calls `listener` on each notice, asynchronously; returns the function that stops it. */
  on<Notice extends keyof TrackerNotices>(
    notice: Notice,
    listener: (detail: TrackerNotices[Notice]) => void,
  ): () => void;
  /**
   * Ends this tracker as the end of the page would: what fits is handed over, the rest is left to
   * other tabs and later pages.
   */
  dispose(): void;
}
