import { branded } from './brand.js';
import { PostreelError } from './base-error.js';

/** The client is set up in a way that cannot work: a key, an address or an option is wrong. */
export class ConfigurationError extends PostreelError {}
branded(ConfigurationError, 'ConfigurationError', PostreelError);
