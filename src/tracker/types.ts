// The public types, which each entry point of the tracker exports.

/** Field names that the service silently drops from event data: a type error here. */
type ReservedField =
  'id' | 'svc_id' | 'svc_email' | 'email' | 'unsubscribeUrl' | 'subscribeUrl' | 'manageUrl';

/** A value for one event only: workflows see it, the contact does not keep it. */
export interface Transient<Value = unknown> {
  readonly value: Value;
  readonly persistent: false;
}

/**
 * One value of event data.
 *
 * A `Date` is sent as a full ISO string. `null` deletes the field from the contact; an empty string leaves it
 * unchanged. An event with `NaN`, an infinity or an invalid date is dropped, with a warning.
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

/** Event data: stored on the contact as custom fields, except {@link Transient} values. */
export type EventData = { readonly [field: string]: FieldValue } & {
  readonly [Reserved in ReservedField]?: never;
};

/** The form of a typed event map: any interface without reserved field names. */
export type EventMap<Events> = {
  [Name in keyof Events]: {
    [Field in keyof Events[Name]]: Field extends ReservedField
      ? never
      : Sendable<Events[Name][Field]>;
  };
};

/** A value that JSON can carry: interfaces at any depth, but no functions. */
type Sendable<Value> = Value extends FieldValue
  ? Value
  : Value extends (...parameters: never[]) => unknown
    ? never
    : Value extends object
      ? { readonly [Field in keyof Value]: Sendable<Value[Field]> }
      : never;

/** Any event name with any data: the default map of a tracker. */
export type AnyEvents = Record<string, EventData>;

/**
 * How an event ended. `queued`: kept, to be sent later. `unconfirmed`: sent without a visible response;
 * nearly all of these arrived.
 */
export type OutcomeStatus = 'delivered' | 'queued' | 'unconfirmed' | 'dropped';

/**
 * Why an event was dropped.
 *
 * - `rejected`: the service refused it (400, 422 and the like).
 * - `expired`: older than `maxAge`. `overflow`: the queue was full. `reset`: erased by `reset()`.
 * - `cleared`: another script removed it from localStorage before it was sent.
 * - `denied`: consent was denied, here or in another tab. `gpc`, `filtered` (by `beforeSend`), `invalid` (its
 *   name, contact or data cannot be sent), `server`: never taken in.
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

/** The number of events taken into the queue, delivered, left unconfirmed, and dropped for each reason. */
export type TrackerStats = {
  [What in 'taken' | 'delivered' | 'unconfirmed' | DropReason]?: number;
};

