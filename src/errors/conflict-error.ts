import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 409: the email belongs to another contact, or the resource is in use. */
export class ConflictError extends ApiError {}
branded(ConflictError, 'ConflictError', ApiError);
