import { RateLimitError } from '../errors/index.js';
import { monotonicMs } from './clock.js';

/** The limit of a service and how much of it to use. */
export interface BudgetLimits {
  readonly limit: number;
  readonly windowMs: number;
  /** The share of the limit that is left to others, from 0 up to 1. */
  readonly headroom: number;
}

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

/** The right to send one request. */
export interface Slot {
  /** The answer was read, or the call given up: the slot comes free one window from now. */
  release(): void;
  /** The request never left: the slot is free at once. */
  cancel(): void;
}

/** How a call waits. */
export interface Turn {
  readonly priority: 'interactive' | 'bulk';
  readonly signal: AbortSignal | undefined;
  /** The longest wait that still makes sense; a longer one is refused at once. */
  readonly maxWaitMs: number;
  onWait(waitMs: number, queued: number): void;
}

interface Waiter extends Turn {
  start(slot: Slot): void;
}

/**
 * An ack window: a slot is held from sending until one window after its answer was read. The
 * service saw the request somewhere in between, so no window of its own, sliding or fixed, can
 * hold more than the limit, whatever the network does.
 */
export class RateBudget {
  #limits: BudgetLimits;
  readonly #lanes: Record<Turn['priority'], Waiter[]> = { interactive: [], bulk: [] };
  /** When the slots of answered requests come free, oldest first; `#expired` are gone already. */
  #held: number[] = [];
  #expired = 0;
  #inFlight = 0;
  #closedUntil = 0;
  /** After a 429 one request goes first; the others follow when it has been answered. */
  #probing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limits: BudgetLimits) {
    this.#limits = limits;
  }

  /** Takes over other limits; what has been sent stays counted. */
  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#pump();
  }

  /** Resolves when a request may leave. Calls without a wait do not queue. */
  acquire(turn: Turn): Slot | Promise<Slot> {
    if (this.#queued() === 0 && this.#waitMs() === 0) return this.#take();
    const waitMs = this.#expectedWaitMs(turn.priority);
    if (waitMs > turn.maxWaitMs) return Promise.reject(tooLong(waitMs));
    return this.#enqueue(turn, waitMs);
  }

  /** The service said 429: nobody sends for that long, then one request goes first. */
  close(delayMs: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, monotonicMs() + delayMs);
    this.#probing = true;
    this.#schedule();
  }

  state(): RateLimitState {
    const waitMs = this.#waitMs();
    const { limit } = this.#limits;
    const resetsAt =
      waitMs > 0 && Number.isFinite(waitMs) ? new Date(Date.now() + waitMs) : undefined;
    return { limit, used: this.#used(), queued: this.#queued(), resetsAt };
  }

  #enqueue(turn: Turn, waitMs: number): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const lane = this.#lanes[turn.priority];
      const onAbort = () => {
        lane.splice(lane.indexOf(waiter), 1);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
        reject(turn.signal?.reason);
        this.#schedule();
      };
      const waiter: Waiter = {
        ...turn,
        start(slot) {
          turn.signal?.removeEventListener('abort', onAbort);
          resolve(slot);
        },
      };
      lane.push(waiter);
      turn.signal?.addEventListener('abort', onAbort, { once: true });
      turn.onWait(waitMs, this.#queued());
      this.#schedule();
    });
  }

  #take(): Slot {
    this.#inFlight++;
    let open = true;
    const end = (held: boolean) => {
      if (!open) return;
      open = false;
      this.#inFlight--;
      if (held) this.#held.push(monotonicMs() + this.#limits.windowMs);
      if (this.#closedUntil <= monotonicMs()) this.#probing = false;
      this.#pump();
    };
    return { release: () => end(true), cancel: () => end(false) };
  }

  #pump(): void {
    while (this.#queued() > 0 && this.#waitMs() === 0) {
      const waiter = this.#lanes.interactive.shift() ?? this.#lanes.bulk.shift();
      waiter?.start(this.#take());
    }
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waitMs = this.#waitMs();
    if (this.#queued() === 0 || !Number.isFinite(waitMs)) return; // an answer will pump
    this.#timer = setTimeout(() => this.#pump(), Math.min(Math.ceil(waitMs), 2 ** 31 - 1));
  }

  /** 0: a request may leave now. Infinity: not before an answer comes. */
  #waitMs(): number {
    const now = monotonicMs();
    if (now < this.#closedUntil) return this.#closedUntil - now;
    if (this.#probing && this.#inFlight > 0) return Number.POSITIVE_INFINITY;
    if (this.#used() < this.#capacity) return 0;
    const next = this.#held[this.#expired];
    return next === undefined ? Number.POSITIVE_INFINITY : Math.max(1, next - now);
  }

  #used(): number {
    const now = monotonicMs();
    while ((this.#held[this.#expired] ?? Number.POSITIVE_INFINITY) <= now) this.#expired++;
    // Dropping the expired ones in bulk keeps each call at constant cost.
    if (this.#expired > 1024) {
      this.#held = this.#held.slice(this.#expired);
      this.#expired = 0;
    }
    return this.#inFlight + this.#held.length - this.#expired;
  }

  get #capacity(): number {
    return Math.max(1, Math.floor(this.#limits.limit * (1 - this.#limits.headroom)));
  }

  #queued(): number {
    return this.#lanes.interactive.length + this.#lanes.bulk.length;
  }

  // Slots that are in flight come free a window after an answer that is still to come.
  #expectedWaitMs(priority: Turn['priority']): number {
    const { interactive, bulk } = this.#lanes;
    const ahead = interactive.length + (priority === 'bulk' ? bulk.length : 0);
    const now = monotonicMs();
    const free = this.#held[this.#expired + ahead - Math.max(0, this.#capacity - this.#used())];
    const windows = Math.floor(ahead / this.#capacity) * this.#limits.windowMs;
    const untilFree = free === undefined ? this.#limits.windowMs : Math.max(0, free - now);
    const untilOpen = Math.max(0, this.#closedUntil - now);
    return this.#used() + ahead < this.#capacity
      ? untilOpen
      : Math.max(untilOpen, untilFree, windows);
  }
}

function tooLong(waitMs: number): RateLimitError {
  const seconds = Math.ceil(waitMs / 1000);
  return new RateLimitError(
    `The rate limit leaves no room within the deadline: about ${seconds} s to wait. Try again later, or give the call a longer \`deadline\`.`,
    { code: 'QUEUE_TIMEOUT', outcome: 'not-sent', retryAfterMs: Math.ceil(waitMs) },
  );
}
