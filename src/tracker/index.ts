export { transient } from './data.js';
export {
  type EventArguments,
  type OrTransient,
  type TrackArguments,
  type TrackOptions,
  type Tracker,
  type TrackerOptions,
} from './options.js';
export { createTracker } from './tracker.js';
export {
  type AnyEvents,
  type DropReason,
  type EventData,
  type EventMap,
  type FieldValue,
  type Outcome,
  type OutcomeStatus,
  type PendingEvent,
  type ReservedField,
  type Sendable,
  type TrackedEvent,
  type TrackerNotices,
  type TrackerStats,
  type Transient,
} from './types.js';
