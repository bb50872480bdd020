import type { PendingEvent } from '../types.js';

export { type AutoPageOptions, autoPage, type PageTracker } from './auto-page.js';
export { debug } from './debug.js';
export type * from '../types.js';

/** A `beforeSend` option: changes an event before it is stored; `null` drops it. */
export type BeforeSend = (event: PendingEvent) => PendingEvent | null;

/**
 * Adds the time and the id of an event to its data.
 *
 * The service dates an event by its arrival. These are values of this event only: `data.timestamp` and
 * `data.eventId`. Usage: `beforeSend: stamp`.
 */
export const stamp: BeforeSend = (event) => {
  const timestamp = {
    value: new Date(event.at ?? Date.now()).toISOString(),
    persistent: false,
  } as const;
  const eventId = { value: event.id, persistent: false } as const;
  return { ...event, data: { timestamp, eventId, ...event.data } };
};
