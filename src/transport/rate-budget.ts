import type { BudgetLimits } from '../contract/rate-budget-store.js';
import { AckWindow } from './ack-window.js';
import { Caution } from './caution.js';
import { monotonicMs } from './clock.js';
import { Lanes, type Slot, type Turn } from './lanes.js';

/** What a client's rate budget looks like right now. */
export interface RateLimitState {
  /** How many requests may be made in a window. */
  readonly limit: number;
  /** How many of them are taken. */
  readonly used: number;
  /** How many calls wait. */
  readonly queued: number;
  /** When the next request becomes free, if all are taken or the service asked to wait. */
  readonly resetsAt: Date | undefined;
}

/** Hands out the right to send. */
export interface Budget {
  /** Resolves when a request may leave. */
  acquire(turn: Turn): Slot | Promise<Slot>;
  /** The service said 429: nobody sends for that long, then one request goes first. */
  close(delayMs: number): void;
  /** The service took a request. */
  accepted(): void;
  /** Takes over other limits; what has been sent stays counted. */
  adjust(limits: BudgetLimits): void;
  state(): RateLimitState;
}

/** The budget of a project inside one process. Calls that need not wait do not queue. */
export class RateBudget implements Budget {
  #limits: BudgetLimits;
  readonly #window = new AckWindow();
  readonly #caution = new Caution();
  readonly #lanes = new Lanes(() => this.#schedule());
  #closedUntil = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  acquire(turn: Turn): Slot | Promise<Slot> {
    if (this.#lanes.size === 0 && this.#waitMs() === 0) return this.#take();
    const slot = this.#lanes.wait(turn, this.#expectedWaitMs(turn));
    this.#schedule();
    return slot;
  }

  close(delayMs: number): void {
    const now = monotonicMs();
    this.#closedUntil = Math.max(this.#closedUntil, now + delayMs);
    this.#caution.refused(now, delayMs + this.#limits.windowMs);
    this.#schedule();
  }

  accepted(): void {
    this.#caution.accepted();
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#pump();
  }

  state(): RateLimitState {
    const waitMs = this.#waitMs();
    const isKnown = waitMs > 0 && Number.isFinite(waitMs);
    return {
      limit: this.#limits.limit,
      used: this.#window.used(monotonicMs()),
      queued: this.#lanes.size,
      resetsAt: isKnown ? new Date(Date.now() + waitMs) : undefined,
    };
  }

  #take(): Slot {
    this.#window.inFlight++;
    let isOpen = true;
    const end = (isHeld: boolean) => {
      if (!isOpen) return;
      isOpen = false;
      this.#window.inFlight--;
      if (isHeld) this.#window.hold(monotonicMs() + this.#limits.windowMs);
      this.#pump();
    };
    return { release: () => end(true), cancel: () => end(false) };
  }

  #pump(): void {
    while (this.#lanes.size > 0 && this.#waitMs() === 0) this.#lanes.next()?.start(this.#take());
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waitMs = this.#waitMs();
    if (this.#lanes.size === 0 || !Number.isFinite(waitMs)) return; // an answer will pump
    this.#timer = setTimeout(() => this.#pump(), Math.min(Math.ceil(waitMs), 2 ** 31 - 1));
  }

  /** 0: a request may leave now. Infinity: not before an answer comes. */
  #waitMs(): number {
    const now = monotonicMs();
    if (now < this.#closedUntil) return this.#closedUntil - now;
    if (this.#window.inFlight >= this.#caution.cap(now)) return Number.POSITIVE_INFINITY;
    if (this.#window.used(now) < this.#capacity) return 0;
    const next = this.#window.freeAt(0);
    return next === undefined ? Number.POSITIVE_INFINITY : Math.max(1, next - now);
  }

  // The slot of a request that is under way comes free a window after an answer still to come.
  #expectedWaitMs(turn: Turn): number {
    const now = monotonicMs();
    const { windowMs } = this.#limits;
    const untilOpen = Math.max(0, this.#closedUntil - now);
    const ahead = this.#lanes.ahead(turn);
    const missing = this.#window.used(now) + ahead - this.#capacity;
    if (missing < 0) return untilOpen;
    const windows = Math.floor(missing / this.#capacity);
    const freeAt = this.#window.freeAt(missing % this.#capacity) ?? now + windowMs;
    return Math.max(untilOpen, freeAt - now + windows * windowMs);
  }

  get #capacity(): number {
    return Math.max(1, Math.floor(this.#limits.limit * (1 - this.#limits.headroom)));
  }
}
