import type { Route } from '../../contract/route.js';
import { isPostreelError, type PostreelError } from '../../errors/index.js';
import { isTransient } from '../../errors/transient.js';
import { backoffMs, refusedAgainMs } from '../response/retry-after.js';

/** What decides whether a failed call may be sent again. */
export interface RepeatFacts {
  readonly route: Route;
  /** Does the service work through this request one entry after another? */
  readonly isPartial: boolean;
  /** Did the caller opt in to a call that may happen twice? */
  readonly allowsUnknown: boolean;
  /** What to wait after a 429 that names no time. */
  readonly windowMs: number;
}

/**
 * The delay before a repeat, or `undefined` when the call must not be sent again. What certainly
 * did not happen (429, never connected) may be repeated on every route; what may have happened
 * only where the row says that a second time does no harm.
 */
export function repeatDelayMs(
  failure: unknown,
  attempt: number,
  facts: RepeatFacts,
): number | undefined {
  if (!isPostreelError(failure) || !mayRepeat(failure, facts)) {
    return undefined;
  }
  if (failure.status !== 429) {
    return failure.retryAfterMs ?? backoffMs(attempt);
  }
  return Math.max(failure.retryAfterMs ?? facts.windowMs, refusedAgainMs(attempt));
}

function mayRepeat(
  failure: PostreelError,
  { route, isPartial, allowsUnknown }: RepeatFacts,
): boolean {
  if (failure.status === 429) {
    return !isPartial || allowsUnknown;
  }
  if (failure.code === 'NOT_CONNECTED') {
    return true;
  }
  return (route.repeatable || allowsUnknown) && isTransient(failure);
}
