import { hasIoContexts, maxDelayMs, onAbort, sleep, type Clock } from './async.js';
import { RateLimitError } from './errors.js';
import { capacityOf, type BudgetLimits } from './rate-store.js';
import { maxPauseMs } from './retry.js';
import type { RateLimitState, ThrottledEvent } from './types.js';

/**
 * Keeps to the service's rate limit. Three ideas:
 *
 * - **The window of acknowledgements.** A slot is held from sending until one window after its answer
 *   was read. The service saw the request somewhere in between, so no window of its own, sliding or
 *   fixed, can hold more than the limit, whatever the network does.
 * - **The gate.** After a 429 nothing is sent for as long as the service asks. Then one request goes first,
 *   and with each answer one more may be under way: whoever else uses the limit gets no burst.
 * - **One queue.** Interactive calls go before bulk ones, repeats before first attempts.
 */

/** The right to send one request. It ends once: what comes later changes nothing. */
export interface Slot {
  /** The service took the request and did not refuse it. */
  accepted(): void;
  /** The answer was read: the slot comes free one window from now. */
  release(): void;
  /** Sent, but its answer is no longer waited for: the service may see it later still. */
  abandon(): void;
  /** The request never left: the slot is free at once. */
  cancel(): void;
}

/** How a call waits for its slot. */
export interface Turn {
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
  acquire(turn: Turn): Slot | Promise<Slot>;
  /** The service answered 429: nothing is sent for that long, then one request goes first. */
  close(delayMs: number): void;
  /** Takes over other limits; what has been sent stays counted. */
  adjust(limits: BudgetLimits): void;
  state(): RateLimitState;
}

/** How long a wait will be, and who asks for it. */
export type Forecast = Pick<ThrottledEvent, 'reason' | 'waitMs'>;

/** A request whose answer is no longer waited for may reach the service that much later. */
export const stragglingMs = 2_000;

/** Longer than an attempt lasts by default: a sender that died may have sent at its very end. */
export const maxAttemptMs = 120_000;

// Where others use the same limit, each request that is under way when it runs out is refused.
const maxBesideOthers = 24;

/** The budget of a project inside one process. Calls that need not wait do not queue. */
export class LocalBudget implements Budget {
  #limits: BudgetLimits;
  #capacity: number;
  #inFlight = 0;
  /** When the slots of ended requests come free, earliest first; `#expired` are gone already. */
  #held: number[] = [];
  #expired = 0;
  /** The gate, by the last 429. */
  #closedAt = Number.NEGATIVE_INFINITY;
  #opensAt = Number.NEGATIVE_INFINITY;
  /** How many may be under way beside others: one after a refusal, then one more with each answer. */
  #bound = maxBesideOthers;
  /** Until then a 429 has shown that others use the limit too. */
  #othersUntil = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;
  readonly #line: Line;
  #stopTimer: (() => void) | undefined;
  /** Slots of requests that may be torn down without cleanup (Workers), in the order they were taken. */
  readonly #leases: { readonly endsAt: number; readonly slot: Slot }[] = [];

  constructor(limits: BudgetLimits, clock: Clock) {
    this.#limits = limits;
    this.#capacity = capacityOf(limits);
    this.#clock = clock;
    this.#line = new Line(clock);
  }

  /** The time that the budget goes by. */
  get clock(): Clock {
    return this.#clock;
  }

  acquire(turn: Turn): Slot | Promise<Slot> {
    const slot = this.takeNow();
    if (slot) {
      return slot;
    }
    const closedMs = this.#opensAt - this.#clock.now();
    return closedMs > maxPauseMs(this.#limits.windowMs)
      ? Promise.reject(queueTimeout({ reason: 'service', waitMs: closedMs }, turn))
      : this.#wait(turn);
  }

  /** A slot, if there is one and no call waits for it. */
  takeNow(): Slot | undefined {
    return this.#line.size === 0 && this.#waitMs() === 0 ? this.#take() : undefined;
  }

  close(delayMs: number): void {
    const now = this.#clock.now();
    const { windowMs } = this.#limits;
    this.#closedAt = now;
    this.#bound = 1;
    this.#opensAt = Math.max(this.#opensAt, now + delayMs);
    this.#othersUntil = Math.max(this.#othersUntil, this.#opensAt + windowMs);
    this.#line.refuse({ reason: 'service', waitMs: this.#opensAt - now }, maxPauseMs(windowMs));
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
      used: this.#used(this.#clock.now()),
      queued: this.#line.size,
      resetsAt: waitMs > 0 && Number.isFinite(waitMs) ? new Date(Date.now() + waitMs) : undefined,
    };
  }

  /** How long such a call would wait behind those that wait already. */
  forecast(turn: Turn): Forecast {
    return this.#forecast(this.#line.ahead(turn));
  }

