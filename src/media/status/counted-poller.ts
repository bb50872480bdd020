import { monotonicMs } from '../../async/clock.js';
import { onAbort } from '../../async/abort.js';
import { sleep } from '../../async/timers.js';

/** The least time between two looks when each takes one of the ten requests. */
export const countedIntervalMs = 60_000;

interface Waiting {
  readonly signal: AbortSignal;
  start(): Promise<void>;
}

/** One poller for everybody: looks go one by one, in the order in which they were asked for. */
export class CountedPoller {
  /** Do looks count towards the rate limit? Found out by the first 429. */
  isNeeded = false;
  readonly #line: Waiting[] = [];
  #isRunning = false;
  #nextAt = 0;

  /** Runs a look when its turn has come. An abort leaves the line. */
  inTurn<T>(look: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the watchers' reason
        reject(signal.reason);
      });
      const start = () => look().then(resolve, reject).finally(stopListening);
      this.#line.push({ signal, start });
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#isRunning) {
      return;
    }
    this.#isRunning = true;
    for (let next = this.#next(); next; next = this.#next()) {
      // An abort ends the pause, and the one behind takes the turn.
      await sleep(Math.max(0, this.#nextAt - monotonicMs()), next.signal).catch(() => undefined);
      if (next.signal.aborted) {
        continue;
      }
      // It may wait for the rate limit itself: looks that pile up would leave in a burst.
      await next.start();
      this.#nextAt = monotonicMs() + countedIntervalMs;
    }
    this.#isRunning = false;
  }

  #next(): Waiting | undefined {
    return this.#line.shift();
  }
}

const projects = new Map<string, CountedPoller>();

/** The poller of a project: what one client has learned goes for all of the process. */
export function sharedCountedPoller(name: string): CountedPoller {
  const known = projects.get(name) ?? new CountedPoller();
  projects.set(name, known);
  return known;
}
