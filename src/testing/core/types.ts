import type { Ids } from './ids.js';
import type { Clock } from './clock.js';

/** A request for a handler: parsed once, with a decoded path. */
export interface FakeRequest {
  readonly method: string;
  /** The path below the service's base address, without the query. */
  readonly path: string;
  /** Decoded path parameters, by the names of the endpoint table. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The JSON body, parsed; `undefined` without one. */
  readonly body: unknown;
  /** The parts of a multipart body; `undefined` for any other body. */
  readonly form: FormData | undefined;
}

/** The response of a handler: sent as JSON, by default with status 200. */
export interface FakeAnswer {
  readonly status?: number;
  /** If omitted, the response has no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Handlers by the method and path of the endpoint table, e.g. `'GET /contacts/{id}'`. */
export type Handlers<Scope> = Readonly<
  Record<string, (request: FakeRequest, scope: Scope) => FakeAnswer | Promise<FakeAnswer>>
>;

/** The parts that every fake world has. */
export interface World {
  readonly clock: Clock;
  /** A new identifier, unique in the world, e.g. `con_000001`. */
  id(prefix: string): string;
  /** The form of these identifiers for callers. */
  readonly ids: Ids;
}

/** A request that reached the fake. */
export interface RecordedRequest {
  readonly method: string;
  /** The path below the service's base address, without the query. */
  readonly path: string;
  /** The row of the endpoint table, e.g. `GET /contacts/{id}`; `undefined` for a path outside of it. */
  readonly endpoint: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** The headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON body, or the `FormData` of a multipart body. */
  readonly body: unknown;
  /** The time on the fake's clock, in milliseconds since 1970. */
  readonly at: number;
  /** The status of the response; `undefined` while pending and when no response was sent. */
  status: number | undefined;
}
