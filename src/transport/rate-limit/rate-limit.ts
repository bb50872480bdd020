import type { RateLimitState } from './local-budget.js';

/** A look at a client's rate budget. */
export interface RateLimit {
  /** The budget right now; `undefined` with `rateLimit: false` or before the first key is known. */
  state(): RateLimitState | undefined;
}
