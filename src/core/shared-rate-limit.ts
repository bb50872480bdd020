import { answerWithin, hasIoContexts, sleep, type Clock } from './async.js';
import { isPostreelError, reasonOf } from './errors.js';
import {
  bothSlots,
  Line,
  maxAttemptMs,
  queueTimeout,
  reportedOnce,
  stragglingMs,
  type Budget,
  type Forecast,
  type LocalBudget,
  type Slot,
  type Turn,
} from './rate-limit.js';
import type { BudgetLimits, RateBudgetStore, StoreAnswer } from './rate-store.js';
import { maxPauseMs } from './retry.js';
import type { RateLimitState, ThrottledEvent } from './types.js';

// A store that is slower than this is as good as gone, and is left alone for a while.
const maxAnswerMs = 5_000;
const restMs = 10_000;
// All calls that wait get their slots in one round trip, so that a slow store does not set the pace.
const maxSlotsAtOnce = 100;

/**
 * The budget of a project that several processes share through a store. A request needs two slots: one
 * of this process, which obeys 429s and keeps the limit when the store is gone, and one of the store.
 */
export class SharedBudget implements Budget {
  readonly #store: RateBudgetStore;
  readonly #group: string;
  readonly #own: LocalBudget;
  readonly #clock: Clock;
  readonly #line: Line;
  readonly #health = new StoreHealth((message) => this.#warn(message));
  #limits: BudgetLimits;
  #fullUntil = Number.NEGATIVE_INFINITY;
  #askAt = Number.NEGATIVE_INFINITY;
  /** Aborted when no call waits any more: no timer may keep the process alive then. */
  #pumping: AbortController | undefined;
  /** Of the client whose call came last. */
  #warn: (message: string) => void = () => undefined;

  constructor(store: RateBudgetStore, group: string, limits: BudgetLimits, own: LocalBudget) {
    this.#store = store;
    this.#group = group;
    this.#limits = limits;
    this.#own = own;
    this.#clock = own.clock;
    this.#line = new Line(own.clock);
  }

