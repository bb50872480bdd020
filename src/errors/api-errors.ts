import { PostreelError } from './base-error.js';
import { branded } from './brand.js';

/** The service answered with an error. The subclasses follow the HTTP status. */
export class ApiError extends PostreelError {}
branded(ApiError, 'ApiError', PostreelError);

/** 400: a parameter is invalid or the body is malformed. */
export class BadRequestError extends ApiError {}
branded(BadRequestError, 'BadRequestError', ApiError);

/** 401: the API key is missing or invalid. */
export class AuthenticationError extends ApiError {}
branded(AuthenticationError, 'AuthenticationError', ApiError);

/** 403: the key may not touch this resource, or its project is disabled. */
export class PermissionError extends ApiError {}
branded(PermissionError, 'PermissionError', ApiError);

/** 404: there is no such resource. */
export class NotFoundError extends ApiError {}
branded(NotFoundError, 'NotFoundError', ApiError);

/** 409: the email belongs to another contact, or the resource is in use. */
export class ConflictError extends ApiError {}
branded(ConflictError, 'ConflictError', ApiError);

/** 422: the service's validation failed; `fieldErrors` says where. */
export class UnprocessableError extends ApiError {}
branded(UnprocessableError, 'UnprocessableError', ApiError);

/** 429, or a wait for the rate limit that cannot fit the deadline; see `retryAfterMs`. */
export class RateLimitError extends ApiError {}
branded(RateLimitError, 'RateLimitError', ApiError);

/** 5xx: the service failed. On a route that changes something the outcome is `'unknown'`. */
export class ServerError extends ApiError {}
branded(ServerError, 'ServerError', ApiError);
