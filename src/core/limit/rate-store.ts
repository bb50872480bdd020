/** The limit of a service and how much of it to use. */
export interface BudgetLimits {
  readonly limit: number;
  readonly windowMs: number;
  /** The share of the limit that is left to others, from 0 up to 1. */
  readonly headroom: number;
}

/** The longest time that a budget is closed, in milliseconds, even if the service asks for more. */
export const maxCloseMs = 3_600_000;

/** The answer to a request for slots: at least one slot, or how long to wait before asking again. */
export type StoreAnswer =
  | {
      /** At least one, and at most as many as were requested. */
      readonly slots: readonly string[];
    }
  | { readonly waitMs: number };

/**
 * Keeps the rate budget of a project for several processes. Each method is one atomic step. Times are in
 * milliseconds, measured by the store's clock.
 */
export interface RateBudgetStore {
  /**
   * Takes up to `count` slots (1 if left out), each for at most `leaseMs`, so that a process that dies does
   * not keep them. While the budget is closed, no slot is free.
   */
  take(group: string, limits: BudgetLimits, leaseMs: number, count?: number): Promise<StoreAnswer>;
  /** The response was read: the slot becomes free one window from now. */
  release(group: string, slot: string, limits: BudgetLimits): Promise<void>;
  /** The request was never sent: the slot is free at once. */
  cancel(group: string, slot: string): Promise<void>;
  /** The service asked to wait: no process sends anything for `delayMs`. */
  close(group: string, delayMs: number): Promise<void>;
  /**
   * Takes up to `count` of `limit` places for jobs that the service has not finished, each for at most
   * `leaseMs`. Resolves to the places that were free.
   */
  lease?(group: string, count: number, limit: number, leaseMs: number): Promise<readonly string[]>;
  /**
   * Keeps one place under each of these names, e.g. file ids, for `leaseMs` from now. Another call with the same
   * name renews the place. Releases the places in `instead`. A name gets its place even beyond the limit,
   * because its job already exists.
   */
  hold?(
    group: string,
    names: readonly string[],
    leaseMs: number,
    instead: readonly string[],
  ): Promise<void>;
  /** Releases places. */
  giveBack?(group: string, places: readonly string[]): Promise<void>;
}

// 1 - 0.9 is slightly more than 0.1: without this correction a tenth of ten requests would be zero.
const roundingError = 1e-9;

/** How many requests of a window this project may use, after the headroom. */
export function capacityOf({ limit, headroom }: BudgetLimits): number {
  return Math.max(1, Math.floor(limit * (1 - headroom) + roundingError));
}
