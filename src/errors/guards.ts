import type { ApiError } from './api-errors.js';
import { brandsOf } from './brand.js';
import type { PostreelError } from './base-error.js';

/** Is this an error of this package? Also true for errors from another copy of it. */
export function isPostreelError(error: unknown): error is PostreelError {
  return brandsOf(error).includes('PostreelError');
}

/** Is this an error response of the service (4xx, 5xx, `success: false`)? */
export function isApiError(error: unknown): error is ApiError {
  return brandsOf(error).includes('ApiError');
}