  async acquire(given: Turn): Promise<Slot> {
    this.#warn = given.onWarning;
    const turn = reportedOnce(given);
    turn.signal?.throwIfAborted();
    if (hasIoContexts()) {
      return this.#acquireAlone(turn);
    }
    const expected = this.#forecast(turn);
    if (expected.waitMs > turn.maxWaitMs) {
      throw queueTimeout(expected, turn);
    }
    const place = this.#line.join(turn);
    void this.#pump();
    try {
      return await place.granted;
    } catch (failure) {
      throw typeof failure === 'symbol' ? queueTimeout(this.#forecast(turn), turn) : failure;
    } finally {
      this.#line.leave(place);
      if (this.#line.size === 0) {
        this.#pumping?.abort();
        this.#pumping = undefined;
      }
    }
  }

  close(delayMs: number): void {
    this.#own.close(delayMs);
    this.#refuse({ reason: 'service', waitMs: delayMs });
    this.#inBackground('close', () => this.#store.close(this.#group, delayMs));
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#own.adjust(limits);
  }

  /** `used` counts the requests of this process: only the store has the others'. */
  state(): RateLimitState {
    const own = this.#own.state();
    const fullMs = this.#fullUntil - this.#clock.now();
    const resetsAt = fullMs > 0 ? new Date(Date.now() + fullMs) : own.resetsAt;
    return { ...own, queued: this.#line.size, resetsAt };
  }

  /** Takes slots for all that wait, for as long as any do. */
  async #pump(): Promise<void> {
    if (this.#pumping) {
      return;
    }
    const pumping = new AbortController();
    this.#pumping = pumping;
    const { signal } = pumping;
    try {
      while (!signal.aborted && this.#line.size > 0) {
        await this.#round(signal);
      }
    } catch (reason) {
      // Our own budget does not wait as long as the service asks.
      if (!signal.aborted) {
        const waitMs = (isPostreelError(reason) && reason.retryAfterMs) || 1;
        this.#line.refuse({ reason: 'service', waitMs }, 0);
      }
    }
    if (this.#pumping === pumping) {
      this.#pumping = undefined;
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    const own: Turn = {
      ...{ signal, method: '', path: '', priority: 'interactive', limitedBy: 'deadline' },
      isRepeat: false,
      maxWaitMs: Number.POSITIVE_INFINITY,
      onWait: (event) => this.#report(event),
      onWarning: this.#warn,
    } as const;
    const slots = await this.#take(own, () => Math.min(this.#line.size, maxSlotsAtOnce));
    if ('waitMs' in slots) {
      this.#refuse(slots);
      this.#report(slots);
      await sleep(askAgainMs(slots.waitMs), signal, this.#clock);
      return;
    }
    for (const slot of slots) {
      const next = this.#line.first();
      if (next) {
        this.#line.leave(next);
        next.grant(slot);
      } else {
        slot.cancel();
      }
    }
  }

  // Where one request cannot resume another, each call asks the store for itself.
  async #acquireAlone(turn: Turn): Promise<Slot> {
    const givesUpAt = this.#clock.now() + turn.maxWaitMs;
    for (;;) {
      const maxWaitMs = givesUpAt - this.#clock.now();
      const slots = await this.#take({ ...turn, maxWaitMs }, () => 1);
      if (!('waitMs' in slots)) {
        return slots[0] as Slot; // there is one at least
      }
      if (slots.reason === 'service' || slots.waitMs > maxWaitMs) {
        throw queueTimeout(slots, turn);
      }
      turn.onWait({ ...slots, queued: this.#own.state().queued + 1 });
      await sleep(askAgainMs(slots.waitMs), turn.signal, this.#clock);
    }
  }

  /** Slots here and in the store, as many as are wanted and free, or how long there is none. */
  async #take(turn: Turn, wanted: () => number): Promise<Slot[] | Forecast> {
    const own = [await this.#own.acquire(turn)];
    for (let more; own.length < wanted() && (more = this.#own.takeNow());) {
      own.push(more);
    }
    const cancelFrom = (index: number) => own.splice(index).forEach((slot) => slot.cancel());
    const answer = await this.#ask(own.length, turn.signal).catch((reason: unknown) => {
      cancelFrom(0);
      throw reason;
    });
    if (answer && 'waitMs' in answer) {
      cancelFrom(0);
      const { windowMs } = this.#limits;
      this.#fullUntil = this.#clock.now() + Math.min(answer.waitMs, windowMs);
      // A slot comes free within a window: for longer only the service makes us wait.
      const isLimit = answer.waitMs <= maxPauseMs(windowMs);
      return { reason: isLimit ? 'limit' : 'service', waitMs: answer.waitMs };
    }
    this.#fullUntil = Number.NEGATIVE_INFINITY;
    if (!answer) {
      return own;
    }
    const stored = answer.slots.map((id) => this.#storedSlot(id));
    cancelFrom(stored.length);
    return own.map((slot, index) => bothSlots(slot, stored[index] as Slot)); // as many as there are own
  }

  /** `undefined` when the store does not answer: then our own budget has to do. */
  async #ask(count: number, signal: AbortSignal | undefined): Promise<StoreAnswer | undefined> {
    if (this.#clock.now() < this.#askAt) {
      return undefined;
    }
    try {
      const leaseMs = this.#limits.windowMs + maxAttemptMs;
      const asked = this.#store.take(this.#group, this.#limits, leaseMs, count);
      const onLate = (late: StoreAnswer) => this.#giveBack(late);
      const answer = await answerWithin(asked, maxAnswerMs, { onLate, signal });
      checkAnswer(answer, count);
      this.#health.succeeded('take');
      return answer;
    } catch (reason) {
      signal?.throwIfAborted();
      this.#health.failed('take', reason);
      this.#askAt = this.#clock.now() + restMs;
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
    const once = (step: StoreStep, end: () => Promise<void>) => () => {
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
      accepted: () => undefined,
      release: once('release', () => release(0)),
      abandon: once('release', () => release(stragglingMs)),
      cancel: once('cancel', () => this.#store.cancel(this.#group, id)),
    };
  }

  // No call waits for these steps.
  #inBackground(step: StoreStep, run: () => Promise<void>): void {
    new Promise<void>((resolve) => resolve(run())).then(
      () => this.#health.succeeded(step),
      (reason: unknown) => this.#health.failed(step, reason),
    );
  }

  #forecast(turn: Turn): Forecast {
    const own = this.#own.forecast(turn);
    const fullMs = this.#fullUntil - this.#clock.now();
    return own.waitMs >= fullMs ? own : { reason: 'limit', waitMs: fullMs };
  }

  #report(event: Omit<ThrottledEvent, 'queued'>): void {
    for (const { turn } of this.#line.all()) {
      turn.onWait({ ...event, queued: this.#line.size });
    }
  }

  #refuse(forecast: Forecast): void {
    this.#line.refuse(forecast, maxPauseMs(this.#limits.windowMs));
  }
}

// Another process may give a slot back at any time, so the store is asked again before long.
function askAgainMs(waitMs: number): number {
  return Math.min(Math.max(waitMs, 10), 1_000);
}

// A store may be of the user's own making, and a driver may be set to read numbers as text.
function checkAnswer(answer: StoreAnswer, count: number): void {
  const { slots, waitMs } = answer as { slots?: unknown; waitMs?: unknown }; // as: not believed yet
  const areSlots =
    Array.isArray(slots) &&
    slots.length > 0 &&
    slots.length <= count &&
    slots.every((slot) => typeof slot === 'string' && slot !== '');
  if (!areSlots && !(slots === undefined && Number.isFinite(waitMs))) {
    throw new Error('it answered with neither slots nor a time to wait');
  }
}

/** What is asked of a store. */
export type StoreStep = 'take' | 'release' | 'cancel' | 'close' | 'lease' | 'hold' | 'give back';

/** Without these the process goes on by itself. */
const basic: readonly StoreStep[] = ['take', 'lease'];

/** What it means that a step fails. */
const consequences: Readonly<Record<StoreStep, string>> = {
  take: 'Until it answers, this process keeps to the limit by itself, and several processes may exceed it together',
  release: 'A slot stays taken until its lease ends',
  cancel: 'A slot stays taken until its lease ends',
  close: 'Other processes go on sending although the service asked to wait',
  lease:
    'Until it answers, this process counts pending jobs by itself, and several processes may exceed their limit together',
  hold: 'The place of a job may come free for other processes while the job is under way',
  'give back': 'The place of a job stays taken until its lease ends',
};

/** Warns once per outage of the store of a rate budget, and whenever the process goes on without it. */
export class StoreHealth {
  readonly #failing = new Set<StoreStep>();
  readonly #warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** A step failed. */
  failed(step: StoreStep, reason: unknown): void {
    const isNew = this.#failing.size === 0 || (basic.includes(step) && !this.#failing.has(step));
    this.#failing.add(step);
    if (isNew) {
      const why = reasonOf(reason);
      this.#warn(`The store of the rate limit failed to ${step} (${why}). ${consequences[step]}.`);
    }
  }

  /** A step succeeded: when it fails again, that is another outage. */
  succeeded(step: StoreStep): void {
    this.#failing.delete(step);
  }
}
