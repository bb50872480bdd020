import pThrottle from 'p-throttle';
import { abortable } from '../async/abort.js';
import { hasIoContexts } from '../async/timers.js';
import { WaitQueue } from '../async/wait-queue.js';

/** Runs status checks evenly spaced, never in bursts. */
export type Spacing = <T>(check: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

// Ten status checks a second are plenty for jobs that take seconds to minutes.
const checks = 1;
const everyMs = 100;

/** One spacing for all the status checks of a client. */
export function createSpacing(): Spacing {
  const queue = new SpacedQueue();
  return async (check, signal) => {
    await queue.turn(signal);
    return check();
  };
}

/**
 * Who waits for a turn. p-throttle is asked for one turn at a time, since nobody can leave its own
 * queue: waits that were aborted would hold up the others, and keep the process alive.
 */
class SpacedQueue {
  readonly #throttled = pThrottle({ limit: checks, interval: everyMs })(() => Promise.resolve());
  readonly #queue = new WaitQueue<undefined>();
  #isServing = false;

  turn(signal: AbortSignal | undefined): Promise<void> {
    if (hasIoContexts()) {
      return abortable(this.#throttled(), signal); // with a timer of the caller's own
    }
    const turn = this.#queue.wait(undefined, { signal });
    void this.#serve();
    return turn;
  }

  async #serve(): Promise<void> {
    if (this.#isServing) {
      return;
    }
    this.#isServing = true;
    while (this.#queue.size > 0) {
      await this.#throttled();
      this.#queue.peek()?.grant();
    }
    this.#isServing = false;
  }
}
