import type { BudgetLimits } from '../../contract/rate-budget-store.js';
import type { ThrottledEvent } from '../../contract/events.js';

/** The current state of a client's rate budget. */
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

/** The rate budget of a client. */
export interface RateLimit {
  /** The budget right now; `undefined` with `rateLimit: false` or before the first key is known. */
  state(): RateLimitState | undefined;
}

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
  /** The option that sets it. @default 'deadline' */
  readonly limitedBy?: 'maxQueueMs' | 'deadline';
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

/** A request whose answer is no longer waited for may reach the service that much later. */
export const stragglingMs = 2_000;

/** Longer than an attempt lasts by default: a sender that died may have sent at its very end. */
export const maxAttemptMs = 120_000;

/**
 * The longest pause that a call sits out when the service asks for one: a 429 that names no time,
 * and several in a row. Whether to wait longer is up to the caller.
 */
export function maxPauseMs(windowMs: number): number {
  return Math.max(2 * windowMs, 60_000);
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
