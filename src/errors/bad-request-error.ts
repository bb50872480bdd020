import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 400: a parameter is invalid or the body is malformed. */
export class BadRequestError extends ApiError {}
branded(BadRequestError, 'BadRequestError', ApiError);
