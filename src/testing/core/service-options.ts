import type { Clock } from './time/clock.js';
import type { RateLimitOptions } from './rate-limit.js';
import type { Refusal } from './http/refusal.js';
import type { FakeAnswer, FakeRequest, Handlers } from './types.js';

/** What a service is made of. */
export interface ServiceOptions<Scope> {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly service: 'messaging' | 'media';
  readonly handlers: Handlers<Scope>;
  /** Decides who calls, before the handler runs: throws a Refusal 401/403 or returns the scope. */
  enter(request: FakeRequest, endpoint: string): Scope;
  /** The name of the rate-limit bucket (the project, the key), or undefined for calls that do not count. */
  bucket(request: FakeRequest, endpoint: string): string | undefined;
  readonly limit: RateLimitOptions;
  readonly wire: Wire;
  /** A second address that is no part of the endpoint table, e.g. the CDN of finished files. */
  readonly also?: SecondAddress;
  /** Chance, for faults with a `probability`. @default Math.random */
  readonly random?: () => number;
}

/** What lies between the handlers, which keep to the documents, and the wire of one world. */
export interface Wire {
  /** The request as the handlers know it. */
  request(request: FakeRequest, endpoint: string): FakeRequest;
  /** An answer as this service gives it. */
  answer(answer: FakeAnswer, endpoint: string): FakeAnswer;
  /** An object becomes JSON, text is sent as it is, `undefined` is an empty body. */
  refusal(refusal: Refusal, request: FakeRequest, requestId: string): FakeAnswer;
  /** The answer to a request of this method, on its way. */
  deliver(response: Response, method: string): Response;
}

/** Answers outside of the endpoint table: no keys, no rate limit, but recorded and breakable. */
export interface SecondAddress {
  readonly baseUrl: string;
  /** The name that faults and records know it by. */
  readonly endpoint: string;
  answer(request: Request, path: string): Response;
}
