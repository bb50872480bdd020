import type { Call, RequestOptions } from '../contract/call.js';
import type { ClientEvents } from '../contract/events.js';
import type { Method } from '../contract/route.js';
import type { RateLimit, RateLimitState } from './rate-limit/budget.js';
import type { FreeInput } from './request/custom-request.js';

/** What a client needs of its connection; narrow, since the types of users include it. */
interface Connected {
  readonly events: {
    on(name: string, listener: (event: never) => void): void;
    once(name: string, listener: (event: never) => void): void;
    off(name: string, listener: (event: never) => void): void;
  };
  readonly transport: {
    request(method: Method, path: string, input?: FreeInput, options?: RequestOptions): unknown;
    rateLimit(): RateLimitState | undefined;
  };
}

/** What the clients of both services can do. */
export class ServiceClient<Events extends ClientEvents> {
  /** How much of the rate limit is left. */
  readonly rateLimit: RateLimit;
  readonly #connection: Connected;

  constructor(connection: Connected) {
    this.#connection = connection;
    this.rateLimit = { state: () => connection.transport.rateLimit() };
  }

  /**
   * Calls an endpoint that has no method here yet. The path is used as is: encode what you put into
   * it. GET, PUT and DELETE are retried when needed, POST and PATCH are not.
   */
  request<Result = unknown>(
    method: Method,
    path: string,
    input?: FreeInput,
    options?: RequestOptions,
  ): Call<Result> {
    return this.#connection.transport.request(method, path, input, options) as Call<Result>; // the caller's word
  }

  /** Adds a listener for an event. */
  on<Name extends keyof Events & string>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): this {
    this.#connection.events.on(name, listener);
    return this;
  }

  /** Adds a listener for the next event of that name only. */
  once<Name extends keyof Events & string>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): this {
    this.#connection.events.once(name, listener);
    return this;
  }

  /** Removes a listener. */
  off<Name extends keyof Events & string>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): this {
    this.#connection.events.off(name, listener);
    return this;
  }
}
