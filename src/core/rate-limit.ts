import { hasIoContexts, maxDelayMs, onAbort, sleep, type Clock } from './async.js';
import { ConfigurationError, RateLimitError } from './errors.js';
import { capacityOf, type BudgetLimits } from './rate-store.js';
import { maxPauseMs } from './retry.js';
import type { RateLimitState, ThrottledEvent } from './types.js';

/**
 * Keeps to the service's rate limit. Three ideas:
 *
 * - **The window of acknowledgements.** A slot is held from sending until one window after its answer
 *   was read. The service saw the request somewhere in between, so no window of its own, sliding or
 *   fixed, can hold more than the limit, whatever the network does.
 * - **The pause.** After a 429 nothing is sent for as long as the service asks. Then one request goes first,
 *   and with each answer one more may be under way: whoever else uses the limit gets no burst.
 * - **One queue.** Interactive calls go before bulk ones, repeats before first attempts.
 */

/** The right to send one request. It ends once: what comes later changes nothing. */
export interface Slot {
  /** The answer was read: the slot comes free one window from now. */
  release(): void;
  /** Sent, but its answer is no longer waited for: the service may see it later still. */
  abandon(): void;
  /** The request never left: the slot is free at once. */
  cancel(): void;
}

/** How a call waits for its slot. */
export interface SlotRequest {
  readonly method: string;
  readonly path: string;
  readonly priority: 'interactive' | 'bulk';
  readonly signal: AbortSignal | undefined;
  /** The longest wait that still makes sense; a longer one is refused. */
  readonly maxWaitMs: number;
  /** The option that sets it. */
  readonly limitedBy: 'maxQueueMs' | 'deadline';
  /** Was the call sent before? Then it goes ahead of the others of its priority. */
  readonly isRepeat: boolean;
  onWait(event: ThrottledEvent): void;
  /** The limit is not kept as it should be, e.g. because a store fails. */
  onWarning(message: string): void;
}

/** Hands out the right to send. */
export interface Budget {
  /** Resolves when a request may leave. */
  acquire(turn: SlotRequest): Slot | Promise<Slot>;
  /** The service answered 429: nothing is sent for that long. Called before the slot of that request ends. */
  pause(delayMs: number): void;
  /** Takes over other limits; what has been sent stays counted. */
  adjust(limits: BudgetLimits): void;
  state(): RateLimitState;
}

/** How long a wait will be, and who asks for it. */
export type Forecast = Pick<ThrottledEvent, 'reason' | 'waitMs'>;

/** A request whose answer is no longer waited for may reach the service that much later. */
export const lateArrivalMs = 2_000;

/** A request has reached the service by then, or never will: Node gives up connecting after that time. */
export const maxInTransitMs = 10_000;

// Where others use the same limit, each request that is under way when it runs out is refused.
const maxInFlightWhenShared = 24;

/** The budget of a project inside one process. Calls that need not wait do not queue. */
export class LocalBudget implements Budget {
  readonly clock: Clock;
  #limits: BudgetLimits;
  #capacity: number;
  #inFlight = 0;
  /** When the slots of ended requests come free, earliest first; `#expired` of them are free already. */
  #held: number[] = [];
  #expired = 0;
  /** When the last 429 came. */
  #pausedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Until then a 429 has shown that others use the limit too. */
  #sharedUntil = Number.NEGATIVE_INFINITY;
  /** How many may be under way beside others: one after a 429, then one more with each answer. */
  #maxInFlight = maxInFlightWhenShared;
  readonly #queue: CallQueue;
  #stopTimer: (() => void) | undefined;
  /** Slots of requests that may be torn down without cleanup (Workers), in the order they were taken. */
  readonly #leases: { readonly endsAt: number; readonly slot: Slot }[] = [];

  constructor(limits: BudgetLimits, clock: Clock) {
    this.clock = clock;
    this.#limits = limits;
    this.#capacity = capacityOf(limits);
    this.#queue = new CallQueue(clock, (ahead) => this.forecast(ahead));
  }

  acquire(turn: SlotRequest): Slot | Promise<Slot> {
    return this.tryAcquire() ?? this.#wait(turn);
  }

  /** A slot, if there is one and no call waits for it. */
  tryAcquire(): Slot | undefined {
    return this.#queue.size === 0 && this.#waitMs() === 0 ? this.#take() : undefined;
  }

  pause(delayMs: number): void {
    const now = this.clock.now();
    const { windowMs } = this.#limits;
    this.#pausedAt = now;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + delayMs);
    this.#sharedUntil = this.#pausedUntil + windowMs;
    this.#maxInFlight = 1;
    this.#queue.refuse(
      { reason: 'service', waitMs: this.#pausedUntil - now },
      maxPauseMs(windowMs),
    );
    this.#pump();
  }

