import type { ClientEvents } from '../core/types.js';
import type { FileKind } from './status/intervals.js';
import type { FileUpdate } from './status/wait-options.js';

/** The events that a media client emits. */
export interface MediaEvents extends ClientEvents {
  /** Emitted after each status check of a wait. */
  'job:update': FileUpdate;
  /** Emitted when the service has accepted a job. */
  'job:accepted': JobAcceptedEvent;
}

/** A job that the service accepted. */
export interface JobAcceptedEvent {
  readonly fileId: string;
  readonly kind: FileKind;
  /** The id of the call that submitted the job, as in the events of the call. */
  readonly callId: number;
}
