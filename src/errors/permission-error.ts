import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 403: the key may not touch this resource, or its project is disabled. */
export class PermissionError extends ApiError {}
branded(PermissionError, 'PermissionError', ApiError);
