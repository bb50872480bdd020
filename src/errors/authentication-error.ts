import { branded } from './brand.js';
import { ApiError } from './api-errors.js';

/** 401: the API key is missing or invalid. */
export class AuthenticationError extends ApiError {}
branded(AuthenticationError, 'AuthenticationError', ApiError);
