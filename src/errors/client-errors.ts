import { branded } from './brand.js';
import { PostreelError } from './base-error.js';

/** Our own check refused the call before it reached the network; `fieldErrors` says why. */
export class InvalidRequestError extends PostreelError {}
branded(InvalidRequestError, 'InvalidRequestError', PostreelError);
