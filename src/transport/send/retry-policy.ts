import type { PostreelError } from '../../errors/index.js';
import { isTransient } from '../../errors/transient.js';
import type { CallContext } from '../context.js';
import { backoffMs, leastDelayMs } from '../response/retry-after.js';

/**
 * The delay before a retry, or `undefined` when the call must not be sent again. What certainly
 * did not happen (429, never connected) may be retried on every route; what may have happened
 * only where the row says that a second time does no harm.
 */
export function retryDelayMs(
  failure: PostreelError,
  attempt: number,
  call: CallContext,
  windowMs: number,
): number | undefined {
  if (!mayRetry(failure, call)) {
    return undefined;
  }
  const askedMs = failure.retryAfterMs ?? (failure.status === 429 ? windowMs : undefined);
  return askedMs === undefined ? backoffMs(attempt) : Math.max(askedMs, leastDelayMs(attempt));
}

/** May the call be sent again after this failure? */
export function mayRetry(
  failure: PostreelError,
  { route, isPartial, options }: CallContext,
): boolean {
  const allowsUnknown = options.retry?.unknownOutcome ?? false;
  if (failure.status === 429) {
    return !isPartial || allowsUnknown;
  }
  if (failure.code === 'NOT_CONNECTED') {
    return true;
  }
  return (route.repeatable || allowsUnknown) && isTransient(failure);
}
