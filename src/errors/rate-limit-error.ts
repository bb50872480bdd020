import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 429, or a wait for the rate limit that cannot fit the deadline; see `retryAfterMs`. */
export class RateLimitError extends ApiError {}
branded(RateLimitError, 'RateLimitError', ApiError);
