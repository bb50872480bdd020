import { PostreelError } from './base-error.js';
import { branded } from './brand.js';

/** The service answered with an error. The subclasses follow the HTTP status. */
export class ApiError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'ApiError');
}

/** 400: a parameter is invalid or the body is malformed. */
export class BadRequestError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'BadRequestError');
}

/** 401: the API key is missing or invalid. */
export class AuthenticationError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'AuthenticationError');
}

/** 403: the key may not touch this resource, or its project is disabled. */
export class PermissionError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'PermissionError');
}

/** 404: there is no such resource. */
export class NotFoundError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'NotFoundError');
}

/** 409: the email belongs to another contact, or the resource is in use. */
export class ConflictError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'ConflictError');
}

/** 422: the service's validation failed; `fieldErrors` has the fields. */
export class UnprocessableError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'UnprocessableError');
}

/**
 * 429, or a call that was never sent, because its wait for the rate limit does not fit the deadline or
 * `maxQueueMs` (`code: 'QUEUE_TIMEOUT'`, no `status`); see `retryAfterMs`.
 */
export class RateLimitError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'RateLimitError');
}

/** 5xx: the service failed. On a route that changes something the outcome is `'unknown'`. */
export class ServerError extends ApiError {
  /** @internal */
  static override readonly brands = branded(this, 'ServerError');
}
