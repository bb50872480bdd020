import type { ClientEvents } from '../core/types.js';
import type { FileKind } from './status/intervals.js';
import type { FileUpdate } from './status/wait-options.js';

/** The events that a media client emits. */
export interface MediaEvents extends ClientEvents {
  /** A wait has checked a file. */
  'job:update': FileUpdate;
  /** The service has taken a job. */
  'job:accepted': JobAcceptedEvent;
}

/** A job that was submitted. */
export interface JobAcceptedEvent {
  readonly fileId: string;
  readonly kind: FileKind;
  /** The call that submitted it, as in the call's own events. */
  readonly callId: number;
}
