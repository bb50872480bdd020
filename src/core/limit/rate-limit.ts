import { maxDelayMs, onAbort, type Clock } from '../async.js';
import { ConfigurationError, RateLimitError } from '../errors.js';
import { capacityOf, type BudgetLimits } from './rate-store.js';
import { maxPauseMs } from '../call/retry-after.js';
import type { RateLimitState, ThrottledEvent } from '../types.js';

/**
 * Keeps to the service's rate limit. Three ideas:
 *
 * - **The window of acknowledgements.** A request holds its slot from sending until one window after its
 *   response was read. The service counts the request at some moment in between, so no window of the service,
 *   sliding or fixed, can hold more than the limit, however long the network takes:
 *
 *       sent ──▶ counted by the service ──▶ response read ──▶ one window later
 *       [ the request holds its slot ─────────────────────── ]
 *
 * - **The pause.** After a 429 nothing is sent for as long as the service asks. Then one request is sent, and
 *   each response allows one more request in flight: other users of the same limit get no burst.
 * - **One queue.** Interactive calls go before bulk calls, and repeats before first attempts.
 */

/** The right to send one request. The first call of one of the methods ends it; later calls have no effect. */
export interface Slot {
  /** The response was read: the slot is free one window from now. */
  release(): void;
  /** The request was sent, but nobody waits for its response: the service may still receive it later. */
  abandon(): void;
  /** The request was never sent: the slot is free at once. */
  cancel(): void;
}

/** How a call waits for its slot. */
export interface SlotRequest {
  readonly method: string;
  readonly path: string;
  readonly priority: 'interactive' | 'bulk';
  readonly signal: AbortSignal | undefined;
  /**
   * The longest wait, in milliseconds, that still makes sense. If the wait will be longer, the call fails at
   * once.
   */
  readonly maxWaitMs: number;
  /** The option that sets `maxWaitMs`. */
  readonly limitedBy: 'maxQueueMs' | 'deadline';
  /** Was the call sent before? Then it goes ahead of first attempts of its priority. */
  readonly isRepeat: boolean;
  onWait(event: ThrottledEvent): void;
  /** Called when the limit is not kept as it should be, e.g. because a store fails. */
  onWarning(message: string): void;
}

/** Grants slots: the right to send. */
export interface Budget {
  /** Resolves when a request may be sent. */
  acquire(request: SlotRequest): Slot | Promise<Slot>;
  /** The service answered 429: send nothing for `delayMs`. Call this before the slot of that request ends. */
  pause(delayMs: number): void;
  /** Replaces the limits. Requests that were sent stay counted. */
  adjust(limits: BudgetLimits): void;
  state(): RateLimitState;
}

/** How long a call would wait, and whether the limit or the service makes it wait. */
export type Forecast = Pick<ThrottledEvent, 'reason' | 'waitMs'>;

/** A request without a response may reach the service this much later, in milliseconds. */
export const lateArrivalMs = 2_000;

/** After this time a request has reached the service or never will: Node gives up connecting then. */
export const maxInTransitMs = 10_000;

// If others use the same limit, every request in flight at the moment it runs out is rejected.
const maxInFlightWhenShared = 24;

/** The budget of a project inside one process. A call that need not wait does not enter the queue. */
export class LocalBudget implements Budget {
  readonly clock: Clock;
  protected limits: BudgetLimits;
  #capacity: number;
  #inFlight = 0;
  /**
   * When the slots of ended requests become free, earliest first. The first `#expired` entries are free
   * already.
   */
  #held: number[] = [];
  #expired = 0;
  /** When the last 429 arrived. */
  #pausedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Until then the limit counts as shared with others, because of a 429. */
  #sharedUntil = Number.NEGATIVE_INFINITY;
  /**
   * The most requests in flight while the limit is shared: one after a 429, then one more with each
   * response.
   */
  #maxInFlight = maxInFlightWhenShared;
  protected readonly queue: CallQueue;
  #stopTimer: (() => void) | undefined;
  /** How many calls wait for this budget in the queue of a shared budget. */
  queuedElsewhere = 0;

