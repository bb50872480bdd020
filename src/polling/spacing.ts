import pThrottle from 'p-throttle';
import { abortable } from '../async/abort.js';

/** Runs status checks evenly spaced, never in bursts. */
export type Spacing = <T>(check: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

/** One spacing for all the status checks of a client: ten a second, for jobs of seconds to minutes. */
export function createSpacing(): Spacing {
  const turn = pThrottle({ limit: 1, interval: 100 })(() => Promise.resolve());
  return async (check, signal) => {
    signal?.throwIfAborted();
    await abortable(turn(), signal); // an aborted check keeps its tenth of a second
    return check();
  };
}
