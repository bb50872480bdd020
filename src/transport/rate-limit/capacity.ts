import type { BudgetLimits } from '../../contract/rate-budget-store.js';

// 1 - 0.9 is a little more than 0.1: without this a tenth of ten requests would be none.
const roundingError = 1e-9;

/** How many requests of a window are ours. */
export function capacityOf({ limit, headroom }: BudgetLimits): number {
  return Math.max(1, Math.floor(limit * (1 - headroom) + roundingError));
}
