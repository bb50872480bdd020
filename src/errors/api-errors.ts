import { branded } from './brand.js';
import { PostreelError } from './base-error.js';

/** The service answered, and the answer was no. The subclasses follow the HTTP status. */
export class ApiError extends PostreelError {}
branded(ApiError, 'ApiError', PostreelError);
