import pThrottle from 'p-throttle';
import { abortable } from '../transport/timeout.js';

/** Runs looks at a service evenly spaced, never in bursts. */
export type Spacing = <T>(look: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

// Ten looks a second are plenty for jobs that take seconds to minutes.
const looks = 1;
const everyMs = 100;

/** One spacing for all the looks of a client. */
export function createSpacing(): Spacing {
  const inTurn = pThrottle({ limit: looks, interval: everyMs })(() => Promise.resolve());
  return async (look, signal) => {
    // p-throttle knows one signal for everybody; a look has its own.
    await abortable(inTurn(), signal);
    return look();
  };
}
