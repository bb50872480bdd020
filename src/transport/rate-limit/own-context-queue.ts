import { monotonicMs, sleep } from '../../async/timers.js';
import type { Slot, Turn } from './budget.js';
import { priorityOf, queueTimeout, type Forecast } from './priority-queue.js';

/** Gives a slot to a call with so many others before it, or returns how long it will wait. */
export type Ask = (ahead: number) => Slot | Forecast;

interface Entry {
  readonly priority: number;
  /** When the call asked last. */
  askedAt: number;
}

const pauseMs = { shortest: 10, longest: 1_000 };
// A call asks every second at least: one that does not was cancelled together with its request.
const silentMs = 5_000;

/**
 * Calls that wait where one request must not await a promise that another one created, as in Workers:
 * each call asks for itself, with timers and an abort of its own.
 */
export class OwnContextQueue {
  /** In the order of their turns. */
  #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** How many calls would go before this one. */
  ahead(turn: Turn): number {
    const priority = priorityOf(turn);
    return this.#entries.filter((entry) => entry.priority <= priority).length;
  }

  /** Waits for a slot; an abort and `maxWaitMs` end the wait. */
  async wait(turn: Turn, ask: Ask): Promise<Slot> {
    const givesUpAt = monotonicMs() + turn.maxWaitMs;
    const entry = this.#join(priorityOf(turn));
    let isTold = false;
    try {
      for (;;) {
        turn.signal?.throwIfAborted();
        const answer = ask(this.#aheadOf(entry));
        if (!('waitMs' in answer)) {
          return answer;
        }
        const leftMs = givesUpAt - monotonicMs();
        if (answer.waitMs > leftMs) {
          throw queueTimeout(answer, turn);
        }
        if (!isTold) {
          turn.onWait({ ...answer, queued: this.size });
        }
        isTold = true;
        const napMs = Math.min(Math.max(answer.waitMs, pauseMs.shortest), pauseMs.longest);
        await sleep(Math.min(napMs, leftMs), turn.signal);
      }
    } finally {
      this.#leave(entry);
    }
  }

  #join(priority: number): Entry {
    const entry = { priority, askedAt: monotonicMs() };
    const after = this.#entries.findIndex((other) => other.priority > priority);
    this.#entries.splice(after < 0 ? this.size : after, 0, entry);
    return entry;
  }

  #leave(entry: Entry): void {
    this.#entries = this.#entries.filter((other) => other !== entry);
  }

  #aheadOf(entry: Entry): number {
    const now = monotonicMs();
    entry.askedAt = now;
    this.#entries = this.#entries.filter(({ askedAt }) => askedAt >= now - silentMs);
    const place = this.#entries.indexOf(entry);
    return place < 0 ? this.size : place;
  }
}