  constructor(limits: BudgetLimits, clock: Clock) {
    this.clock = clock;
    this.limits = limits;
    this.#capacity = capacityOf(limits);
    this.queue = new CallQueue(clock, (ahead) => this.forecast(ahead));
  }

  acquire(request: SlotRequest): Slot | Promise<Slot> {
    return this.tryAcquire() ?? this.#wait(request);
  }

  /** Returns a slot if one is free and no call waits for it. */
  tryAcquire(): Slot | undefined {
    return this.queue.size === 0 && this.waitMs() === 0 ? this.take() : undefined;
  }

  pause(delayMs: number): void {
    const now = this.clock.now();
    const { windowMs } = this.limits;
    this.#pausedAt = now;
    this.#pausedUntil = Math.max(this.#pausedUntil, now + delayMs);
    this.#sharedUntil = this.#pausedUntil + windowMs;
    this.#maxInFlight = 1;
    this.refuse({ reason: 'service', waitMs: this.#pausedUntil - now });
    this.pump();
  }

  adjust(limits: BudgetLimits): void {
    this.limits = limits;
    this.#capacity = capacityOf(limits);
    this.pump();
  }

  state(): RateLimitState {
    const waitMs = this.waitMs();
    return {
      limit: this.limits.limit,
      used: this.#used(this.clock.now()),
      queued: this.queue.size,
      resetsAt: waitMs > 0 && Number.isFinite(waitMs) ? new Date(Date.now() + waitMs) : undefined,
    };
  }

  /** Is there no request in the window, no queued call and no recent 429? */
  get isIdle(): boolean {
    const { used, queued } = this.state();
    return used + queued + this.queuedElsewhere === 0 && this.clock.now() >= this.#sharedUntil;
  }

  /** How long a call would wait behind `ahead` other calls; 0 if it would not wait. */
  forecast(ahead: number): Forecast {
    const now = this.clock.now();
    const { windowMs } = this.limits;
    const pausedMs = this.#pausedUntil - now;
    // `missing + 1` used slots must become free first. Each window frees as many slots as the capacity.
    const missing = this.#used(now) + ahead - this.#capacity;
    const windows = Math.floor(missing / this.#capacity);
    const freeAt = this.#held[this.#expired + (missing % this.#capacity)] ?? now + windowMs;
    const fullMs = missing < 0 ? 0 : freeAt - now + windows * windowMs;
    return pausedMs > fullMs
      ? { reason: 'service', waitMs: pausedMs }
      : { reason: 'limit', waitMs: fullMs };
  }

  async #wait(request: SlotRequest): Promise<Slot> {
    const call = this.queue.join(request, maxPauseMs(this.limits.windowMs));
    request.onWait({ ...call.expected, queued: this.queue.size });
    this.pump(); // the timer may be due, and calls that keep coming must not postpone it
    try {
      return await this.granted(call);
    } finally {
      this.queue.leave(call);
      this.pump();
    }
  }

  /** Resolves to the slot of a waiting call. */
  protected granted(call: QueuedCall): Promise<Slot> {
    return call.granted;
  }

  /**
   * The wait until a request may be sent, in milliseconds. 0: send now. Infinity: not before a response
   * arrives.
   */
  protected waitMs(): number {
    const now = this.clock.now();
    if (this.#pausedUntil > now) {
      return this.#pausedUntil - now;
    }
    if (this.free(now) > 0) {
      return 0;
    }
    const isFull = this.#used(now) >= this.#capacity;
    const freeAt = isFull ? this.#held[this.#expired] : undefined;
    return (freeAt ?? Number.POSITIVE_INFINITY) - now;
  }

  /** How many requests may be sent right now, if there is no pause. */
  protected free(now: number): number {
    const unused = this.#capacity - this.#used(now);
    const isShared = this.limits.headroom > 0 || now < this.#sharedUntil;
    return isShared ? Math.min(unused, this.#maxInFlight - this.#inFlight) : unused;
  }

  /** A 429 arrived: rejects the calls that cannot or should not wait that long. */
  protected refuse(forecast: Forecast): void {
    this.queue.refuse(forecast, maxPauseMs(this.limits.windowMs));
  }

  #used(now: number): number {
    while ((this.#held[this.#expired] ?? Number.POSITIVE_INFINITY) <= now) {
      this.#expired++;
    }
    // Drop expired entries in bulk, so that the cost of a call stays constant.
    if (this.#expired > 1024) {
      this.#held = this.#held.slice(this.#expired);
      this.#expired = 0;
    }
    return this.#inFlight + this.#held.length - this.#expired;
  }

  protected take(): Slot {
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
      this.pump();
    };
    const slot: Slot = {
      release: () => {
        // The response shows that the service has room again, unless it is the 429 itself or belongs to a
        // request that was sent before the 429.
        if (isOpen && sentAt > this.#pausedAt) {
          this.#maxInFlight = Math.min(maxInFlightWhenShared, this.#maxInFlight + 1);
        }
        end(this.limits.windowMs);
      },
      abandon: () => end(this.limits.windowMs + lateArrivalMs),
      cancel: () => end(),
    };
    this.#inFlight++;
    return slot;
  }

  #hold(until: number): void {
    let index = this.#held.length;
    // Nearly always the last place: only a request without a response is held longer than the window.
    while (index > this.#expired && (this.#held[index - 1] ?? 0) > until) {
      index--;
    }
    this.#held.splice(index, 0, until);
  }

  /** Gives free slots to the waiting calls. */
  protected pump(): void {
    this.#stopTimer?.();
    if (this.queue.size === 0) {
      return;
    }
    let waitMs = this.waitMs();
    while (this.queue.size > 0 && waitMs === 0) {
      this.queue.grant(this.take());
      waitMs = this.waitMs();
    }
    if (this.queue.size > 0 && Number.isFinite(waitMs)) {
      this.#stopTimer = this.clock.at(this.clock.now() + waitMs, () => this.pump());
    }
  }
}

// ---- the queue

/** A call that waits in the queue. */
export class QueuedCall {
  readonly request: SlotRequest;
  /** The forecast of the wait at its beginning. */
  readonly expected: Forecast;
  readonly givesUpAt: number;
  readonly granted: Promise<Slot>;
  // The executor of the promise sets both at once.
  resolve!: (slot: Slot) => void;
  reject!: (reason: unknown) => void;