  adjust(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#capacity = capacityOf(limits);
    this.#pump();
  }

  state(): RateLimitState {
    const waitMs = this.#waitMs();
    return {
      limit: this.#limits.limit,
      used: this.#used(this.clock.now()),
      queued: this.#queue.size,
      resetsAt: waitMs > 0 && Number.isFinite(waitMs) ? new Date(Date.now() + waitMs) : undefined,
    };
  }

  /** How long a call would wait behind so many others; 0 when it need not. */
  forecast(ahead: number): Forecast {
    const now = this.clock.now();
    const { windowMs } = this.#limits;
    const pausedMs = this.#pausedUntil - now;
    const missing = this.#used(now) + ahead - this.#capacity;
    const windows = Math.floor(missing / this.#capacity);
    const freeAt = this.#held[this.#expired + (missing % this.#capacity)] ?? now + windowMs;
    const fullMs = missing < 0 ? 0 : freeAt - now + windows * windowMs;
    return pausedMs > fullMs
      ? { reason: 'service', waitMs: pausedMs }
      : { reason: 'limit', waitMs: fullMs };
  }

  async #wait(turn: SlotRequest): Promise<Slot> {
    const call = this.#queue.join(turn, maxPauseMs(this.#limits.windowMs));
    turn.onWait({ ...call.expected, queued: this.#queue.size });
    this.#pump(); // the timer may be due: calls that keep coming must not put it off
    try {
      return await (hasIoContexts() ? this.#waitAlone(call) : call.granted);
    } finally {
      this.#queue.leave(call);
      this.#pump();
    }
  }

  /** Where no request may resume another one, each asks for itself. */
  async #waitAlone(call: QueuedCall): Promise<Slot> {
    for (;;) {
      const ahead = this.#queue.placeOf(call);
      if (this.#waitMs() === 0 && ahead < this.#free(this.clock.now())) {
        return this.#take();
      }
      const { reason, waitMs } = this.forecast(ahead);
      if (reason === 'service' && waitMs > maxPauseMs(this.#limits.windowMs)) {
        throw queueTimeout({ reason, waitMs }, call.turn);
      }
      await call.sleepUntilNextTry(Math.min(Math.max(waitMs, 10), 1_000));
    }
  }

  /** 0: a request may leave now. Infinity: not before an answer comes. */
  #waitMs(): number {
    const now = this.clock.now();
    while ((this.#leases[0]?.endsAt ?? Number.POSITIVE_INFINITY) <= now) {
      this.#leases.shift()?.slot.abandon();
    }
    if (this.#pausedUntil > now) {
      return this.#pausedUntil - now;
    }
    if (this.#free(now) > 0) {
      return 0;
    }
    const isFull = this.#used(now) >= this.#capacity;
    const freeAt = isFull ? this.#held[this.#expired] : undefined;
    return (freeAt ?? Number.POSITIVE_INFINITY) - now;
  }

  /** How many requests may leave right now, if there is no pause. */
  #free(now: number): number {
    const unused = this.#capacity - this.#used(now);
    const isShared = this.#limits.headroom > 0 || now < this.#sharedUntil;
    return isShared ? Math.min(unused, this.#maxInFlight - this.#inFlight) : unused;
  }

  #used(now: number): number {
    while ((this.#held[this.#expired] ?? Number.POSITIVE_INFINITY) <= now) {
      this.#expired++;
    }
    // Dropping the expired ones in bulk keeps each call at constant cost.
    if (this.#expired > 1024) {
      this.#held = this.#held.slice(this.#expired);
      this.#expired = 0;
    }
    return this.#inFlight + this.#held.length - this.#expired;
  }

  #take(): Slot {
    const sentAt = this.clock.now();
    let isOpen = true;
    const end = (heldMs?: number) => {
      if (!isOpen) {
        return;
      }
      isOpen = false;
      this.#inFlight--;
      if (heldMs !== undefined) {
        this.#hold(this.clock.now() + heldMs);
      }
      this.#pump();
    };
    const slot: Slot = {
      release: () => {
        // The answer to what left before the last 429, or to that itself, proves nothing.
        if (isOpen && sentAt > this.#pausedAt) {
          this.#maxInFlight = Math.min(maxInFlightWhenShared, this.#maxInFlight + 1);
        }
        end(this.#limits.windowMs);
      },
      abandon: () => end(this.#limits.windowMs + lateArrivalMs),
      cancel: () => end(),
    };
    this.#inFlight++;
    if (hasIoContexts()) {
      // Where a request can be torn down at any point, no code of it may be left to end its slot.
      this.#leases.push({ endsAt: sentAt + maxInTransitMs, slot });
    }
    return slot;
  }

  #hold(until: number): void {
    let index = this.#held.length;
    // Nearly always the last: only a request without an answer is held longer than its window.
    while (index > this.#expired && (this.#held[index - 1] ?? 0) > until) {
      index--;
    }
    this.#held.splice(index, 0, until);
  }

  #pump(): void {
    this.#stopTimer?.();
    if (this.#queue.size === 0 || hasIoContexts()) {
      return;
    }
    let waitMs = this.#waitMs();
    while (this.#queue.size > 0 && waitMs === 0) {
      this.#queue.grant(this.#take());
      waitMs = this.#waitMs();
    }
    if (this.#queue.size > 0 && Number.isFinite(waitMs)) {
      this.#stopTimer = this.clock.at(this.clock.now() + waitMs, () => this.#pump());
    }
  }
}

// ---- the queue

// A call that asks for itself does so every second: one that does not was torn down with its request.
const staleAfterMs = 5_000;

/** A call that waits. The queue lets it go on. */
class QueuedCall {
  readonly turn: SlotRequest;
  /** How long the wait seemed to be when it began. */
  readonly expected: Forecast;
  readonly givesUpAt: number;
  readonly granted: Promise<Slot>;
  askedAt: number;
  // The constructor of the promise sets both at once.
  resolve!: (slot: Slot) => void;
  reject!: (reason: unknown) => void;
  readonly #clock: Clock;

  constructor(turn: SlotRequest, expected: Forecast, clock: Clock) {
    this.turn = turn;
    this.expected = expected;
    this.#clock = clock;
    this.askedAt = clock.now();
    this.givesUpAt = this.askedAt + turn.maxWaitMs;
    this.granted = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.granted.catch(() => undefined); // a call that asks for itself does not await it
  }

  /** Waits a while, unless the wait ends meanwhile. */
  async sleepUntilNextTry(delayMs: number): Promise<void> {
    this.askedAt = this.#clock.now();
    const awake = new AbortController();
    const nap = sleep(delayMs, awake.signal, this.#clock).catch(() => undefined);
    await Promise.race([nap, this.granted]).finally(() => awake.abort());
  }
}

/** Calls that wait: first come, first served within each priority. */
export class CallQueue {
  /** For each priority the calls, with what stops their timers; the first priority goes first. */
  readonly #calls = Array.from({ length: 4 }, () => new Map<QueuedCall, () => void>());
  readonly #clock: Clock;
  /** How long a call would wait behind so many others. */
  readonly #forecast: (ahead: number) => Forecast;

  constructor(clock: Clock, forecast: (ahead: number) => Forecast) {
    this.#clock = clock;
    this.#forecast = forecast;
  }

  get size(): number {
    return this.#calls.reduce((sum, calls) => sum + calls.size, 0);
  }

  /** Lets a call wait, unless that is sure to take too long; `maxMs` is the longest pause to sit out. */
  join(turn: SlotRequest, maxMs: number): QueuedCall {
    turn.signal?.throwIfAborted();
    const forecast = () => this.#forecast(this.#ahead(turn));
    const expected = forecast();
    const isTooLong = expected.reason === 'service' && expected.waitMs > maxMs;
    if (isTooLong || expected.waitMs > turn.maxWaitMs) {
      throw queueTimeout(expected, turn);
    }
    const call = new QueuedCall(turn, expected, this.#clock);
    const giveUp = () => this.#refuse(call, queueTimeout(forecast(), turn));
    const hasLimit = Number.isFinite(turn.maxWaitMs);
    const stopTimer = hasLimit ? this.#clock.limit(turn.maxWaitMs, giveUp) : undefined;
    const stopListening = onAbort(turn.signal, () => this.#refuse(call, turn.signal?.reason));
    this.#callsOf(turn).set(call, () => {
      stopTimer?.();
      stopListening();
    });
    return call;
  }

  /** Ends the wait of a call, if it still waits. */
  leave(call: QueuedCall): void {
    const calls = this.#callsOf(call.turn);
    calls.get(call)?.();
    calls.delete(call);
  }

  /** Lets the next call have a slot; false if none waits. */
  grant(slot: Slot): boolean {
    const calls = this.#calls.find(({ size }) => size > 0);
    const next = calls?.keys().next().value;
    if (next) {
      this.leave(next);
      next.resolve(slot);
    }
    return next !== undefined;
  }

  /** The calls that wait, in their order. */
  all(): QueuedCall[] {
    return this.#calls.flatMap((calls) => [...calls.keys()]);
  }

  /** How many stand before this one; those that have fallen silent are gone. */
  placeOf(call: QueuedCall): number {
    const now = this.#clock.now();
    call.askedAt = now;
    let ahead = 0;
    for (const other of this.all()) {
      if (other === call) {
        break;
      }
      if (now - other.askedAt > staleAfterMs) {
        this.leave(other);
      } else {
        ahead++;
      }
    }
    return ahead;
  }

  /** No slot is granted for that long: calls that cannot or should not wait so long fail now. */
  refuse(forecast: Forecast, maxMs: number): void {
    if (hasIoContexts()) {
      return; // each asks for itself, and finds out
    }
    const endsAt = this.#clock.now() + forecast.waitMs;
    for (const call of this.all()) {
      if (forecast.waitMs > maxMs || call.givesUpAt < endsAt) {
        this.#refuse(call, queueTimeout(forecast, call.turn)); // each caller gets an error of its own
      }
    }
  }

  /** The store is not set up: every waiting call fails, each with a separate error. */
  fail({ message, code, cause }: ConfigurationError): void {
    for (const call of this.all()) {
      this.#refuse(call, new ConfigurationError(message, { code, cause }));
    }
  }

  // It leaves at once: a slot granted to it a moment later would be lost.
  #refuse(call: QueuedCall, reason: unknown): void {
    this.leave(call);
    call.reject(reason);
  }

  /** How many calls would go before such a one. */
  #ahead(turn: SlotRequest): number {
    const before = this.#calls.slice(0, priorityOf(turn) + 1);
    return before.reduce((sum, calls) => sum + calls.size, 0);
  }

  /** The calls of the same priority. */
  #callsOf(turn: SlotRequest): Map<QueuedCall, () => void> {
    return this.#calls[priorityOf(turn)] as Map<QueuedCall, () => void>; // there is one for each
  }
}

