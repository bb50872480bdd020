import type { ThrottledEvent } from '../../contract/events.js';
import type {
  BudgetLimits,
  RateBudgetStore,
  StoreAnswer,
} from '../../contract/rate-budget-store.js';
import { isPostreelError } from '../../errors/index.js';
import { monotonicMs, answerWithin, hasIoContexts, sleep } from '../../async/timers.js';
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

// A store that is slower than this is as good as gone, and is left alone for a while.
const longestAnswerMs = 5_000;
const restMs = 10_000;
// Another process may give a slot back at any time, so the store is asked again before long.
const pauseMs = { shortest: 10, longest: 1_000 };

/** The budget of a project that several processes share through a store. */
export class SharedBudget implements Budget {
  readonly #store: RateBudgetStore;
  readonly #group: string;
  readonly #queue = new PriorityQueue(() => this.#stopIfIdle());
  /** What this process sends in this project: it obeys 429s, and keeps the limit when the store is gone. */
  readonly #own: LocalBudget;
  #limits: BudgetLimits;
  #fullUntil = Number.NEGATIVE_INFINITY;
  #askAt = Number.NEGATIVE_INFINITY;
  /** Aborted when nobody waits any more: no timer may keep the process alive then. */
  #pumping: AbortController | undefined;

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
    this.#refuse({ reason: 'service', waitMs: delayMs });
    quietly(() => this.#store.close(this.#group, delayMs));
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#own.adjust(limits);
  }

  /** `used` counts the requests of this process: the store alone knows the others'. */
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
    const slot = await this.#tryTake({
      signal,
      method: '',
      path: '',
      priority: 'interactive',
      isRepeat: false,
      maxWaitMs: Number.POSITIVE_INFINITY,
      onWait: (event) => this.#tell(event),
    });
    if ('waitMs' in slot) {
      this.#refuse(slot);
      this.#tell({ ...slot, queued: this.#queue.size });
      await sleep(askAgainMs(slot.waitMs), signal);
    } else if (!this.#queue.grant(slot)) {
      slot.cancel();
    }
  }

  // Where one request cannot resume another, each call asks the store for itself.
  async #acquireInOwnContext(turn: Turn): Promise<Slot> {
    const givesUpAt = monotonicMs() + turn.maxWaitMs;
    for (;;) {
      const maxWaitMs = givesUpAt - monotonicMs();
      const slot = await this.#tryTake({ ...turn, maxWaitMs });
      if (!('waitMs' in slot)) {
        return slot;
      }
      if (slot.reason === 'service' || slot.waitMs > maxWaitMs) {
        throw queueTimeout(slot, turn);
      }
      turn.onWait({ ...slot, queued: this.#own.state().queued + 1 });
      await sleep(askAgainMs(slot.waitMs), turn.signal);
    }
  }

  /** A slot here and in the store, or how long the store has none. */
  async #tryTake(turn: Turn): Promise<Slot | Forecast> {
    const own = await this.#own.acquire(turn);
    const answer = await this.#ask(turn.signal).catch((reason: unknown) => {
      own.cancel();
      throw reason;
    });
    if (answer && 'waitMs' in answer) {
      own.cancel();
      this.#fullUntil = monotonicMs() + answer.waitMs;
      // A slot comes free within a window: for longer only the service makes us wait.
      const isLimit = answer.waitMs <= maxPauseMs(this.#limits.windowMs);
      return { reason: isLimit ? 'limit' : 'service', waitMs: answer.waitMs };
    }
    this.#fullUntil = Number.NEGATIVE_INFINITY;
    return answer ? bothSlots(own, this.#storedSlot(answer.slot)) : own;
  }

  /** `undefined` when the store does not answer: then our own budget has to do. */
  async #ask(signal: AbortSignal | undefined): Promise<StoreAnswer | undefined> {
    if (monotonicMs() < this.#askAt) {
      return undefined;
    }
    try {
      const leaseMs = this.#limits.windowMs + maxAttemptMs;
      const answer = this.#store.take(this.#group, this.#limits, leaseMs);
      const onLate = (late: StoreAnswer) => this.#giveBack(late);
      return await answerWithin(answer, longestAnswerMs, { onLate, signal });
    } catch {
      signal?.throwIfAborted();
      this.#askAt = monotonicMs() + restMs;
      return undefined;
    }
  }

  #giveBack(late: StoreAnswer): void {
    if ('slot' in late) {
      quietly(() => this.#store.cancel(this.#group, late.slot));
    }
  }

  #storedSlot(id: string): Slot {
    let isOpen = true;
    const once = (end: () => Promise<void>) => () => {
      if (isOpen) {
        quietly(end);
      }
      isOpen = false;
    };
    const release = (moreMs: number) => {
      const limits = { ...this.#limits, windowMs: this.#limits.windowMs + moreMs };
      return this.#store.release(this.#group, id, limits);
    };
    return {
      accepted: () => undefined,
      release: once(() => release(0)),
      abandon: once(() => release(stragglingMs)),
      cancel: once(() => this.#store.cancel(this.#group, id)),
    };
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

  #refuse(forecast: Forecast): void {
    this.#queue.refuse(forecast, maxPauseMs(this.#limits.windowMs));
  }

  #failAll(reason: unknown): void {
    const waitMs = (isPostreelError(reason) && reason.retryAfterMs) || 1;
    this.#queue.refuse({ reason: 'service', waitMs }, 0); // each caller gets an error of its own
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
  return Math.min(Math.max(waitMs, pauseMs.shortest), pauseMs.longest);
}

// A store that is gone is noticed when the next slot is asked for.
function quietly(task: () => Promise<void>): void {
  new Promise<void>((resolve) => resolve(task())).catch(() => undefined);
}
