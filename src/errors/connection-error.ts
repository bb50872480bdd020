import { branded } from './brand.js';
import { PostreelError } from './base-error.js';

/** The service could not be reached, or the connection broke before the answer was complete. */
export class ConnectionError extends PostreelError {}
branded(ConnectionError, 'ConnectionError', PostreelError);
