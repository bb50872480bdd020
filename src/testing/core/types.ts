import type { Ids } from './ids.js';
import type { Clock } from './clock.js';

/** A request as a handler sees it: parsed once, paths decoded. */
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

/** What a handler answers: sent as JSON, with status 200 unless told otherwise. */
export interface FakeAnswer {
  readonly status?: number;
  /** Left out: an answer without a body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Handlers by the method and path of the endpoint table, e.g. `'GET /contacts/{id}'`. */
export type Handlers<Scope> = Readonly<
  Record<string, (request: FakeRequest, scope: Scope) => FakeAnswer | Promise<FakeAnswer>>
>;

/** What every fake world is made of. */
export interface World {
  readonly clock: Clock;
  /** A new identifier, unique in the world, e.g. `con_000001`. */
  id(prefix: string): string;
  /** What these identifiers look like to callers. */
  readonly ids: Ids;
}
