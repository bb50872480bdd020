import { branded } from './brand.js';
import { PostreelError } from './base-error.js';

/** The service answered something that cannot be read as an answer to this call. */
export class UnexpectedResponseError extends PostreelError {}
branded(UnexpectedResponseError, 'UnexpectedResponseError', PostreelError);