  constructor(request: SlotRequest, expected: Forecast, now: number) {
    this.request = request;
    this.expected = expected;
    this.givesUpAt = now + request.maxWaitMs;
    this.granted = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.granted.catch(() => undefined); // a call that checks for itself does not await it
  }
}

/** The waiting calls: first come, first served within each priority. */
export class CallQueue {
  /** The calls by priority, highest first, each with a function that stops its timer and its listener. */
  readonly #calls = Array.from({ length: 4 }, () => new Map<QueuedCall, () => void>());
  readonly #clock: Clock;
  /** How long a call would wait behind `ahead` other calls. */
  readonly #forecast: (ahead: number) => Forecast;

  constructor(clock: Clock, forecast: (ahead: number) => Forecast) {
    this.#clock = clock;
    this.#forecast = forecast;
  }

  get size(): number {
    return this.#calls.reduce((sum, calls) => sum + calls.size, 0);
  }

  /**
   * Adds a call, unless its wait is sure to be too long. `maxMs` is the longest pause of the service to wait
   * out.
   */
  join(request: SlotRequest, maxMs: number): QueuedCall {
    request.signal?.throwIfAborted();
    const forecast = () => this.#forecast(this.#ahead(request));
    const expected = forecast();
    const isTooLong = expected.reason === 'service' && expected.waitMs > maxMs;
    if (isTooLong || expected.waitMs > request.maxWaitMs) {
      throw queueTimeoutError(expected, request);
    }
    const call = new QueuedCall(request, expected, this.#clock.now());
    const giveUp = () => this.#refuse(call, queueTimeoutError(forecast(), request));
    const hasLimit = Number.isFinite(request.maxWaitMs);
    const stopTimer = hasLimit ? this.#clock.limit(request.maxWaitMs, giveUp) : undefined;
    const stopListening = onAbort(request.signal, () => this.#refuse(call, request.signal?.reason));
    this.#callsOf(request).set(call, () => {
      stopTimer?.();
      stopListening();
    });
    return call;
  }

