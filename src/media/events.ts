import type { ClientEvents } from '../contract/events.js';
import type { FileUpdate } from './status/wait-options.js';

/** The events that a media client emits. */
export interface MediaEvents extends ClientEvents {
  /** A wait has looked at a file. */
  'job:update': FileUpdate;
}
