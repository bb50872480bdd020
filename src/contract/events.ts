import type { FieldError, Outcome } from '../errors/index.js';

/** What every event holds about its call. */
export interface CallEvent {
  /** The number of the call: the same in all of its events. */
  readonly callId: number;
  readonly method: string;
  /** The path with the names of its parameters; `undefined` for a call of `request()`. */
  readonly route: string | undefined;
  /** The path below the base address, without the query. */
  readonly path: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** An attempt leaves for the service. */
export type RequestEvent = CallEvent;

/** An attempt has ended: with an answer, without one, or by an abort. */
export interface ResponseEvent extends CallEvent {
  /** `undefined` when no answer came. */
  readonly status: number | undefined;
  readonly durationMs: number;
  readonly requestId: string | undefined;
  /** Set when the attempt failed. */
  readonly outcome: Outcome | undefined;
}

/** A failed attempt will be repeated. */
export interface RetryEvent extends CallEvent {
  /** The longest until the next attempt, in milliseconds: a backoff takes half of it at least. */
  readonly delayMs: number;
  readonly error: Error;
}

/** A call waits for the rate limit, or the service asked to wait. */
export interface ThrottledEvent {
  readonly reason: 'limit' | 'service' | 'status-counts';
  /** How long the wait is expected to take, in milliseconds. */
  readonly waitMs: number;
  /** How many calls wait, this one included. */
  readonly queued: number;
}

/** An answer that does not match the document. It was handed on all the same. */
export interface MismatchEvent {
  readonly method: string;
  readonly path: string;
  readonly issues: readonly FieldError[];
}

/** Something in a request will have no effect, or goes on without what it should have, e.g. a store. */
export interface WarningEvent {
  readonly method: string;
  readonly path: string;
  readonly message: string;
  /** A word for programs, where one is promised: `UNKNOWN_OUTCOMES`. */
  readonly code?: string | undefined;
}

/** A call has begun. It may wait for the rate limit before its first attempt. */
export interface CallStartEvent extends Omit<CallEvent, 'attempt'> {
  /** The service's address. */
  readonly baseUrl: string;
}

/** A call is over, whatever its attempts came to. */
export interface CallEndEvent extends Omit<CallEvent, 'attempt'> {
  readonly durationMs: number;
  /** Whether a failed or aborted call took effect; `undefined` after success. */
  readonly outcome: Outcome | undefined;
  /** What the call rejected with; an abort's reason may be any value. */
  readonly error?: unknown;
}

/** The events that clients emit. */
export interface ClientEvents {
  'call:start': CallStartEvent;
  'call:end': CallEndEvent;
  request: RequestEvent;
  response: ResponseEvent;
  retry: RetryEvent;
  throttled: ThrottledEvent;
  mismatch: MismatchEvent;
  warning: WarningEvent;
}

/** Where a client writes what it does. `console` will do. Keys and bodies are never written. */
export interface Logger {
  /** Requests, answers and waits. */
  debug?(message: string, facts?: object): void;
  /** What may interest an operator. */
  info?(message: string, facts?: object): void;
  /** Retries, and what the service ignores. */
  warn?(message: string, facts?: object): void;
  /** Failures. */
  error?(message: string, facts?: object): void;
}
