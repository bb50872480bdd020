import { newId } from './options.js';
import type { DropReason, Tracker } from './types.js';

/** A tracker that drops every event and does nothing else, for places without one, such as a server. */
export const absentTracker = (reason?: DropReason): Tracker => ({
  pending: 0,
  consent: { grant: doNothing, deny: resolveNothing },
  identify: doNothing,
  track: () => ({
    id: newId('postreel:'),
    outcome: Promise.resolve({ status: 'dropped', reason }),
  }),
  flush: () => Promise.resolve(true),
  reset: resolveNothing,
  stats: () => ({}),
  pause: doNothing,
  resume: doNothing,
  on: () => doNothing,
  dispose: doNothing,
});

const doNothing = () => undefined;
const resolveNothing = () => Promise.resolve();