  async #wait(turn: Turn): Promise<Slot> {
    turn.signal?.throwIfAborted();
    const expected = this.forecast(turn);
    if (expected.waitMs > turn.maxWaitMs) {
      throw queueTimeout(expected, turn);
    }
    const place = this.#line.join(turn);
    turn.onWait({ ...expected, queued: this.#line.size });
    this.#pump(); // the timer may be due: calls that keep coming must not put it off
    try {
      return await (hasIoContexts() ? this.#waitAlone(place) : place.granted);
    } catch (failure) {
      throw failure === tooLate
        ? queueTimeout(this.#forecast(this.#line.ahead(turn)), turn)
        : failure;
    } finally {
      this.#line.leave(place);
      this.#pump();
    }
  }

  /** Where no request may resume another one, each asks for itself. */
  async #waitAlone(place: Place): Promise<Slot> {
    for (;;) {
      const ahead = this.#line.placeOf(place);
      if (this.#waitMs() === 0 && ahead < this.#free(this.#clock.now())) {
        return this.#take();
      }
      const { reason, waitMs } = this.#forecast(ahead);
      if (reason === 'service' && waitMs > maxPauseMs(this.#limits.windowMs)) {
        throw queueTimeout({ reason, waitMs }, place.turn);
      }
      await place.nap(Math.min(Math.max(waitMs, 10), 1_000));
    }
  }

  #forecast(ahead: number): Forecast {
    const now = this.#clock.now();
    const { windowMs } = this.#limits;
    const closedMs = this.#opensAt - now;
    const missing = this.#used(now) + ahead - this.#capacity;
    const freeAt = this.#held[this.#expired + (missing % this.#capacity)] ?? now + windowMs;
    const windows = Math.floor(missing / this.#capacity);
    const fullMs = missing < 0 ? 0 : freeAt - now + windows * windowMs;
    return closedMs > fullMs
      ? { reason: 'service', waitMs: closedMs }
      : { reason: 'limit', waitMs: fullMs };
  }

  /** 0: a request may leave now. Infinity: not before an answer comes. */
  #waitMs(): number {
    const now = this.#clock.now();
    while ((this.#leases[0]?.endsAt ?? Number.POSITIVE_INFINITY) <= now) {
      this.#leases.shift()?.slot.abandon();
    }
    const closedMs = this.#opensAt - now;
    if (closedMs > 0) {
      return closedMs;
    }
    if (this.#free(now) > 0) {
      return 0;
    }
    const isFull = this.#used(now) >= this.#capacity;
    const freeAt = isFull ? this.#held[this.#expired] : undefined;
    return (freeAt ?? Number.POSITIVE_INFINITY) - now;
  }

  /** How many requests may leave right now, while the gate is open. */
  #free(now: number): number {
    const unused = this.#capacity - this.#used(now);
    const hasOthers = this.#limits.headroom > 0 || now < this.#othersUntil;
    return hasOthers ? Math.min(unused, this.#bound - this.#inFlight) : unused;
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
    const sentAt = this.#clock.now();
    this.#inFlight++;
    const end = (heldMs: number | undefined) => {
      this.#inFlight--;
      if (heldMs !== undefined) {
        this.#hold(this.#clock.now() + heldMs);
      }
      this.#pump();
    };
    const slot = new OwnSlot(
      end,
      () => this.#accepted(sentAt),
      () => this.#limits.windowMs,
    );
    if (hasIoContexts()) {
      // Where a request can be cancelled at any point, no code of it may be left to end its slot.
      this.#leases.push({ endsAt: sentAt + maxAttemptMs, slot });
    }
    return slot;
  }

  // A request that left before the last refusal proves nothing.
  #accepted(sentAt: number): void {
    if (sentAt > this.#closedAt) {
      this.#bound = Math.min(maxBesideOthers, this.#bound + 1);
    }
  }

  #hold(until: number): void {
    let place = this.#held.length;
    // Nearly always the last: only a request without an answer is held longer than its window.
    while (place > this.#expired && (this.#held[place - 1] ?? 0) > until) {
      place--;
    }
    this.#held.splice(place, 0, until);
  }

  #pump(): void {
    this.#stopTimer?.();
    if (this.#line.size === 0 || hasIoContexts()) {
      return;
    }
    let waitMs = this.#waitMs();
    for (let next = this.#line.first(); next && waitMs === 0; next = this.#line.first()) {
      this.#line.leave(next);
      next.grant(this.#take());
      waitMs = this.#waitMs();
    }
    if (this.#line.size > 0 && Number.isFinite(waitMs)) {
      const delayMs = Math.min(Math.ceil(waitMs), maxDelayMs);
      this.#stopTimer = this.#clock.at(this.#clock.now() + delayMs, () => this.#pump());
    }
  }
}

/** A slot of a budget in this process. */
class OwnSlot implements Slot {
  #end: ((heldMs: number | undefined) => void) | undefined;
  readonly accepted: () => void;
  readonly #windowMs: () => number;

  constructor(
    end: (heldMs: number | undefined) => void,
    accepted: () => void,
    windowMs: () => number,
  ) {
    this.#end = end;
    this.accepted = accepted;
    this.#windowMs = windowMs;
  }

