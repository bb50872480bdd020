import { answerWithin, sleep, type Clock } from '../async.js';
import { hasIoContexts } from '../runtime.js';
import { isPostreelError, reasonOf, type ConfigurationError } from '../errors.js';
import {
  combineSlots,
  CallQueue,
  maxInTransitMs,
  queueTimeoutError,
  reportWaitOnce,
  lateArrivalMs,
  type Budget,
  type Forecast,
  type LocalBudget,
  type Slot,
  type SlotRequest,
} from './rate-limit.js';
import type { BudgetLimits, RateBudgetStore, StoreAnswer } from './rate-store.js';
import { maxPauseMs } from '../call/retry-after.js';
import type { RateLimitState, ThrottledEvent } from '../types.js';

// A store that takes longer than this counts as unavailable, and is not asked again for a while.
const maxAnswerMs = 5_000;
const restMs = 10_000;
// One round trip takes slots for all waiting calls, so that a slow store does not limit the throughput.
const maxSlotsAtOnce = 100;

/**
 * The budget of a project that several processes share through a store. A request needs two slots: a local
 * one, which pauses after a 429 and keeps to the limit when the store is unavailable, and one of the store.
 */
export class SharedBudget implements Budget {
  readonly #store: RateBudgetStore;
  readonly #group: string;
  readonly #own: LocalBudget;
  readonly #clock: Clock;
  readonly #queue: CallQueue;
  readonly #health: StoreHealth;
  #limits: BudgetLimits;
  /** The store has no free slot until then. */
  #fullUntil = Number.NEGATIVE_INFINITY;
  /** The store failed and is not asked again until then. */
  #restsUntil = Number.NEGATIVE_INFINITY;
  /** Aborted when no call waits any more, because no timer may keep the process alive then. */
  #pumping: AbortController | undefined;
  /** Emits a `warning` of the client whose call came last. */
  #warn: (message: string) => void = () => undefined;

  constructor(store: RateBudgetStore, group: string, limits: BudgetLimits, own: LocalBudget) {
    this.#store = store;
    this.#group = group;
    this.#limits = limits;
    this.#own = own;
    this.#clock = own.clock;
    this.#queue = new CallQueue(own.clock, (ahead) => this.#forecast(ahead));
    this.#health = new StoreHealth((message) => this.#warn(message), own.clock);
  }

  async acquire(given: SlotRequest): Promise<Slot> {
    this.#warn = (message) => given.onWarning(message);
    const request = reportWaitOnce(given);
    if (hasIoContexts()) {
      return this.#acquireAlone(request);
    }
    const call = this.#queue.join(request, maxPauseMs(this.#limits.windowMs));
    this.#own.queuedElsewhere++;
    void this.#pump();
    try {
      return await call.granted;
    } finally {
      this.#own.queuedElsewhere--;
      this.#queue.leave(call);
      if (this.#queue.size === 0) {
        this.#pumping?.abort();
        this.#pumping = undefined;
      }
    }
  }

  pause(delayMs: number): void {
    this.#own.pause(delayMs);
    this.#refuse({ reason: 'service', waitMs: delayMs });
    this.#inBackground('close', () => this.#store.close(this.#group, delayMs));
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#own.adjust(limits);
  }