  /** Removes a call, if it still waits. */
  leave(call: QueuedCall): void {
    const calls = this.#callsOf(call.request);
    calls.get(call)?.();
    calls.delete(call);
  }

  /** Gives the slot to the next call; `false` if none waits. */
  grant(slot: Slot): boolean {
    const calls = this.#calls.find(({ size }) => size > 0);
    const next = calls?.keys().next().value;
    if (next) {
      this.leave(next);
      next.resolve(slot);
    }
    return next !== undefined;
  }

  /** The waiting calls, in their order. */
  all(): QueuedCall[] {
    return this.#calls.flatMap((calls) => [...calls.keys()]);
  }

  /** No slot is granted for `forecast.waitMs`: rejects the calls that cannot or should not wait that long. */
  refuse(forecast: Forecast, maxMs: number): void {
    const endsAt = this.#clock.now() + forecast.waitMs;
    for (const call of this.all()) {
      if (forecast.waitMs > maxMs || call.givesUpAt < endsAt) {
        this.#refuse(call, queueTimeoutError(forecast, call.request)); // each caller gets a separate error
      }
    }
  }

  /** The store is not set up: rejects every waiting call, each with a separate error. */
  fail({ message, code, cause }: ConfigurationError): void {
    for (const call of this.all()) {
      this.#refuse(call, new ConfigurationError(message, { code, cause }));
    }
  }

  // Remove the call before it is rejected: a slot granted to it afterwards would be lost.
  #refuse(call: QueuedCall, reason: unknown): void {
    this.leave(call);
    call.reject(reason);
  }

  /** How many waiting calls would go before such a call. */
  #ahead(request: SlotRequest): number {
    const before = this.#calls.slice(0, priorityOf(request) + 1);
    return before.reduce((sum, calls) => sum + calls.size, 0);
  }

  /** The waiting calls of the same priority. */
  #callsOf(request: SlotRequest): Map<QueuedCall, () => void> {
    return this.#calls[priorityOf(request)] as Map<QueuedCall, () => void>; // as: one per priority
  }
}

// Lower numbers go first.
function priorityOf({ priority, isRepeat }: SlotRequest): number {
  return (priority === 'interactive' ? 0 : 2) + (isRepeat ? 0 : 1);
}

/** The error of a call that cannot get a slot in time. */
export function queueTimeoutError(
  { reason, waitMs }: Forecast,
  request: SlotRequest,
): RateLimitError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const what =
    reason === 'service'
      ? `The service asked clients to wait about ${seconds} s.`
      : `The rate limit is used up: the call would wait about ${seconds} s.`;
  const { method, path, limitedBy } = request;
  return new RateLimitError(`${what} Try again later, or allow a longer \`${limitedBy}\`.`, {
    code: 'QUEUE_TIMEOUT',
    outcome: 'not-sent',
    retryAfterMs: Math.min(Math.max(1, Math.ceil(waitMs)), maxDelayMs),
    method,
    path,
  });
}

/** The limits that one client sets for itself. Its requests also count in the project's budget. */
export class ClientBudget implements Budget {
  readonly #own: LocalBudget;
  readonly #project: Budget;

  constructor(own: LocalBudget, project: Budget) {
    this.#own = own;
    this.#project = project;
  }

  async acquire(request: SlotRequest): Promise<Slot> {
    const { clock } = this.#own;
    const givesUpAt = clock.now() + request.maxWaitMs;
    const reported = reportWaitOnce(request);
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

/** A copy of a slot request that reports its wait once, and only if the call really waits. */
export function reportWaitOnce(request: SlotRequest): SlotRequest {
  let isReported = false;
  const onWait = (event: ThrottledEvent) => {
    if (!isReported && event.waitMs > 0) {
      isReported = true;
      request.onWait(event);
    }
  };
  return { ...request, onWait };
}

/** Combines two slots: both end together. */
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
