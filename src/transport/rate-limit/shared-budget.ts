import type { ThrottledEvent } from '../../contract/events.js';
import type {
  BudgetLimits,
  RateBudgetStore,
  StoreAnswer,
} from '../../contract/rate-budget-store.js';
import { isPostreelError } from '../../errors/index.js';
import { answerWithin, hasIoContexts, monotonicMs, sleep } from '../../async/timers.js';
import {
  bothSlots,
  maxAttemptMs,
  maxPauseMs,
  stragglingMs,
  type Budget,
  type RateLimitState,
  type Slot,
  type Turn,
} from './budget.js';
import type { LocalBudget } from './local-budget.js';
import { PriorityQueue, queueTimeout, toldOnce, type Forecast } from './priority-queue.js';
import { renewedGraceMs, SlotRenewal } from './slot-renewal.js';
import { StoreHealth, type StoreStep } from './store-health.js';

// A store that is slower than this is as good as gone, and is left alone for a while.
const maxAnswerMs = 5_000;
const restMs = 10_000;
// Calls notice a store that takes this long.
const slowAnswerMs = 1_000;
// Another process may give a slot back at any time, so the store is asked again before long.
const pauseMs = { min: 10, max: 1_000 };
// All calls that wait get their slots in one round trip, so that a slow store does not set the pace.
const maxSlotsAtOnce = 100;

/** The budget of a project that several processes share through a store. */
export class SharedBudget implements Budget {
  readonly #store: RateBudgetStore;
  readonly #group: string;
  readonly #queue = new PriorityQueue(() => this.#stopIfIdle());
  /** What this process sends in this project: it obeys 429s, and keeps the limit when the store is gone. */
  readonly #own: LocalBudget;
  readonly #health = new StoreHealth((message) => this.#warn(message));
  readonly #renewal = new SlotRenewal((slots) => this.#renew(slots));
  #limits: BudgetLimits;
  #fullUntil = Number.NEGATIVE_INFINITY;
  #askAt = Number.NEGATIVE_INFINITY;
  /** Aborted when no call waits any more: no timer may keep the process alive then. */
  #pumping: AbortController | undefined;
  /** Of the client whose call came last. */
  #warn: (message: string) => void = () => undefined;

  constructor(
    store: RateBudgetStore,
    group: string,
    { limits, local }: { readonly limits: BudgetLimits; readonly local: LocalBudget },
  ) {
    this.#store = store;
    this.#group = group;
    this.#limits = limits;
    this.#own = local;
  }

  acquire(turn: Turn): Promise<Slot> {
    this.#warn = (message) => turn.onWarning(message);
    if (hasIoContexts()) {
      return this.#acquireInOwnContext(toldOnce(turn));
    }
    const slot = this.#queue.wait(toldOnce(turn), () => this.#forecast(turn));
    if (!this.#pumping && this.#queue.size > 0) {
      void this.#pump();
    }
    return slot;
  }

  close(delayMs: number): void {
    this.#own.close(delayMs);
    this.#rejectWaiters({ reason: 'service', waitMs: delayMs });
    this.#inBackground('close', () => this.#store.close(this.#group, delayMs));
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#own.adjust(limits);
  }

