import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 5xx: the service failed. On a route that changes something the outcome is `'unknown'`. */
export class ServerError extends ApiError {}
branded(ServerError, 'ServerError', ApiError);
