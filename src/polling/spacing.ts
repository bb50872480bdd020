import pThrottle from 'p-throttle';
import { onAbort } from '../async/abort.js';

/** Runs looks at a service evenly spaced, never in bursts. */
export type Spacing = <T>(look: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

// Ten looks a second are plenty for jobs that take seconds to minutes.
const looks = 1;
const everyMs = 100;

/** One spacing for all the looks of a client. */
export function createSpacing(): Spacing {
  const line = new Line();
  return async (look, signal) => {
    await line.turn(signal);
    return look();
  };
}

/**
 * Who waits for a turn. p-throttle is asked for one turn at a time, since it knows no way to leave:
 * waits that were aborted would hold up the others, and keep the process alive.
 */
class Line {
  readonly #inTurn = pThrottle({ limit: looks, interval: everyMs })(() => Promise.resolve());
  readonly #waiting = new Set<() => void>();
  #isServing = false;

  turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        stopListening();
        resolve();
      };
      this.#waiting.add(start);
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(start);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
        reject(signal?.reason);
      });
      void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    if (this.#isServing) {
      return;
    }
    this.#isServing = true;
    while (this.#waiting.size > 0) {
      await this.#inTurn();
      const [next] = this.#waiting;
      if (!next) {
        break;
      }
      this.#waiting.delete(next);
      next();
    }
    this.#isServing = false;
  }
}