  /** `used` counts the requests of this process: only the store knows those of the others. */
  state(): RateLimitState {
    const own = this.#own.state();
    const fullMs = this.#fullUntil - this.#clock.now();
    const resetsAt = fullMs > 0 ? new Date(Date.now() + fullMs) : own.resetsAt;
    return { ...own, queued: this.#queue.size, resetsAt };
  }

  /** Takes slots for the waiting calls, until none waits. */
  async #pump(): Promise<void> {
    if (this.#pumping) {
      return;
    }
    const pumping = new AbortController();
    this.#pumping = pumping;
    const { signal } = pumping;
    try {
      while (!signal.aborted && this.#queue.size > 0) {
        await this.#round(signal);
      }
    } catch (reason) {
      if (isMisconfigured(reason)) {
        this.#queue.fail(reason);
      } else if (!signal.aborted) {
        // The local budget has refused a slot, because the service asks for a longer pause than a call waits
        // out. Reject the queued calls.
        const waitMs = (isPostreelError(reason) && reason.retryAfterMs) || 1;
        this.#queue.refuse({ reason: 'service', waitMs }, 0);
      }
    }
    if (this.#pumping === pumping) {
      this.#pumping = undefined;
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const request: SlotRequest = {
      method: '',
      path: '',
      priority: 'interactive',
      signal,
      maxWaitMs: Number.POSITIVE_INFINITY,
      limitedBy: 'deadline',
      isRepeat: false,
      onWait: (event) => this.#report(event),
      onWarning: this.#warn,
    };
    const slots = await this.#take(request, () => Math.min(this.#queue.size, maxSlotsAtOnce));
    if ('waitMs' in slots) {
      this.#refuse(slots);
      this.#report(slots);
      await sleep(askAgainMs(slots.waitMs), signal, this.#clock);
      return;
    }
    for (const slot of slots) {
      if (!this.#queue.grant(slot)) {
        slot.cancel();
      }
    }
  }

  // On Workers no request may resume another one, so each call asks the store for itself.
  async #acquireAlone(request: SlotRequest): Promise<Slot> {
    request.signal?.throwIfAborted();
    const givesUpAt = this.#clock.now() + request.maxWaitMs;
    for (;;) {
      const maxWaitMs = givesUpAt - this.#clock.now();
      const slots = await this.#take({ ...request, maxWaitMs }, () => 1);
      if (!('waitMs' in slots)) {
        return slots[0] as Slot; // as: there is at least one
      }
      if (slots.reason === 'service' || slots.waitMs > maxWaitMs) {
        throw queueTimeoutError(slots, request);
      }
      request.onWait({ ...slots, queued: this.#own.state().queued + 1 });
      await sleep(askAgainMs(slots.waitMs), request.signal, this.#clock);
    }
  }

  /**
   * Takes slots both locally and in the store: as many as are wanted and free. Resolves to the forecast of the
   * wait if no slot is free.
   */
  async #take(request: SlotRequest, wanted: () => number): Promise<Slot[] | Forecast> {
    const own = [await this.#own.acquire(request)];
    while (own.length < wanted()) {
      const more = this.#own.tryAcquire();
      if (!more) {
        break;
      }
      own.push(more);
    }
    const cancelFrom = (index: number) => own.splice(index).forEach((slot) => slot.cancel());
    const answer = await this.#ask(own.length, request.signal).catch((reason: unknown) => {
      cancelFrom(0);
      throw reason;
    });
    if (answer && 'waitMs' in answer) {
      cancelFrom(0);
      const { windowMs } = this.#limits;
      this.#fullUntil = this.#clock.now() + Math.min(answer.waitMs, windowMs);
      // The limit frees a slot within a window: a longer wait can only come from the service.
      const isLimit = answer.waitMs <= maxPauseMs(windowMs);
      return { reason: isLimit ? 'limit' : 'service', waitMs: answer.waitMs };
    }
    this.#fullUntil = Number.NEGATIVE_INFINITY;
    if (!answer) {
      return own;
    }
    const stored = answer.slots.map((id) => this.#storedSlot(id));
    cancelFrom(stored.length);
    return own.map((slot, index) => combineSlots(slot, stored[index] as Slot)); // as: equally many
  }

  /**
   * Asks the store for slots. `undefined` if the store is unavailable: then the local budget alone decides.
   */
  async #ask(count: number, signal: AbortSignal | undefined): Promise<StoreAnswer | undefined> {
    if (this.#clock.now() < this.#restsUntil) {
      return undefined;
    }
    try {
      // If this process dies, nobody releases its slots. The service may still receive its requests for
      // `maxInTransitMs`, and counts each of them for a window: the slots expire after both.
      const leaseMs = this.#limits.windowMs + maxInTransitMs;
      const asked = this.#store.take(this.#group, this.#limits, leaseMs, count);
      const onLate = (late: StoreAnswer) => this.#giveBack(late);
      const answer = await answerWithin(asked, maxAnswerMs, { onLate, signal, clock: this.#clock });
      checkAnswer(answer, count);
      this.#health.succeeded();
      return answer;
    } catch (reason) {
      signal?.throwIfAborted();
      if (isMisconfigured(reason)) {
        throw reason; // a missing table is not an outage: nobody shares the limit until it is created
      }
      this.#health.failed('take', reason);
      this.#restsUntil = this.#clock.now() + restMs;
      return undefined;
    }
  }

  #giveBack(late: StoreAnswer): void {
    for (const id of 'slots' in late ? late.slots : []) {
      this.#inBackground('cancel', () => this.#store.cancel(this.#group, id));
    }
  }

  #storedSlot(id: string): Slot {
    let isOpen = true;
    const once = (step: 'release' | 'cancel', end: () => Promise<void>) => () => {
      if (isOpen) {
        this.#inBackground(step, end);
      }
      isOpen = false;
    };
    const release = (moreMs: number) => {
      const limits = { ...this.#limits, windowMs: this.#limits.windowMs + moreMs };
      return this.#store.release(this.#group, id, limits);
    };
    return {
      release: once('release', () => release(0)),
      abandon: once('release', () => release(lateArrivalMs)),
      cancel: once('cancel', () => this.#store.cancel(this.#group, id)),
    };
  }

  // No call waits for these requests to the store.
  #inBackground(step: string, run: () => Promise<void>): void {
    new Promise<void>((resolve) => resolve(run())).then(
      () => this.#health.succeeded(),
      (reason: unknown) => this.#health.failed(step, reason),
    );
  }

  #forecast(ahead: number): Forecast {
    const own = this.#own.forecast(ahead);
    const fullMs = this.#fullUntil - this.#clock.now();
    return own.waitMs >= fullMs ? own : { reason: 'limit', waitMs: fullMs };
  }

  #report(event: Omit<ThrottledEvent, 'queued'>): void {
    for (const { request } of this.#queue.all()) {
      request.onWait({ ...event, queued: this.#queue.size });
    }
  }

  #refuse(forecast: Forecast): void {
    this.#queue.refuse(forecast, maxPauseMs(this.#limits.windowMs));
  }
}

/** Did the store fail because it is not set up? Then waiting does not help, and the error says what to do. */
export function isMisconfigured(reason: unknown): reason is ConfigurationError {
  return isPostreelError(reason) && reason.name === 'ConfigurationError';
}

// Another process may release a slot at any time, so the store is asked again within a second.
function askAgainMs(waitMs: number): number {
  return Math.min(Math.max(waitMs, 10), 1_000);
}

// The store may be the user's implementation, and a driver may be configured to return numbers as text.
function checkAnswer(answer: StoreAnswer, count: number): void {
  const { slots, waitMs } = answer as { slots?: unknown; waitMs?: unknown }; // as: not checked yet
  const areSlots =
    Array.isArray(slots) &&
    slots.length > 0 &&
    slots.length <= count &&
    slots.every((slot) => typeof slot === 'string' && slot !== '');
  if (!areSlots && !(slots === undefined && Number.isFinite(waitMs))) {
    throw new Error('it answered with neither slots nor a time to wait');
  }
}

// Failures at most this far apart are one outage, even if another step succeeds in between.
const sameOutageMs = 60_000;

/** Warns once per outage of the store that the processes of a project share. */
export class StoreHealth {
  readonly #warn: (message: string) => void;
  readonly #clock: Clock;
  #hasAnswered = true;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(warn: (message: string) => void, clock: Clock) {
    this.#warn = warn;
    this.#clock = clock;
  }

  /** A step failed: this process continues with its local limits. */
  failed(step: string, reason: unknown): void {
    const now = this.#clock.now();
    if (this.#hasAnswered && now - this.#failedAt > sameOutageMs) {
      this.#warn(
        `The store of the rate limit failed to ${step} (${reasonOf(reason)}). Until it answers again, this process keeps to its limits by itself, and several processes may exceed them together.`,
      );
    }
    this.#hasAnswered = false;
    this.#failedAt = now;
  }

  /** A step succeeded: a failure more than `sameOutageMs` after the last one starts a new outage. */
  succeeded(): void {
    this.#hasAnswered = true;
  }
}
