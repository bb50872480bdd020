import { newId } from './options.js';
import type { DropReason, Tracker } from './types.js';

/** A tracker that drops every event and does nothing else, for places without one, such as a server. */
export const absentTracker = (reason?: DropReason): Tracker => ({
  pending: 0,
  consent: { grant: nothing, deny: done },
  identify: nothing,
  track: () => ({
    id: newId('postreel:'),
    outcome: Promise.resolve({ status: 'dropped', reason }),
  }),
  flush: () => Promise.resolve(true),
  reset: done,
  stats: () => ({}),
  pause: nothing,
  resume: nothing,
  on: () => nothing,
  dispose: nothing,
});

const nothing = () => undefined;
const done = () => Promise.resolve();
