import type { ThrottledEvent } from '../../contract/events.js';
import type {
  BudgetLimits,
  RateBudgetStore,
  StoreAnswer,
} from '../../contract/rate-budget-store.js';
import { isPostreelError } from '../../errors/index.js';
import { monotonicMs } from '../../async/clock.js';
import {
  bothSlots,
  longestPauseMs,
  stragglingMs,
  type Budget,
  type RateLimitState,
  type Slot,
  type Turn,
} from './budget.js';
import type { LocalBudget } from './local-budget.js';
import { PriorityQueue, toldOnce, type Forecast } from './priority-queue.js';
import { answerWithin, sleep } from '../../async/timers.js';

// Longer than an attempt lasts by default. A process that died may have sent at its very end.
const longestAttemptMs = 120_000;
// A store that is slower than this is as good as gone, and is left alone for a while.
const longestAnswerMs = 5_000;
const askAgainMs = 10_000;
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
    const own = await this.#own.acquire({
      signal,
      method: '',
      path: '',
      priority: 'interactive',
      isRepeat: false,
      maxWaitMs: Number.POSITIVE_INFINITY,
      onWait: (event) => this.#tell(event),
    });
    const answer = await this.#ask(signal).catch((reason: unknown) => {
      own.cancel();
      throw reason;
    });
    if (answer && 'waitMs' in answer) {
      own.cancel();
      await this.#pause(answer.waitMs, signal);
    } else {
      this.#fullUntil = Number.NEGATIVE_INFINITY;
      this.#start(own, answer?.slot);
    }
  }

  /** `undefined` when the store does not answer: then our own budget has to do. */
  async #ask(signal: AbortSignal): Promise<StoreAnswer | undefined> {
    if (monotonicMs() < this.#askAt) {
      return undefined;
    }
    try {
      const leaseMs = this.#limits.windowMs + longestAttemptMs;
      const answer = this.#store.take(this.#group, this.#limits, leaseMs);
      const onLate = (late: StoreAnswer) => this.#giveBack(late);
      return await answerWithin(answer, longestAnswerMs, { onLate, signal });
    } catch {
      signal.throwIfAborted();
      this.#askAt = monotonicMs() + askAgainMs;
      return undefined;
    }
  }

  #giveBack(late: StoreAnswer): void {
    if ('slot' in late) {
      quietly(() => this.#store.cancel(this.#group, late.slot));
    }
  }

  async #pause(waitMs: number, signal: AbortSignal): Promise<void> {
    this.#fullUntil = monotonicMs() + waitMs;
    // A slot comes free within a window: for longer only the service makes us wait.
    const isLimit = waitMs <= longestPauseMs(this.#limits.windowMs);
    const forecast = { reason: isLimit ? 'limit' : 'service', waitMs } as const;
    this.#refuse(forecast);
    this.#tell({ ...forecast, queued: this.#queue.size });
    await sleep(Math.min(Math.max(waitMs, pauseMs.shortest), pauseMs.longest), signal);
  }

  #start(own: Slot, stored: string | undefined): void {
    const slot = stored === undefined ? own : bothSlots(own, this.#storedSlot(stored));
    if (!this.#queue.grant(slot)) {
      slot.cancel();
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
    this.#queue.refuse(forecast, longestPauseMs(this.#limits.windowMs));
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

// A store that is gone is noticed when the next slot is asked for.
function quietly(task: () => Promise<void>): void {
  new Promise<void>((resolve) => resolve(task())).catch(() => undefined);
}
