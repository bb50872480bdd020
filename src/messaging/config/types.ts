import type { OpenRecord } from '../../contract/records.js';

/** Which integrations are enabled. The service's document does not show the fields. */
export interface ServiceConfig extends OpenRecord {}
