import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 404: there is no such resource. */
export class NotFoundError extends ApiError {}
branded(NotFoundError, 'NotFoundError', ApiError);
