import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 422: the service's validation failed; `fieldErrors` says where. */
export class UnprocessableError extends ApiError {}
branded(UnprocessableError, 'UnprocessableError', ApiError);
