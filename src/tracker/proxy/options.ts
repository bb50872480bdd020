/** One event as a page hands it in, of which only these fields go on to the service. */
export interface ProxiedEvent {
  readonly event: string;
  /** The contact that the page names: whoever can call the route can name anybody. */
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
   * Says what goes on to the service: the event, one with the contact of your session, or `null`,
   * which refuses it with a 403. The tracker then keeps its events and pauses until the next page.
   */
  readonly authorize?: (
    request: Request,
    event: ProxiedEvent,
  ) => ProxiedEvent | null | Promise<ProxiedEvent | null>;
  /** Share of the project's 1000 requests a minute that this proxy may use, 0 to 1. @default 0.5 */
  readonly share?: number;
  /** Milliseconds for one call, reading the body and waiting for the service included. @default 10000 */
  readonly timeout?: number;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}
