import type { OpenRecord } from '../../core/values.js';

/** A user of the service. The service does not document its fields. */
export interface User extends OpenRecord {}
