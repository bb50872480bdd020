export { transient } from './data.js';
export type { EventArguments, TrackOptions, Tracker, TrackerOptions } from './options.js';
export { createTracker } from './tracker.js';
export type {
  DropReason,
  EventData,
  EventMap,
  FieldValue,
  Outcome,
  OutcomeStatus,
  PendingEvent,
  TrackedEvent,
  TrackerNotices,
  TrackerStats,
  Transient,
} from './types.js';
