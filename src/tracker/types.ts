/** Names that the service drops in silence from any event data: here they are a type error. */
export type ReservedField =
  'id' | 'svc_id' | 'svc_email' | 'email' | 'unsubscribeUrl' | 'subscribeUrl' | 'manageUrl';

/** A value for this event only: workflows see it, the contact does not keep it. */
export interface Transient<Value = unknown> {
  readonly value: Value;
  readonly persistent: false;
}

/**
 * One value of event data. A `Date` is sent as a full ISO string, `null` deletes the field from
 * the contact, an empty string leaves it as it is. `NaN`, infinities and invalid dates throw.
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
export type Sendable<Value> = Value extends FieldValue
  ? Value
  : Value extends (...parameters: never[]) => unknown
    ? never
    : Value extends object
      ? { readonly [Field in keyof Value]: Sendable<Value[Field]> }
      : never;

/** Any event name with any data: the map of a tracker without one. */
export type AnyEvents = Record<string, EventData>;

/** Where the promise of an event ended: `queued` means kept, to be sent later. */
export type OutcomeStatus = 'delivered' | 'queued' | 'dropped';

/**
 * Why an event was dropped, or why it waits.
 *
 * - `rejected`: the service refused it (400, 422 and the like).
 * - `unconfirmed`: the service may or may not have taken it: it was handed over and no answer came, or
 *   three answers left it open. `no-duplicates` does not repeat it.
 * - `expired`: older than `maxAge`. `overflow`: the queue was full. `reset`: erased by `reset()`.
 * - `denied`: consent was denied, here or in another tab. `gpc`, `filtered` (by `beforeSend`), `server`:
 *   never taken in.
 */
export type DropReason =
  | 'rejected'
  | 'unconfirmed'
  | 'expired'
  | 'overflow'
  | 'reset'
  | 'denied'
  | 'gpc'
  | 'filtered'
  | 'server';

/** The end of one event, as far as this page will know it. */
export interface Outcome {
  readonly status: OutcomeStatus;
  /** Set when `status` is `dropped`. */
  readonly reason?: DropReason | undefined;
}

/** How many events were taken into the queue, delivered, and dropped for each reason. */
export type TrackerStats = { [What in 'taken' | 'delivered' | DropReason]?: number };

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
}

/** The notices of a tracker and what each carries. */
export interface TrackerNotices {
  /** The service confirmed it. */
  delivered: PendingEvent;
  /** Not taken this time; sent again after `delayMs`. `status` is 0 without an answer. */
  retry: PendingEvent & { readonly status: number; readonly delayMs: number };
  /** It will not be sent. */
  dropped: PendingEvent & { readonly reason?: DropReason | undefined };
  /**
   * 401, 403, 404 or a redirect (`status` is 302 for any): the key, the address or a login is
   * wrong. Everything is kept until `resume()` or the next page.
   */
  paused: { readonly status: number };
  /** No answer twice in a row: one quiet try every five minutes from now on. */
  blocked: { readonly delayMs: number };
  /** A store failed, and the tracker goes on without it: what that means, once for each page. */
  warning: { readonly message: string };
}
