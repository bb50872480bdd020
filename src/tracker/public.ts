// The types of a tracker, which each of its entry points exports.

export type { EventArguments, TrackOptions, Tracker, TrackerOptions } from './options.js';
export type {
  AnyEvents,
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
