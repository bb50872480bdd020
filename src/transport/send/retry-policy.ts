import type { PostreelError } from '../../errors/index.js';
import { isTransient } from '../../errors/transient.js';
import type { CallContext } from '../context.js';
import { backoffMs, refusedAgainMs } from '../response/retry-after.js';

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
  if (failure.status !== 429) {
    return failure.retryAfterMs ?? backoffMs(attempt);
  }
  return Math.max(failure.retryAfterMs ?? windowMs, refusedAgainMs(attempt));
}

function mayRetry(failure: PostreelError, { route, isPartial, options }: CallContext): boolean {
  const allowsUnknown = options.retry?.unknownOutcome ?? false;
  if (failure.status === 429) {
    return !isPartial || allowsUnknown;
  }
  if (failure.code === 'NOT_CONNECTED') {
    return true;
  }
  return (route.repeatable || allowsUnknown) && isTransient(failure);
}
