import type { PendingEvent } from '../types.js';

export { type AutoPageOptions, autoPage, type PageTracker } from './auto-page.js';
export { debug } from './debug.js';
export type * from '../types.js';

/** A `beforeSend` option: changes an event before it is stored; `null` drops it. */
export type BeforeSend = (event: PendingEvent) => PendingEvent | null;

/**
 * Adds when the event was tracked and its id as values of this event only, since the service sees
 * an event when it arrives: `data.timestamp` and `data.eventId`. `beforeSend: stamp`.
 */
export const stamp: BeforeSend = (event) => {
  const timestamp = {
    value: new Date(event.at ?? Date.now()).toISOString(),
    persistent: false,
  } as const;
  const eventId = { value: event.id, persistent: false } as const;
  return { ...event, data: { timestamp, eventId, ...event.data } };
};
