import type {
  AnyEvents,
  EventMap,
  PendingEvent,
  TrackedEvent,
  TrackerNotices,
  TrackerStats,
  Transient,
} from './types.js';

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
   * What happens to an event that was handed over without an answer before the page ended:
   * `no-duplicates` drops it as `unconfirmed`, `no-loss` sends it again.
   * @default 'no-duplicates'
   */
  readonly delivery?: 'no-duplicates' | 'no-loss';
  /**
   * Whether `no-duplicates` tries again when the service may have taken the event: after no answer, a
   * 408 or a 5xx other than 503, three tries in all. `false` drops it as `unconfirmed` at once.
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
   * What this page starts with. `pending` keeps events in memory until `consent.grant()`; `denied`
   * takes none in, erases those that are stored, and writes nothing. After a `consent.deny()`, on this
   * visit or an earlier one, `granted` is not enough: only `consent.grant()` undoes it.
   * @default 'granted'
   */
  readonly consent?: 'granted' | 'pending' | 'denied';
  /** Drop everything when the browser sends Global Privacy Control. @default true */
  readonly honorGpc?: boolean;
  /** Pace of this tab; events above it wait. @default { perSecond: 5, burst: 20 } */
  readonly limit?: { readonly perSecond: number; readonly burst: number };
  /** Changes an event before it is stored. `null` drops it as `filtered`, an error as well. */
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
    /** Stores and sends what was held back, and undoes a denial: for all tabs and later visits. */
    grant(): void;
    /**
     * Erases every stored event, of all tabs, and drops those that come, until `grant()`. The other
     * tabs obey as soon as the browser tells them, later visits as long as the browser keeps one of
     * the two stores. Resolves when IndexedDB has it.
     */
    deny(): Promise<void>;
  };
  /** Sets the contact of all events from now on, and of those held back without one. */
  identify(email: string): void;
  /** Takes an event in, synchronously. Throws a `TypeError` for data that cannot be sent. */
  track<Name extends keyof Events & string>(
    event: Name,
    ...rest: TrackArguments<Events[Name]>
  ): TrackedEvent;
  /** Tries at once; true when nothing is left. Gives up after `timeout` ms. @default 5000 */
  flush(options?: { readonly timeout?: number }): Promise<boolean>;
  /**
   * Forgets the contact and erases every stored event, of all tabs: call it on logout, after
   * `flush()`. The other tabs forget their contact too and wait for `identify()`. Resolves when
   * IndexedDB has it; a redirect need not wait for that.
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
