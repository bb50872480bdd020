import type { OpenRecord } from '../../core/values.js';

/** Which integrations are enabled. The service does not document its fields. */
export interface ServiceConfig extends OpenRecord {}
