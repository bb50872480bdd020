import { capacityOf, type BudgetLimits } from '../../contract/rate-budget-store.js';
import { monotonicMs, hasIoContexts, maxDelayMs } from '../../async/timers.js';
import { AckWindow } from './ack-window.js';
import {
  maxAttemptMs,
  maxPauseMs,
  stragglingMs,
  type Budget,
  type RateLimitState,
  type Slot,
  type Turn,
} from './budget.js';
import { CongestionWindow } from './congestion.js';
import { Gate } from './gate.js';
import { OwnContextQueue } from './own-context-queue.js';
import { PriorityQueue, queueTimeout, type Forecast } from './priority-queue.js';

// When a slot in flight may come free: at the next answer, whenever that is.
const inFlightMs = 100;

/** The budget of a project inside one process. Calls that need not wait do not queue. */
export class LocalBudget implements Budget {
  #limits: BudgetLimits;
  readonly #window = new AckWindow();
  readonly #congestion = new CongestionWindow();
  readonly #gate = new Gate();
  #capacity: number;
  /** Made for the first call that must wait. */
  #queue: PriorityQueue | undefined;
  #asking: OwnContextQueue | undefined;
  /** Slots of requests that may be cancelled without a word, in the order they were taken. */
  readonly #leases: { readonly endsAt: number; readonly slot: Slot }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
    this.#capacity = capacityOf(limits);
  }

  acquire(turn: Turn): Slot | Promise<Slot> {
    const slot = this.takeNow();
    if (slot) {
      return slot;
    }
    const closedMs = this.#gate.closedMs(monotonicMs());
    if (closedMs > maxPauseMs(this.#limits.windowMs)) {
      return Promise.reject(queueTimeout({ reason: 'service', waitMs: closedMs }, turn));
    }
    if (hasIoContexts()) {
      this.#asking ??= new OwnContextQueue();
      return this.#asking.wait(turn, (ahead) => this.#ask(ahead, turn));
    }
    this.#queue ??= new PriorityQueue(() => this.#schedule());
    const granted = this.#queue.wait(turn, () => this.forecast(turn));
    this.#pump(); // the timer may be due: calls that keep coming must not put it off
    return granted;
  }

  /** A slot, if there is one and no call waits for it. */
  takeNow(): Slot | undefined {
    return this.#waitMs() === 0 && this.#queued === 0 ? this.#take() : undefined;
  }

  /** How long such a call would wait. A slot in use comes free a window after its answer. */
  forecast(turn: Turn): Forecast {
    return this.#forecastBehind((this.#queue?.ahead(turn) ?? 0) + (this.#asking?.ahead(turn) ?? 0));
  }

  #forecastBehind(ahead: number): Forecast {
    const now = monotonicMs();
    const { windowMs } = this.#limits;
    const capacity = this.#capacity;
    const closedMs = this.#gate.closedMs(now);
    const missing = this.#window.used(now) + ahead - capacity;
    const windows = Math.floor(missing / capacity);
    const freeAt = this.#window.freeAt(missing % capacity) ?? now + windowMs;
    const fullMs = missing < 0 ? 0 : freeAt - now + windows * windowMs;
    if (closedMs > fullMs) {
      return { reason: 'service', waitMs: closedMs };
    }
    return { reason: 'limit', waitMs: fullMs };
  }

  close(delayMs: number): void {
    const now = monotonicMs();
    const { windowMs } = this.#limits;
    this.#gate.close(now, delayMs, windowMs);
    this.#congestion.refused(now, delayMs + windowMs);
    const pause = { reason: 'service', waitMs: this.#gate.closedMs(now) } as const;
    this.#queue?.rejectWaiters(pause, maxPauseMs(windowMs));
    this.#schedule();
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#capacity = capacityOf(limits);
    this.#pump();
  }

  state(): RateLimitState {
    const waitMs = this.#waitMs();
    const isKnown = waitMs > 0 && Number.isFinite(waitMs);
    return {
      limit: this.#limits.limit,
      used: this.#window.used(monotonicMs()),
      queued: this.#queued,
      resetsAt: isKnown ? new Date(Date.now() + waitMs) : undefined,
    };
  }

  #take(): Slot {
    this.#window.inFlight++;
    const slot = new LocalSlot(this);
    this.#gate.passed(slot.sentAt, this.#limits.windowMs);
    if (hasIoContexts()) {
      this.#leases.push({ endsAt: slot.sentAt + maxAttemptMs, slot });
    }
    return slot;
  }

  /** A request that was sent at that time was taken. */
  accepted(sentAt: number): void {
    this.#congestion.accepted(sentAt);
    this.#gate.accepted(sentAt);
  }

  /** The slot of a request that left, or may have, comes free after so long. */
  hold(heldMs: number): void {
    this.#window.hold(monotonicMs() + heldMs);
    this.#end();
  }

  /** The slot of a request that did not leave is free at once. */
  free(sentAt: number): void {
    this.#gate.cancelled(sentAt);
    this.#end();
  }

  #end(): void {
    this.#window.inFlight--;
    this.#pump();
  }

  get windowMs(): number {
    return this.#limits.windowMs;
  }

  // Where a request can be cancelled at any point, no code of it may be left to end its slot.
  #endLeases(now: number): void {
    while ((this.#leases[0]?.endsAt ?? Number.POSITIVE_INFINITY) <= now) {
      this.#leases.shift()?.slot.abandon();
    }
  }

  /** A call with so many others before it asks for its slot. */
  #ask(ahead: number, turn: Turn): Slot | Forecast {
    if (this.#waitMs() === 0 && ahead < this.#free()) {
      return this.#take();
    }
    const forecast = this.#forecastBehind(ahead);
    if (forecast.reason === 'service' && forecast.waitMs > maxPauseMs(this.#limits.windowMs)) {
      throw queueTimeout(forecast, turn);
    }
    return forecast.waitMs > 0 ? forecast : { ...forecast, waitMs: inFlightMs };
  }

  /** How many requests may leave right now, while the gate is open. */
  #free(): number {
    const now = monotonicMs();
    const bound = this.#congestion.bound(now, this.#limits.headroom > 0);
    const unused = this.#capacity - this.#window.used(now);
    return Math.min(bound - this.#window.inFlight, unused);
  }

  #pump(): void {
    while (this.#queue && this.#queue.size > 0 && this.#waitMs() === 0) {
      this.#queue.grant(this.#take());
    }
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#queue || this.#queue.size === 0) {
      return;
    }
    const waitMs = this.#waitMs();
    if (!Number.isFinite(waitMs)) {
      return; // an answer will pump
    }
    this.#timer = setTimeout(() => this.#pump(), Math.min(Math.ceil(waitMs), maxDelayMs));
  }

  /** 0: a request may leave now. Infinity: not before an answer comes. */
  #waitMs(): number {
    const now = monotonicMs();
    this.#endLeases(now);
    const closedMs = this.#gate.nextMs(now);
    if (closedMs > 0) {
      return closedMs;
    }
    const bound = this.#congestion.bound(now, this.#limits.headroom > 0);
    if (this.#window.inFlight >= bound) {
      return Number.POSITIVE_INFINITY;
    }
    if (this.#window.used(now) < this.#capacity) {
      return 0;
    }
    const next = this.#window.freeAt(0);
    return next === undefined ? Number.POSITIVE_INFINITY : next - now;
  }

  get #queued(): number {
    return (this.#queue?.size ?? 0) + (this.#asking?.size ?? 0);
  }
}

/** A slot of a budget in this process. */
class LocalSlot implements Slot {
  readonly sentAt = monotonicMs();
  readonly #budget: LocalBudget;
  #isOpen = true;

  constructor(budget: LocalBudget) {
    this.#budget = budget;
  }

  accepted(): void {
    this.#budget.accepted(this.sentAt);
  }

  release(): void {
    this.#once(() => this.#budget.hold(this.#budget.windowMs));
  }

  abandon(): void {
    this.#once(() => this.#budget.hold(this.#budget.windowMs + stragglingMs));
  }

  cancel(): void {
    this.#once(() => this.#budget.free(this.sentAt));
  }

  #once(end: () => void): void {
    if (this.#isOpen) {
      this.#isOpen = false;
      end();
    }
  }
}
