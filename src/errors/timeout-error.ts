import { branded } from './brand.js';
import { PostreelError } from './base-error.js';

/** No complete answer within `timeout`, or the call did not fit its `deadline`. */
export class TimeoutError extends PostreelError {}
branded(TimeoutError, 'TimeoutError', PostreelError);