/** The return value of `track()`. */
export interface TrackedEvent {
  /** The id of the event, the same in every notice about it. */
  readonly id: string;
  /**
   * Resolves to the end of the event. Never rejects and never hangs: without a known end it resolves to
   * `queued` after 10 s.
   */
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

/** The notices of a tracker, with the detail of each. */
export interface TrackerNotices {
  /** The service confirmed the event. */
  delivered: PendingEvent;
  /**
   * The event was sent, and no response was seen: at the end of a page, for a minute, or three times.
   * Nearly all of these events arrived; `no-duplicates` does not send them again.
   */
  unconfirmed: PendingEvent;
  /**
   * The service did not take the event; it is sent again after `delayMs`. `status` is 0 without a response.
   */
  retry: PendingEvent & { readonly status: number; readonly delayMs: number };
  /** The event was not delivered and will not be sent. */
  dropped: PendingEvent & { readonly reason?: DropReason | undefined };
  /**
   * The service returned 401, 403, 404 or a redirect (`status` is 302 for any redirect): the key, the address
   * or a login is wrong. All events are kept until `resume()` or the next page.
   */
  paused: { readonly status: number };
  /** Two requests in a row had no response: from now on there is one silent try every five minutes. */
  blocked: { readonly delayMs: number };
  /** Something failed, or the page's code must be fixed. Each message is emitted once per page. */
  warning: { readonly message: string };
}

/** Options of `createTracker`. Times are in milliseconds. */
export interface TrackerOptions {
  /** The public key (`pk_`). Required unless `proxy` is set; a secret key is refused. */
  readonly publicKey?: string | undefined;
  /**
   * `baseUrl` is your proxy route: no `Authorization` is sent, and each request body carries the event's id.
   * @default false
   */
  readonly proxy?: boolean;
  /** Address of the service, or of your proxy route; `/v1/track` is appended. */
  readonly baseUrl: string;
  /**
   * Name of this queue in the origin's storage. By default each public key (or proxy address) has a separate
   * queue; set a name to keep waiting events when the key is rotated.
   */
  readonly namespace?: string;
  /** The contact of the events; the same as calling `identify()` first. */
  readonly email?: string | undefined;
  /**
   * How to treat an event that was sent and whose response no page has seen: `no-duplicates` ends it as
   * `unconfirmed`, `no-loss` sends it again on the next visit.
   * @default 'no-duplicates'
   */
  readonly delivery?: 'no-duplicates' | 'no-loss';
  /**
   * Whether `no-duplicates` tries again when the service may have taken the event: after no response or a 5xx
   * other than 503, up to three tries in all; after a 408, which browsers repeat themselves, up to two.
   * `false` ends the event as `unconfirmed` at once.
   * @default true
   */
  readonly retryAmbiguous?: boolean;
  /**
   * `memory` writes no event to disk: undelivered events are lost with the page. Decisions by
   * `consent.deny()` and `reset()` still apply to all tabs and visits. @default 'durable'
   */
  readonly storage?: 'durable' | 'memory';
  /** Maximum number of events of this tab; further events are dropped. @default 500 */
  readonly maxQueue?: number;
  /** Maximum number of characters in the origin's localStorage. @default 262144 */
  readonly maxBytes?: number;
  /** An event older than this, in milliseconds, is dropped. @default 86400000 */
  readonly maxAge?: number;
  /**
   * The consent that this page starts with. `pending` keeps events in memory until `consent.grant()`, and
   * calls `beforeSend` then; `denied` takes no events in, erases the stored ones, and writes nothing. After a
   * `consent.deny()`, on this visit or an earlier one, `granted` is not enough: only `consent.grant()` undoes
   * it. An answer that is not known yet, as in `consent: undefined`, counts as
   * `pending`; without the option, the page starts as `granted`.
   * @default 'granted'
   */
  readonly consent?: 'granted' | 'pending' | 'denied';
  /** Drop everything when the browser sends Global Privacy Control. @default true */
  readonly honorGpc?: boolean;
  /** Rate limit of this tab; events above it wait. @default { perSecond: 5, burst: 20 } */
  readonly limit?: { readonly perSecond: number; readonly burst: number };
  /**
   * Changes an event before it is stored; called once there is consent. `null` drops the event as `filtered`.
   * An error, a promise, or any other result that is not an event also drops it, with a warning.
   */
  readonly beforeSend?: (event: PendingEvent) => PendingEvent | null;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Further options of `track()`. */
export interface TrackOptions {
  /** The contact of this event alone. */
  readonly email?: string;
}

/** `data` may be omitted if no field is required. */
type TrackArguments<Data> =
  Partial<Data> extends Data
    ? [data?: OrTransient<Data>, options?: TrackOptions]
    : [data: OrTransient<Data>, options?: TrackOptions];

/** One event of a map as the arguments of `track()`: its name, its data, its options. */
export type EventArguments<Events> = {
  [Name in keyof Events & string]: [event: Name, ...rest: TrackArguments<Events[Name]>];
}[keyof Events & string];

/** The same fields; each may be {@link Transient}. */
type OrTransient<Data> = {
  readonly [Field in keyof Data]: Data[Field] | Transient<Data[Field]>;
};

/** The tracker of one page. */
export interface Tracker<Events extends EventMap<Events> = AnyEvents> {
  /** Events of this tab that are not yet delivered or dropped. */
  readonly pending: number;
  readonly consent: {
    /**
     * Stores and sends the events that were held, here and in the tabs that are open at this moment, and ends
     * a denial for all tabs and later visits. The grant is not remembered as consent: a later page that starts
     * with `consent: 'pending'` must call `grant()` again.
     */
    grant(): void;
    /**
     * Drops waiting and future events until `grant()`, and erases every stored event of all tabs. Other tabs
     * obey as soon as the browser notifies them; later visits obey as long as localStorage or an open tab
     * remembers the denial. The erasure is complete in this tab and in the store when the call returns.
     */
    deny(): Promise<void>;
  };
  /**
   * Sets the contact of all future events, and of those held back without one. A value that is not an email
   * address logs a warning to the console, and events wait for the next call. Each page must call it again.
   */
  identify(email: string): void;
  /**
   * Takes an event in, synchronously. Never throws: an event that cannot be sent logs a warning to the
   * console.
   */
  track<Name extends keyof Events & string>(
    event: Name,
    ...rest: TrackArguments<Events[Name]>
  ): TrackedEvent;
  /**
   * Sends the waiting events now; resolves to true if none is left. Gives up after `timeout` ms, and earlier
   * if waiting cannot help: without a contact, without consent, while paused. @default 5000
   */
  flush(options?: { readonly timeout?: number }): Promise<boolean>;
  /**
   * Forgets the contact and erases every stored event of all tabs: call it on logout, after `flush()`. The
   * other tabs forget their contact too and wait for `identify()`. The erasure is complete in this tab
   * and in the store when the call returns.
   */
  reset(): Promise<void>;
  /** Counts the outcomes of this page's events, and of those that it took over from other tabs. */
  stats(): TrackerStats;
  /** Stops sending; `track()` still takes events in. */
  pause(): void;
  /** Starts sending again, also after a `paused` notice. */
  resume(): void;
  /** Calls `listener` on each notice, asynchronously; returns the function that stops it. */
  on<Notice extends keyof TrackerNotices>(
    notice: Notice,
    listener: (detail: TrackerNotices[Notice]) => void,
  ): () => void;
  /**
   * Ends this tracker like the end of the page: sends the events that fit, and leaves the rest to other tabs
   * and later pages.
   */
  dispose(): void;
}
