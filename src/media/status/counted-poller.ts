import { sleep, type Clock, abortable } from '../../core/async.js';
import { hasIoContexts } from '../../core/runtime.js';
import type { ProjectState, ProjectPart } from '../../core/limit/projects.js';
import { limits } from '../limits.js';

const { limit, windowMs }: { limit: number; windowMs: number } = limits.requests;

/** The minimum time between two status checks when each counts as one of the requests, in milliseconds. */
export const countedIntervalMs = windowMs / limit;

// The pause after a 429 without `Retry-After`: the usual time between two checks.
const usualPauseMs = 10_000;
// How long status checks are treated as charged. Then the poller tries unlimited checks again; when they are
// refused again, the time doubles.
const chargedTimes = { firstMs: windowMs, maxMs: 16 * windowMs };
const recheckEveryMs = 1_000;

/**
 * Runs the status checks of a project one by one while they are charged to the rate limit. It learns from
 * 429s whether they are charged:
 *
 *     429, the first one for a while  all checks pause
 *     another 429 soon after          checks count as charged, for 10 minutes or longer
 *     charged again soon after that   the time doubles, up to 160 minutes
 *     no 429 for 10 more minutes      the time is 10 minutes again
 */
export class CountedPoller implements ProjectPart {
  readonly #clock: Clock;
  /** Settles when the last check in the line has ended. */
  #lastCheck: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #nextAt = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #pauseEndsAt = Number.NEGATIVE_INFINITY;
  #suspectUntil = Number.NEGATIVE_INFINITY;
  #chargedUntil = Number.NEGATIVE_INFINITY;
  #chargedMs: number = chargedTimes.firstMs;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Are status checks charged to the rate limit, judging by their 429s? */
  get areChecksCharged(): boolean {
    return this.#clock.now() < this.#chargedUntil;
  }

  /** May the poller be dropped? It has no queued check, none in the last minute, and no recent 429. */
  get isIdle(): boolean {
    return this.#queued === 0 && this.#clock.now() >= Math.max(this.#nextAt, this.#suspectUntil);
  }

  /** How long no status check may be made because of a 429, in milliseconds. */
  get pauseMs(): number {
    return Math.max(0, this.#pauseEndsAt - this.#clock.now());
  }

  /**
   * Notes that a status check, sent at this time, was refused with 429. One refusal pauses all checks;
   * another one soon after shows that checks are charged. Returns true when this was not known before.
   */
  noteRefusal(sentAt: number, retryAfterMs = usualPauseMs): boolean {
    const now = this.#clock.now();
    if (sentAt < this.#refusedAt) {
      return false; // the check was sent before the last refusal arrived
    }
    const isRepeated = now < this.#suspectUntil;
    const isNew = isRepeated && !this.areChecksCharged;
    this.#refusedAt = now;
    this.#pauseEndsAt = now + Math.min(retryAfterMs, windowMs);
    if (isRepeated) {
      this.#chargedUntil = Math.max(this.#pauseEndsAt, now + this.#chargedMs);
      this.#chargedMs = Math.min(chargedTimes.maxMs, isNew ? 2 * this.#chargedMs : this.#chargedMs);
    } else {
      this.#chargedMs = chargedTimes.firstMs;
    }
    this.#suspectUntil = Math.max(this.#pauseEndsAt, this.#chargedUntil) + windowMs;
    return isNew;
  }

  /** Runs a status check after those before it. An aborted check gives up its turn. */
  runInTurn<T>(check: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (hasIoContexts()) {
      return this.#runInContext(check, signal);
    }
    this.#queued++;
    const turn = this.#lastCheck
      .then(() => this.#runNext(check, signal))
      .finally(() => {
        this.#queued--;
      });
    this.#lastCheck = turn.catch(() => undefined);
    return abortable(turn, signal);
  }

  // On Workers one request cannot resume another, so each check waits with separate timers.
  async #runInContext<T>(check: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let now = this.#clock.now(); now < this.#nextAt; now = this.#clock.now()) {
      await sleep(Math.min(this.#nextAt - now, recheckEveryMs), signal, this.#clock);
    }
    this.#nextAt = this.#clock.now() + countedIntervalMs;
    return check();
  }

  async #runNext<T>(check: () => Promise<T>, signal: AbortSignal): Promise<T> {
    // An abort ends the pause, and the next check in the line takes this turn.
    await sleep(Math.max(0, this.#nextAt - this.#clock.now()), signal, this.#clock);
    try {
      return await check();
    } finally {
      // The interval starts at the end of this check, because the check may itself wait for the rate limit.
      // Otherwise the checks behind it would be sent in a burst.
      this.#nextAt = this.#clock.now() + countedIntervalMs;
    }
  }
}

/**
 * The poller of a project. All clients share it in all copies of the package, and what it learned from 429s.
 */
export function sharedCountedPoller(project: ProjectState): CountedPoller {
  return project.part('counted status checks', () => new CountedPoller(project.clock));
}