// 0 goes first.
function priorityOf({ priority, isRepeat }: SlotRequest): number {
  return (priority === 'interactive' ? 0 : 2) + (isRepeat ? 0 : 1);
}

/** The error of a call for which the limit has no room in time. */
export function queueTimeout({ reason, waitMs }: Forecast, turn: SlotRequest): RateLimitError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const what =
    reason === 'service'
      ? `The service asked to wait, for about ${seconds} s from now.`
      : `The rate limit leaves no room in time: about ${seconds} s to wait.`;
  const { method, path, limitedBy } = turn;
  return new RateLimitError(`${what} Try again later, or allow a longer \`${limitedBy}\`.`, {
    code: 'QUEUE_TIMEOUT',
    outcome: 'not-sent',
    retryAfterMs: Math.min(Math.max(1, Math.ceil(waitMs)), maxDelayMs),
    method,
    path,
  });
}

/** The limits that one client sets for itself. Its requests count in the project's budget too. */
export class ClientBudget implements Budget {
  readonly #own: LocalBudget;
  readonly #project: Budget;

  constructor(project: Budget, limits: BudgetLimits, clock: Clock) {
    this.#project = project;
    this.#own = new LocalBudget(limits, clock);
  }

  async acquire(turn: SlotRequest): Promise<Slot> {
    const { clock } = this.#own;
    const givesUpAt = clock.now() + turn.maxWaitMs;
    const reported = reportedOnce(turn);
    const own = await this.#own.acquire(reported);
    try {
      const maxWaitMs = givesUpAt - clock.now();
      return combineSlots(own, await this.#project.acquire({ ...reported, maxWaitMs }));
    } catch (reason) {
      own.cancel();
      throw reason;
    }
  }

  pause(delayMs: number): void {
    this.#project.pause(delayMs);
  }

  adjust(limits: BudgetLimits): void {
    this.#own.adjust(limits);
  }

  /** `used` counts the requests of this client. */
  state(): RateLimitState {
    const [own, project] = [this.#own.state(), this.#project.state()];
    const resets = [own.resetsAt, project.resetsAt].flatMap((date) => date?.getTime() ?? []);
    return {
      limit: Math.min(own.limit, project.limit),
      used: own.used,
      queued: own.queued + project.queued,
      resetsAt: resets.length > 0 ? new Date(Math.max(...resets)) : undefined,
    };
  }
}

/** A turn whose wait is reported once, and only when it really waits. */
export function reportedOnce(turn: SlotRequest): SlotRequest {
  let isReported = false;
  const onWait = (event: ThrottledEvent) => {
    if (!isReported && event.waitMs > 0) {
      isReported = true;
      turn.onWait(event);
    }
  };
  return { ...turn, onWait };
}

/** Two slots as one. */
export function combineSlots(one: Slot, other: Slot): Slot {
  const both = (end: keyof Slot) => () => {
    one[end]();
    other[end]();
  };
  return {
    release: both('release'),
    abandon: both('abandon'),
    cancel: both('cancel'),
  };
}