  release(): void {
    this.#once(this.#windowMs());
  }

  abandon(): void {
    this.#once(this.#windowMs() + stragglingMs);
  }

  cancel(): void {
    this.#once(undefined);
  }

  #once(heldMs: number | undefined): void {
    const end = this.#end;
    this.#end = undefined;
    end?.(heldMs);
  }
}

// ---- the queue

const tooLate = Symbol('tooLate');
const priorities = 4;
// A call that asks for itself does so every second: one that does not was cancelled with its request.
const silentMs = 5_000;

/** A call that waits. */
export class Place {
  readonly turn: Turn;
  readonly givesUpAt: number;
  readonly granted: Promise<Slot>;
  askedAt: number;
  grant!: (slot: Slot) => void;
  refuse!: (reason: unknown) => void;
  readonly #clock: Clock;
  readonly #stops: (() => void)[] = [];

  constructor(turn: Turn, clock: Clock) {
    this.turn = turn;
    this.#clock = clock;
    this.askedAt = clock.now();
    this.givesUpAt = this.askedAt + turn.maxWaitMs;
    this.granted = new Promise((resolve, reject) => {
      this.grant = resolve;
      this.refuse = reject;
    });
    this.granted.catch(() => undefined); // a call that asks for itself does not await it
    if (Number.isFinite(turn.maxWaitMs)) {
      this.#stops.push(clock.limit(turn.maxWaitMs, () => this.refuse(tooLate)));
    }
    this.#stops.push(onAbort(turn.signal, () => this.refuse(turn.signal?.reason)));
  }

  /** Waits a while, unless the wait ends meanwhile. */
  async nap(delayMs: number): Promise<void> {
    this.askedAt = this.#clock.now();
    const awake = new AbortController();
    const nap = sleep(delayMs, awake.signal, this.#clock).catch(() => undefined);
    await Promise.race([nap, this.granted]).finally(() => awake.abort());
  }

  stop(): void {
    this.#stops.forEach((stop) => stop());
  }
}

/** First come, first served within each priority. */
export class Line {
  readonly #lines = Array.from({ length: priorities }, () => new Set<Place>());
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#lines.reduce((sum, line) => sum + line.size, 0);
  }

  /** How many calls would go before this one. */
  ahead(turn: Turn): number {
    return this.#lines.slice(0, priorityOf(turn) + 1).reduce((sum, line) => sum + line.size, 0);
  }

  join(turn: Turn): Place {
    const place = new Place(turn, this.#clock);
    this.#lines[priorityOf(turn)]?.add(place);
    return place;
  }

  leave(place: Place): void {
    if (this.#lines[priorityOf(place.turn)]?.delete(place)) {
      place.stop();
    }
  }

  first(): Place | undefined {
    for (const line of this.#lines) {
      if (line.size > 0) {
        return line.values().next().value;
      }
    }
    return undefined;
  }

  /** How many stand before this one; those that have fallen silent are gone. */
  placeOf(place: Place): number {
    const now = this.#clock.now();
    place.askedAt = now;
    let ahead = 0;
    for (const other of this.all()) {
      if (other === place) {
        break;
      }
      if (now - other.askedAt > silentMs) {
        this.leave(other);
      } else {
        ahead++;
      }
    }
    return ahead;
  }

  all(): Place[] {
    return this.#lines.flatMap((line) => [...line]);
  }

  /** No slot is granted for that long: calls that cannot wait that long fail now rather than later. */
  refuse(forecast: Forecast, maxMs: number): void {
    const opensAt = this.#clock.now() + forecast.waitMs;
    for (const place of this.all()) {
      if (forecast.waitMs > maxMs || place.givesUpAt < opensAt) {
        place.refuse(queueTimeout(forecast, place.turn)); // each caller gets an error of its own
      }
    }
  }
}

// 0 goes first.
function priorityOf({ priority, isRepeat }: Turn): number {
  return (priority === 'interactive' ? 0 : 2) + (isRepeat ? 0 : 1);
}

/** The error of a call for which the limit has no room in time. */
export function queueTimeout({ reason, waitMs }: Forecast, turn: Turn): RateLimitError {
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

  async acquire(turn: Turn): Promise<Slot> {
    const { clock } = this.#own;
    const givesUpAt = clock.now() + turn.maxWaitMs;
    const told = reportedOnce(turn);
    const own = await this.#own.acquire(told);
    try {
      const maxWaitMs = givesUpAt - clock.now();
      return bothSlots(own, await this.#project.acquire({ ...told, maxWaitMs }));
    } catch (reason) {
      own.cancel();
      throw reason;
    }
  }

  close(delayMs: number): void {
    this.#project.close(delayMs);
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
export function reportedOnce(turn: Turn): Turn {
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
export function bothSlots(one: Slot, other: Slot): Slot {
  const both = (end: keyof Slot) => () => {
    one[end]();
    other[end]();
  };
  return {
    accepted: both('accepted'),
    release: both('release'),
    abandon: both('abandon'),
    cancel: both('cancel'),
  };
}