  /** `used` counts the requests of this process: only the store has the others'. */
  state(): RateLimitState {
    const own = this.#own.state();
    const fullMs = this.#fullUntil - monotonicMs();
    const resetsAt = fullMs > 0 ? new Date(Date.now() + fullMs) : own.resetsAt;
    return { ...own, queued: this.#queue.size, resetsAt };
  }

  async #pump(): Promise<void> {
    const pumping = new AbortController();
    this.#pumping = pumping;
    try {
      while (!pumping.signal.aborted && this.#queue.size > 0) {
        await this.#turn(pumping.signal);
      }
    } catch (reason) {
      // Our own budget does not wait as long as the service asks.
      if (!pumping.signal.aborted) {
        this.#failAll(reason);
      }
    }
    if (this.#pumping === pumping) {
      this.#pumping = undefined;
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const turn: Turn = {
      signal,
      method: '',
      path: '',
      priority: 'interactive',
      isRepeat: false,
      maxWaitMs: Number.POSITIVE_INFINITY,
      onWait: (event) => this.#tell(event),
      onWarning: this.#warn,
    };
    const slots = await this.#take(turn, () => Math.min(this.#queue.size, maxSlotsAtOnce));
    if ('waitMs' in slots) {
      this.#rejectWaiters(slots);
      this.#tell({ ...slots, queued: this.#queue.size });
      await sleep(askAgainMs(slots.waitMs), signal);
      return;
    }
    for (const slot of slots) {
      if (!this.#queue.grant(slot)) {
        slot.cancel();
      }
    }
  }

  // Where one request cannot resume another, each call asks the store for itself.
  async #acquireInOwnContext(turn: Turn): Promise<Slot> {
    const givesUpAt = monotonicMs() + turn.maxWaitMs;
    for (;;) {
      const maxWaitMs = givesUpAt - monotonicMs();
      const slots = await this.#take({ ...turn, maxWaitMs }, () => 1);
      if (!('waitMs' in slots)) {
        return slots[0] as Slot; // there is one at least
      }
      if (slots.reason === 'service' || slots.waitMs > maxWaitMs) {
        throw queueTimeout(slots, turn);
      }
      turn.onWait({ ...slots, queued: this.#own.state().queued + 1 });
      await sleep(askAgainMs(slots.waitMs), turn.signal);
    }
  }

  /** Slots here and in the store, as many as are wanted and free, or how long there is none. */
  async #take(turn: Turn, wanted: () => number): Promise<Slot[] | Forecast> {
    const own = [await this.#own.acquire(turn)];
    while (own.length < wanted()) {
      const more = this.#own.takeNow();
      if (!more) {
        break;
      }
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
      this.#fullUntil = monotonicMs() + Math.min(answer.waitMs, windowMs);
      // A slot comes free within a window: for longer only the service makes us wait.
      const isLimit = answer.waitMs <= maxPauseMs(windowMs);
      return { reason: isLimit ? 'limit' : 'service', waitMs: answer.waitMs };
    }
    this.#fullUntil = Number.NEGATIVE_INFINITY;
    if (!answer) {
      return own;
    }
    const stored = answer.slots.map((id) => this.#storedSlot(id, answer.isProbe === true));
    cancelFrom(stored.length);
    return own.map((slot, index) => bothSlots(slot, stored[index] as Slot)); // as many as there are own
  }

  /** `undefined` when the store does not answer: then our own budget has to do. */
  async #ask(count: number, signal: AbortSignal | undefined): Promise<StoreAnswer | undefined> {
    const askedAt = monotonicMs();
    if (askedAt < this.#askAt) {
      return undefined;
    }
    const slow = new Error(`no answer within ${slowAnswerMs} ms`);
    const timer = setTimeout(() => this.#health.failed('speed', slow), slowAnswerMs);
    try {
      const asked = this.#store.take(this.#group, this.#limits, this.#leaseMs, count);
      const onLate = (late: StoreAnswer) => this.#giveBack(late);
      const answer = await answerWithin(asked, maxAnswerMs, { onLate, signal });
      checkAnswer(answer, count);
      this.#health.succeeded('take');
      if (monotonicMs() - askedAt < slowAnswerMs / 2) {
        this.#health.succeeded('speed');
      }
      return answer;
    } catch (reason) {
      signal?.throwIfAborted();
      this.#health.failed('take', reason);
      this.#askAt = monotonicMs() + restMs;
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #giveBack(late: StoreAnswer): void {
    if ('slots' in late) {
      for (const id of late.slots) {
        this.#inBackground('cancel', () => this.#store.cancel(this.#group, id));
      }
    }
  }

  #storedSlot(id: string, isProbe: boolean): Slot {
    if (this.#store.renew) {
      this.#renewal.add(id);
    }
    let isOpen = true;
    const once = (step: StoreStep, end: () => Promise<void>) => () => {
      if (isOpen) {
        this.#renewal.delete(id);
        this.#inBackground(step, end);
      }
      isOpen = false;
    };
    const release = (moreMs: number) => {
      const limits = { ...this.#limits, windowMs: this.#limits.windowMs + moreMs };
      return this.#store.release(this.#group, id, limits);
    };
    return {
      accepted: () => {
        if (isProbe) {
          this.#inBackground('reopen', async () => this.#store.reopen?.(this.#group));
        }
      },
      release: once('release', () => release(0)),
      abandon: once('release', () => release(stragglingMs)),
      cancel: once('cancel', () => this.#store.cancel(this.#group, id)),
    };
  }

  #renew(slots: readonly string[]): void {
    this.#inBackground('renew', async () => this.#store.renew?.(this.#group, slots, this.#leaseMs));
  }

  get #leaseMs(): number {
    return this.#limits.windowMs + (this.#store.renew ? renewedGraceMs : maxAttemptMs);
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
    const fullMs = this.#fullUntil - monotonicMs();
    return own.waitMs >= fullMs ? own : { reason: 'limit', waitMs: fullMs };
  }

  #tell(event: ThrottledEvent): void {
    for (const turn of this.#queue.turns()) {
      turn.onWait({ ...event, queued: this.#queue.size });
    }
  }

  #rejectWaiters(forecast: Forecast): void {
    this.#queue.rejectWaiters(forecast, maxPauseMs(this.#limits.windowMs));
  }

  #failAll(reason: unknown): void {
    const waitMs = (isPostreelError(reason) && reason.retryAfterMs) || 1;
    this.#queue.rejectWaiters({ reason: 'service', waitMs }, 0); // each caller gets an error of its own
  }

  #stopIfIdle(): void {
    if (this.#queue.size > 0) {
      return;
    }
    this.#pumping?.abort();
    this.#pumping = undefined;
  }
}

function askAgainMs(waitMs: number): number {
  return Math.min(Math.max(waitMs, pauseMs.min), pauseMs.max);
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
