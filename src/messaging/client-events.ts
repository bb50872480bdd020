import type { ClientEvents } from '../contract/events.js';
import type { JobUpdate } from '../polling/job.js';
import type { BulkJob, ImportJob } from './contacts/types.js';

/** The events that a messaging client emits. */
export interface MessagingEvents extends ClientEvents {
  /** A wait has checked the status of an import or bulk job. */
  'job:update': JobUpdate<ImportJob | BulkJob>;
}
