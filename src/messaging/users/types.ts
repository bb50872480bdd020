import type { OpenRecord } from '../../contract/records.js';

/** A user of the service. The service's document does not show its fields. */
export interface User extends OpenRecord {}
