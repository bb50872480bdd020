import { hasIoContexts, sleep, type Clock, abortable } from '../../core/async.js';
import { limits } from '../limits.js';

const { limit, windowMs }: { limit: number; windowMs: number } = limits.requests;

/** The least time between two status checks when each takes one of the requests. */
export const countedIntervalMs = windowMs / limit;

// The pause after a 429 that names no time: the usual time between two checks.
const usualPauseMs = 10_000;
// How long checks are taken to count before another try; twice as long when that is refused again.
const stay = { firstMs: windowMs, maxMs: 16 * windowMs };
const askAgainMs = 1_000;

/** One poller for everybody: status checks run one by one, in the order they were asked for. */
export class CountedPoller {
  readonly #clock: Clock;
  /** Ends with the last check that was asked for. */
  #turns: Promise<unknown> = Promise.resolve();
  #nextAt = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #pauseEndsAt = Number.NEGATIVE_INFINITY;
  #suspectUntil = Number.NEGATIVE_INFINITY;
  #neededUntil = Number.NEGATIVE_INFINITY;
  #stayMs: number = stay.firstMs;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Are status checks charged to the rate limit, as far as their 429s show? */
  get isNeeded(): boolean {
    return this.#clock.now() < this.#neededUntil;
  }

  /** How long the service asked everybody not to check. */
  get pauseMs(): number {
    return Math.max(0, this.#pauseEndsAt - this.#clock.now());
  }

  /**
   * A status check that left at this time was refused with 429. One refusal is a pause; another
   * one soon after it shows that checks are charged. Returns whether that was not known before.
   */
  refused(sentAt: number, retryAfterMs = usualPauseMs): boolean {
    const now = this.#clock.now();
    if (sentAt < this.#refusedAt) {
      return false; // it left before the last refusal was known
    }
    const isRepeated = now < this.#suspectUntil;
    const isNew = isRepeated && !this.isNeeded;
    this.#refusedAt = now;
    this.#pauseEndsAt = now + Math.min(retryAfterMs, windowMs);
    if (isRepeated) {
      this.#neededUntil = Math.max(this.#pauseEndsAt, now + this.#stayMs);
      this.#stayMs = Math.min(stay.maxMs, isNew ? 2 * this.#stayMs : this.#stayMs);
    } else {
      this.#stayMs = stay.firstMs;
    }
    this.#suspectUntil = Math.max(this.#pauseEndsAt, this.#neededUntil) + windowMs;
    return isNew;
  }

  /** Runs a status check when its turn has come. An abort leaves the queue. */
  inTurn<T>(check: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (hasIoContexts()) {
      return this.#inOwnContext(check, signal);
    }
    const turn = this.#turns.then(() => this.#take(check, signal));
    this.#turns = turn.catch(() => undefined);
    return abortable(turn, signal);
  }

  // Where one request cannot resume another, each waits with timers of its own.
  async #inOwnContext<T>(check: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let now = this.#clock.now(); now < this.#nextAt; now = this.#clock.now()) {
      await sleep(Math.min(this.#nextAt - now, askAgainMs), signal, this.#clock);
    }
    this.#nextAt = this.#clock.now() + countedIntervalMs;
    return check();
  }

  async #take<T>(check: () => Promise<T>, signal: AbortSignal): Promise<T> {
    // An abort ends the pause, and the one behind takes the turn.
    await sleep(Math.max(0, this.#nextAt - this.#clock.now()), signal, this.#clock);
    try {
      return await check();
    } finally {
      // It may wait for the rate limit itself: checks that pile up would leave in a burst.
      this.#nextAt = this.#clock.now() + countedIntervalMs;
    }
  }
}

const projects = new Map<string, CountedPoller>();

/** The poller of a project: what one client has learned goes for all of the process. */
export function sharedCountedPoller(name: string, clock: Clock): CountedPoller {
  const known = projects.get(name) ?? new CountedPoller(clock);
  projects.set(name, known);
  return known;
}
